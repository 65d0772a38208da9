"""Type checkers know what comes back."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_the_doors_have_types(monkeypatch):
    mypy = pytest.importorskip("mypy.api")
    monkeypatch.chdir(HERE.parent)
    monkeypatch.setenv("MYPYPATH", "src")
    out, errors, status = mypy.run(["tests/typed.py"])
    assert status == 0, out + errors

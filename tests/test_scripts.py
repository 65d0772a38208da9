"""Every script of the repository runs; the slow ones in their quick form."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
EXPERIMENTS = sorted((REPOSITORY / "experiments").glob("*.py"))
BENCHMARKS = [REPOSITORY / "benchmarks" / name for name in ("run.py", "kernels.py")]


@pytest.mark.parametrize("script", EXPERIMENTS + BENCHMARKS, ids=lambda p: p.stem)
def test_experiments_and_benchmarks_run(script):
    run = subprocess.run(
        [sys.executable, script, "--quick"], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 2


def test_the_demo_prints_the_truth_beside_what_was_learnt(monkeypatch, capsys, tmp_path):
    demo = runpy.run_path(str(REPOSITORY / "examples" / "demo.py"))
    small = {"DOCUMENTS": 3_000, "HELD_OUT": 300, "PICTURE": tmp_path / "results" / "demo.png"}
    for name, value in small.items():
        monkeypatch.setitem(demo["main"].__globals__, name, value)
    demo["main"]()
    out = capsys.readouterr().out
    assert "true parameters" in out
    assert "two-stage" in out
    assert max(map(len, out.splitlines())) <= 80
    assert small["PICTURE"].read_bytes().startswith(b"\x89PNG")

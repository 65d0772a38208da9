"""Every script of the repository runs; the slow ones in their quick form."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
EXPERIMENTS = sorted((REPOSITORY / "experiments").glob("*.py"))
BENCHMARKS = [
    REPOSITORY / "benchmarks" / name for name in ("run.py", "kernels.py", "text_to_report.py")
]


@pytest.mark.parametrize("script", EXPERIMENTS + BENCHMARKS, ids=lambda p: p.stem)
def test_experiments_and_benchmarks_run(script):
    run = subprocess.run(
        [sys.executable, script, "--quick"], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) >= 2


@pytest.mark.skipif(os.name != "posix", reason="it forks, kills and limits processes")
def test_hostile_input_ends_in_no_traceback_no_loss_and_no_wrong_answer():
    script = REPOSITORY / "benchmarks" / "hostile.py"
    run = subprocess.run(
        [sys.executable, script, "--quick"], capture_output=True, text=True, cwd=REPOSITORY
    )
    assert run.returncode == 0, run.stdout + run.stderr
    head, *rows = (line.rsplit(maxsplit=7) for line in run.stdout.splitlines())
    assert head[-4:] == ["traceback", "lost", "wrong", "hung"]
    assert len(rows) >= 9
    for name, tried, *ends in rows:
        assert int(tried.replace(",", "")) > 0, name
        assert ends[-4:] == ["0"] * 4, name

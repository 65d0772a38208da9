"""Every script of the repository runs; the slow ones in their quick form."""

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

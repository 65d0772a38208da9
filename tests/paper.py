"""Scripts of experiments/paper as the tests run them: in their quick form, by ``make paper``."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "experiments" / "paper"


def run(name, out, *options):
    """What a script prints, without make's lines: its quick form, or with these options."""
    command = [sys.executable, FOLDER / f"{name}.py", *options, "--out", out]
    if options in ((), ("--quick",)):
        command = quickly(f"ONLY={name}", f"OUT={out}")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environment, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout + done.stderr
    made = ("quick: ", "== ", f"{name} took ")
    return "".join(x for x in done.stdout.splitlines(True) if not x.startswith(made))


def quickly(*variables):
    """The command of README, by this interpreter: its environment is there already."""
    python = f"BIN={Path(sys.executable).parent}"
    return [
        "make",
        "--no-print-directory",
        "-o",
        ".venv/ready",
        "paper",
        "QUICK=1",
        python,
        *variables,
    ]

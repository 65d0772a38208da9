"""The scripts of experiments/paper on the spectral algorithms, in their quick form."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "experiments" / "paper"


def run(name, out):
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--quick", "--out", str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def read(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_decompositions(tmp_path):
    run("decompositions", tmp_path)
    rows = read(tmp_path / "decompositions.csv")
    worst = {(r["k"], r["noise"], r["decomposition"]): float(r["worst"]) for r in rows}
    assert max(e for (_, noise, _), e in worst.items() if float(noise) == 0) < 1e-6
    assert worst["12", "0.05", "two-svd"] > 3 * worst["12", "0.05", "simultaneous"]
    assert worst["12", "0.05", "stgd"] < 2 * worst["12", "0.05", "simultaneous"]
    apart, equal = read(tmp_path / "eta_by_diagonalisation.csv")
    assert float(equal["eigenvectors of My"]) > float(apart["eigenvectors of My"])
    assert float(apart["power update"]) < float(apart["diagonalisation"])


def test_whitening(tmp_path):
    run("whitening", tmp_path)
    found = {(r["V"], r["whitening"]): r for r in read(tmp_path / "whitening.csv")}
    for way in ("matrix-free", "randomised"):
        assert float(found["120", way]["off"]) < 1e-8
        assert float(found["120", way]["sine"]) < 0.01
    assert float(found["120", "nystrom as printed"]["off"]) > 0.5


def test_word_scale(tmp_path):
    run("word_scale", tmp_path)
    found = {float(r["C"]): float(r["pR2"]) for r in read(tmp_path / "word_scale.csv")}
    assert len(found) == 8
    assert found[100.0] > 0.3


def test_bounds(tmp_path):
    pytest.importorskip("matplotlib")
    run("bounds", tmp_path)
    rows = read(tmp_path / "bounds.csv")
    assert len(rows) == 24
    assert all(float(r["ratio"]) > 1 for r in rows)
    assert (tmp_path / "bounds.png").stat().st_size > 1_000

"""From a table to a page in one command, against scikit-learn's CountVectorizer alone.

    python benchmarks/text_to_report.py ../shared/data/hotel_reviews.parquet [text target]
    python benchmarks/text_to_report.py --quick

Each runs in a process of its own, one after the other.  The time of ``topicprism fit`` is
that of the whole process, from the start of Python to the page on disk; the time of
CountVectorizer is ``fit_transform`` alone, the texts being in memory already.  Peak memory is
the largest resident set of each process.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numba
import numpy as np
import scipy
import sklearn

RIVAL = """
import csv, sys
from time import perf_counter
from sklearn.feature_extraction.text import CountVectorizer
path, column = sys.argv[1:]
if path.endswith(".parquet"):
    import pyarrow.parquet as pq
    texts = pq.read_table(path, columns=[column])[column].to_pylist()
else:
    texts = [row[column] for row in csv.DictReader(open(path, newline=""))]
start = perf_counter()
CountVectorizer().fit_transform(texts)
print(perf_counter() - start)
"""


def run(*command: str | Path) -> tuple[str, float, float]:
    """What a process prints, its seconds and its peak memory in GB."""
    start = perf_counter()
    child = subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, text=True
    )
    out = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[:3]} ended with {child.returncode}")
    return out, perf_counter() - start, usage.ru_maxrss * 1024 / 1e9


def main(path: Path, text: str, target: str) -> None:
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (np, scipy, sklearn, numba))
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores")
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB\n")
    with tempfile.TemporaryDirectory() as folder:
        model, page = Path(folder) / "m.tprism", Path(folder) / "page.html"
        columns = ["--text", text, "--target", target]
        where = ["-o", model, "--report", page]
        out, ours, our_peak = run("-m", "topicprism", "fit", path, *columns, *where)
        size = page.stat().st_size
    out_rival, _, rival_peak = run("-c", RIVAL, path, text)
    rival = float(out_rival)
    print(out)
    print(f"{'':36}{'seconds':>9}{'peak GB':>9}")
    print(f"{'topicprism fit, text to page':36}{ours:9.2f}{our_peak:9.2f}")
    print(f"{'CountVectorizer().fit_transform':36}{rival:9.2f}{rival_peak:9.2f}")
    print(f"{'ratio of times':36}{ours / rival:9.2f}")
    print(f"\nthe page has {size / 1e6:.1f} MB")


def quick() -> None:
    """The same on a small table of reviews drawn by the package."""
    import csv

    from topicprism.datasets import make_reviews

    texts, y, _ = make_reviews(1_000, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reviews.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("text", "rating"), *zip(texts, y, strict=True)])
        main(path, "text", "rating")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--quick"]:
            quick()
        case [path]:
            main(Path(path), "text", "rating")
        case [path, text, target]:
            main(Path(path), text, target)
        case _:
            sys.exit(__doc__)

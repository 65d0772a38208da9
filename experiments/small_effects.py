"""Do intervals of effects from small tables hold what other tables of the same reviews give?

    python experiments/small_effects.py          # ten minutes on one core
    python experiments/small_effects.py --quick  # seconds, for the test suite

Samples of 300 and of 800 reviews that have none in common, each fitted by ``topicprism.fit`` with
every default.  The lowest and the highest effect of each fit are compared between any two samples:
printed are the share of pairs that differ by more than 1.96 standard errors of the difference (one
in twenty, if these cover what there is; other topics may be the lowest of another sample), the
largest difference in them, the standard deviation of the effect over samples and the mean standard
error.  Samples without intervals are counted and left out.
"""

import argparse
import warnings
from itertools import combinations

import numpy as np
from comparison.corpora import CORPORA

import topicprism
from topicprism.datasets import make_reviews

NAMES, FIRST = ("hotel_reviews", "imdb", "amazon_products"), 5_000
SIZES = {300: 10, 800: 6}  # reviews in a sample: samples
NORMAL_95 = 1.96


def effects(texts: list[str], stars: np.ndarray) -> np.ndarray:
    """The lowest effect and its standard error, the highest and its."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        topics = topicprism.fit(texts, stars, random_state=0).topics
    ends = np.argsort(topics.coef_)[[0, -1]]
    return np.column_stack([topics.coef_[ends], topics.coef_std_[ends]])


def compare(name: str, size: int, fits: list[np.ndarray]) -> None:
    for end, which in enumerate(("lowest", "highest")):
        known = np.array([fit[end] for fit in fits if np.isfinite(fit[end, 1])])
        z = [abs(a[0] - b[0]) / np.hypot(a[1], b[1]) for a, b in combinations(known, 2)]
        if len(z) == 0:
            print(f"{name:16s} {size:5d} {which:8s} {len(known):8d}")
            continue
        apart, error = known[:, 0].std(ddof=1), known[:, 1].mean()
        beyond = np.mean(np.array(z) > NORMAL_95)
        print(
            f"{name:16s} {size:5d} {which:8s} {len(known):8d} {beyond:7.0%} {max(z):8.1f} "
            f"{apart:11.2f} {error:14.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print("corpus            size effect    samples  beyond  largest  over samples  standard error")
    if args.quick:
        texts, stars, _ = make_reviews(300, random_state=0)
        parts = [slice(0, 150), slice(150, 300)]
        compare("made-up reviews", 150, [effects(texts[s], stars[s]) for s in parts])
        return
    import pandas as pd

    for name in NAMES:
        if not CORPORA[name].path.exists():
            print(f"{name} is not there: left out")
            continue
        table, start = pd.read_parquet(CORPORA[name].path), FIRST
        for size, n in SIZES.items():
            parts = [table[i : i + size] for i in range(start, start + n * size, size)]
            start += n * size
            fits = [effects(list(p["text"]), p["rating"].to_numpy()) for p in parts]
            compare(name, size, fits)


if __name__ == "__main__":
    main()

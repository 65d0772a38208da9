"""Texts with more subjects than a spectrum that ends would allow, as most text has."""

import numpy as np

N_SUBJECTS = 32
GOOD = [
    "great",
    "lovely",
    "perfect",
    "kind",
    "charming",
    "superb",
    "delightful",
    "spotless",
    "tasty",
    "warm",
]
BAD = ["awful", "dirty", "broken", "rude", "stale", "noisy", "cold", "smelly", "slow", "bleak"]


def varied_texts(n, seed=0, length=24):
    """Documents of two subjects each, in words that praise or complain; and how much they do."""
    rng = np.random.default_rng(seed)
    subjects = [[f"{a}{b}" for b in "abcd"] for a in map("subject{}".format, range(N_SUBJECTS))]
    texts, y = [], []
    for _ in range(n):
        praise = rng.random()
        tone = [rng.choice(GOOD if rng.random() < praise else BAD) for _ in range(length // 3)]
        first, second = rng.choice(N_SUBJECTS, 2, replace=False)
        pool = subjects[first] * 3 + subjects[second]
        said = [*tone, *rng.choice(pool, length - len(tone))]
        texts.append(" ".join(rng.permutation(said)))
        y.append(round(1 + 4 * praise + 0.3 * rng.standard_normal(), 2))
    return texts, y

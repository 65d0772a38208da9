"""Fewer than 2,000 documents: is the hybrid as good as the spectral answer it starts from?

    python experiments/few_documents.py            # ten minutes
    python experiments/few_documents.py --quick    # seconds, for the test suite

Random parts of a corpus to learn from, up to 2,000 other documents to test on:
``HybridSLDA()`` less ``SpectralSLDA()``, means over the parts and their standard errors.
Of poliblog, which has 773 documents, all take part; of others the training documents.
"""

import argparse
import warnings

import numpy as np
from comparison import corpora
from scipy.sparse import vstack

from topicprism import HybridSLDA, SpectralSLDA
from topicprism.evaluation import completion_log_likelihood, pr2

PARTS = {"poliblog": (618, 20), "movie_scale": (1500, 10), "hotel_reviews": (600, 10)}
N_TEST = 2_000


def scores(way, s: corpora.Split) -> tuple[float, float]:
    fitted = way(random_state=0, n_jobs=2)
    if hasattr(fitted, "cross_fit"):
        fitted.set_params(cross_fit=False)  # predictions do not depend on effects
    fitted.fit(s.X, s.y)
    words = completion_log_likelihood(fitted.model_, s.X_test, np.random.default_rng(0))
    return pr2(s.y_test, fitted.predict(s.X_test)), words


def gains(X, y, n: int, n_parts: int) -> np.ndarray:
    """pR2 and log-likelihood of the hybrid less those of the spectral answer, part by part."""
    found = []
    for part in corpora.random_parts(X, y, n, n_parts, N_TEST):
        both = [scores(way, part) for way in (SpectralSLDA, HybridSLDA)]
        found.append(np.subtract(*both[::-1]))
    return np.array(found)


def main(quick: bool) -> None:
    print("corpus          documents  parts   pR2                 log-likelihood")
    for name, (n, n_parts) in {"toy reviews": (300, 2)}.items() if quick else PARTS.items():
        split = corpora.toy() if quick else corpora.load(name)
        if split is None:
            print(f"{name:16s}not there")
            continue
        X, y = split.X, split.y
        if name == "poliblog":
            X, y = vstack([X, split.X_test], "csr"), np.concatenate([y, split.y_test])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            each = gains(X, y, n, n_parts)
        mean, error = each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(n_parts)
        print(
            f"{name:16s}{n:9,}{n_parts:7d}   {mean[0]:+.4f} ± {error[0]:.4f}    "
            f"{mean[1]:+.4f} ± {error[1]:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)

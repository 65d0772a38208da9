"""Two topics for the response or three: which predicts better, and do the documents tell?

    python experiments/response_topics.py            # five minutes
    python experiments/response_topics.py --quick    # seconds, for the test suite

Random parts of the training documents of each corpus, other ones to test on, ten topics in all.
Printed are the agreement of two halves of the documents on the third direction, by which
``SpectralSLDA`` chooses (three from 0.3 on), the pR2 with three topics for the response,
and what two gain: means over the parts, and the standard error of the gain.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np
from comparison import corpora

from topicprism import Corpus, SpectralSLDA
from topicprism.documents.subsets import KeyCounts
from topicprism.evaluation import pr2
from topicprism.learn import response_topics

SIZES = {
    "we8there": (2_400, 4_000),
    "poliblog": (400, 500),
    "movie_scale": (1_000, 3_000),
    "amazon_devices": (1_600, 3_200, 16_000),
    "amazon_products": (1_200, 3_200, 16_000),
    "hotel_reviews": (800, 3_200, 12_000),
    "imdb": (1_000, 2_000, 16_000),
}
N_TEST = 4_000
ALWAYS = {3: -1.0, 2: 2.0}  # what a cosine must be for three topics


def score(n_response: int, s: corpora.Split) -> float:
    chosen = response_topics.TEXT
    response_topics.TEXT = replace(chosen, agreement=ALWAYS[n_response])
    try:
        fitted = SpectralSLDA(10, random_state=0, n_jobs=2).fit(s.X, s.y)
    finally:
        response_topics.TEXT = chosen
    return pr2(s.y_test, fitted.predict(s.X_test))


def trials(X, y, n: int, n_parts: int) -> np.ndarray:
    """Agreement, and pR2 with three and with two topics, part by part."""
    found = []
    for part in corpora.random_parts(X, y, n, n_parts, N_TEST):
        each = [score(k, part) for k in (3, 2)]
        docs = Corpus(part.X, part.y)
        folds = KeyCounts.of(docs).cut(response_topics.TEXT.agreement_folds)
        found.append([response_topics.agreement(docs, folds), *each])
    return np.array(found)


def main(quick: bool) -> None:
    print("corpus          documents  agreement  three topics  gain of two")
    for name, sizes in {"toy reviews": (300,)}.items() if quick else SIZES.items():
        split = corpora.toy() if quick else corpora.load(name)
        if split is None:
            print(f"{name:16s}not there")
            continue
        for n in sizes:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                each = trials(split.X, split.y, n, 2 if quick else 3 if n > 10_000 else 6)
            gain = each[:, 2] - each[:, 1]
            print(
                f"{name:16s}{n:9,}  {each[:, 0].mean():9.2f}  {each[:, 1].mean():12.3f}  "
                f"{gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    main(parser.parse_args().quick)

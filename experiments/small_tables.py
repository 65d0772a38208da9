"""Small tables: what ``topicprism.fit`` makes of 500 to 3,000 documents and of single sentences.

    python experiments/small_tables.py                     # half an hour on one core
    python experiments/small_tables.py --only poliblog     # one corpus
    python experiments/small_tables.py --development       # other cuts, to choose defaults by
    python experiments/small_tables.py --quick             # seconds, for the test suite

A quarter of a corpus, 2,000 documents at most, is set aside once to test on.  Three random cuts of
each size are drawn from the others: texts as they are, with every default; tokens of movie_scale
split at spaces; counts of we8there and poliblog with their vocabulary.  Of "sentences" a document
is the last sentence of eight to twelve words of a review, with its rating.  With
``--development`` the documents to test on are others of those that are not set aside.

Columns: topics, pR2 of the default, pR2 of a ridge regression on sublinear TF-IDF of all words
(none left out, the penalty by generalised cross-validation), the first over the second, topics
that are like another one (Bhattacharyya coefficient above 0.9), the smallest topic's share of the
words of the training documents, and how topics were learnt.  Each fit is a row of
docs/results/small_tables.csv; rows that are there are left out.
"""

import argparse
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from comparison import records
from comparison.corpora import CORPORA, N_JOBS
from comparison.folder import ROOT
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import RidgeCV

import topicprism
from topicprism.datasets import make_reviews
from topicprism.evaluation import bhattacharyya, pr2

RESULTS = ROOT / "docs" / "results" / "small_tables.csv"
SIZES, N_SEEDS, FIRST_DEVELOPMENT_SEED = (500, 1_000, 3_000), 3, 100
SENTENCES, SENTENCE_SIZES = ("hotel_reviews", "imdb", "amazon_products"), (1_000, 3_000)
SENTENCE_WORDS = (8, 12)
TEST_SHARE, MAX_TEST = 0.25, 2_000
PENALTIES = np.logspace(-1, 3, 17)
ALIKE, MIN_SHARE, MIN_RATIO, MIN_PR2 = 0.9, 0.01, 0.85, -0.02  # what is asked for


@dataclass(frozen=True)
class Row:
    corpus: str
    n: int
    seed: int
    k: int
    pr2: float
    ridge: float
    alike: int
    smallest: float
    regime: str

    @property
    def ratio(self) -> float:
        return self.pr2 / self.ridge if self.ridge > 0 else np.inf

    @property
    def missed(self) -> str:
        """What was asked for and is not so."""
        wrong = {
            "pR2": self.pr2 < MIN_PR2,
            "ratio": self.pr2 < MIN_RATIO * self.ridge,
            "alike": self.alike > 0,
            "small": self.smallest < MIN_SHARE,
        }
        return " ".join(name for name, is_so in wrong.items() if is_so)


@dataclass(frozen=True)
class Table:
    """Documents, as an array of texts or as counts, and their responses."""

    docs: Any
    y: np.ndarray
    fitting: dict[str, Any]  # options of the fit
    ridge_words: dict[str, Any]  # options of the vectorizer of the ridge regression

    def take(self, rows: np.ndarray) -> tuple[Any, np.ndarray]:
        found = self.docs[rows]
        return (list(found) if isinstance(found, np.ndarray) else found), self.y[rows]


def load(corpus: str) -> Table:
    name = corpus.removesuffix(" sentences")
    path = CORPORA[name].path
    if not CORPORA[name].has_texts:
        z = np.load(path, allow_pickle=False)
        X = csr_array((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
        return Table(X, z["ratings"].astype(float), {"vocabulary": z["vocab"].tolist()}, {})
    table = pd.read_parquet(path)
    texts, y = table["text"].to_numpy(), table["rating"].to_numpy()
    if name != corpus:
        found = np.array([last_sentence(text) for text in texts], object)
        there = np.array([text is not None for text in found])
        texts, y = found[there], y[there]
    pattern = r"\S+" if name == "movie_scale" else r"(?u)\b\w+\b"
    fitting = {"stop_words": None} if name == "movie_scale" else {}
    return Table(texts, y, fitting, {"token_pattern": pattern})


def last_sentence(text: str) -> str | None:
    low, high = SENTENCE_WORDS
    fit = [s for s in re.split(r"(?<=[.!?])\s+", text) if low <= len(s.split()) <= high]
    return fit[-1] if fit else None


def toy() -> Table:
    texts, y, _ = make_reviews(800, random_state=0)
    return Table(np.array(texts, object), y, {}, {"token_pattern": r"(?u)\b\w+\b"})


def cut(n_all: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Rows to learn from and to test on; None where there are too few."""
    order = np.random.default_rng(0).permutation(n_all)
    n_test = min(MAX_TEST, int(TEST_SHARE * n_all))
    test, rest = order[:n_test], np.random.default_rng(seed).permutation(order[n_test:])
    if seed >= FIRST_DEVELOPMENT_SEED:
        test = rest[n : n + MAX_TEST]
    return (rest[:n], test) if len(rest) >= n and len(test) else None


def ridge(table: Table, known, y, new) -> np.ndarray:
    """Predictions from all words."""
    if isinstance(known, list):
        words = TfidfVectorizer(sublinear_tf=True, **table.ridge_words)
    else:
        words = TfidfTransformer(sublinear_tf=True)
    X = words.fit_transform(known)
    return RidgeCV(PENALTIES).fit(X, y).predict(words.transform(new))


def shares(fitted: Any, docs) -> np.ndarray:
    """Of all words, by topic."""
    n = np.asarray(fitted.steps[0][1].transform(docs).sum(axis=1)).ravel()
    return n @ fitted.transform(docs) / n.sum()


def regime(fitted: Any) -> str:
    if hasattr(fitted.topics, "eigenvalues_"):
        return "model"
    sampled = "steered" in fitted.topics.selection_.reasons["alpha0"]
    return "sampled" if sampled else "text"


def measure(corpus: str, table: Table, n: int, seed: int) -> Row | None:
    rows = cut(len(table.y), n, seed)
    if rows is None:
        return None
    (known, y), (new, y_new) = map(table.take, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of short documents
        fitted = topicprism.fit(known, y, n_jobs=N_JOBS, **table.fitting)
        mu = fitted.model.mu
        alike = (bhattacharyya(mu, mu) - np.eye(mu.shape[1])) > ALIKE
        return Row(
            corpus,
            n,
            seed,
            mu.shape[1],
            pr2(y_new, fitted.predict(new)),
            pr2(y_new, ridge(table, known, y, new)),
            int(alike.any(axis=1).sum()),
            float(shares(fitted, known).min()),
            regime(fitted),
        )


def show(r: Row) -> None:
    print(
        f"{r.corpus:26s}{r.n:6,d}{r.seed:6d}{r.k:4d}{r.pr2:8.3f}{r.ridge:8.3f}{r.ratio:7.2f}"
        f"{r.alike:7d}{r.smallest:10.3f}  {r.regime:8s}  {r.missed}".rstrip(),
        flush=True,
    )


def run(corpora: list[str], first: int, path: Path) -> None:
    for corpus in corpora:
        name = corpus.removesuffix(" sentences")
        if not CORPORA[name].path.exists():
            print(f"{corpus} is not there: left out")
            continue
        table, known = load(corpus), {(r.corpus, r.n, r.seed): r for r in records.read(Row, path)}
        for n in SIZES if name == corpus else SENTENCE_SIZES:
            for seed in range(first, first + N_SEEDS):
                row = known.get((corpus, n, seed))
                if row is None and (row := measure(corpus, table, n, seed)):
                    records.keep(row, path)
                if row:
                    show(row)


def main() -> None:
    corpora = [*CORPORA, *(f"{name} sentences" for name in SENTENCES)]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=corpora)
    parser.add_argument("--development", action="store_true")
    parser.add_argument("--csv", type=Path, default=RESULTS, help="where rows are kept")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print(
        f"{'corpus':26s}     n  seed   k     pR2   ridge  ratio  alike  smallest  regime    missed"
    )
    if args.quick:
        for n in (150, 400):
            row = measure("toy reviews", toy(), n, 0)
            assert row is not None
            show(row)
    else:
        first = FIRST_DEVELOPMENT_SEED if args.development else 0
        run([args.only] if args.only else corpora, first, args.csv)


if __name__ == "__main__":
    main()

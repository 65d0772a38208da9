"""Real text with a number attached: how well topics predict it, fit the words, and read.

    python experiments/real_text.py                   # two hours on two cores
    python experiments/real_text.py --only imdb       # one corpus
    python experiments/real_text.py --folds           # five folds of each; an hour
    python experiments/real_text.py --page            # tables and plots from what there is
    python experiments/real_text.py --check           # SpectralSLDA() now, beside the table
    python experiments/real_text.py --quick           # seconds, for the test suite

Each row is written to docs/results/real_text.csv when it is there, and a run leaves out
rows that are there already.  Columns: pR2 on test documents; log-likelihood per word
of the second half of each test document given the first; NPMI of each topic's ten
most probable words, in the training documents; seconds to fit.

Documents are counted over the V most frequent words that are not English stop words.
``imdb`` has its own split; of others the first 80 % of the rows, which are in random
order, are to train on (``poliblog`` is shuffled first).

Folds are another matter than that split: of ``hotel_reviews`` they are of the 20,000 rows
after those of the table, which had no part in any choice, and of the others every fifth
document is to test on, each in its turn.  Slow rivals run on small corpora only.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import RidgeCV

from topicprism import GibbsSLDA, HybridSLDA, MedLDA, Model, SpectralSLDA
from topicprism.datasets import make_reviews
from topicprism.evaluation import completion_log_likelihood, npmi, pr2
from topicprism.show.words import top_ids
from topicprism.vectorizer import FastCountVectorizer

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "docs" / "results" / "real_text.csv"
FOLDED = RESULTS.with_name("real_text_folds.csv")
PAGE = ROOT / "docs" / "real-text.md"
PLOT = ROOT / "docs" / "images" / "real_text.png"
PENALTIES = np.logspace(-1, 2, 13)
N_JOBS = 2

CORPORA = {  # name: file, V, rows at most
    "movie_scale": ("movie_scale.parquet", 5_000, None),
    "hotel_reviews": ("hotel_reviews.parquet", 5_000, 20_000),
    "imdb": ("imdb.parquet", 5_000, None),
    "amazon_products": ("amazon_products.parquet", 5_000, None),
    "amazon_devices": ("amazon_devices.parquet", 5_000, None),
    "we8there": ("we8there.npz", None, None),
    "poliblog": ("poliblog.npz", None, None),
    "imdb, V=10,000": ("imdb.parquet", 10_000, None),
    "hotel_reviews, all, V=10,000": ("hotel_reviews.parquet", 10_000, None),
}
ORDER = ["TF-IDF + ridge", "SpectralSLDA()", "joint", "two-stage", "HybridSLDA()", "HybridSLDA"]
ORDER += ["Gibbs", "MedLDA", "tomotopy SLDA", "scikit-learn LDA + ridge"]
N_FOLDS, SMALL = 5, 10_000
LARGE = ("imdb, V=10,000", "hotel_reviews, all, V=10,000")  # for what is quick only


@dataclass(frozen=True)
class Split:
    X: csr_array
    y: np.ndarray
    X_test: csr_array
    y_test: np.ndarray


@dataclass(frozen=True)
class Row:
    corpus: str
    method: str
    k: int
    pr2: float
    log_likelihood: float
    npmi: float
    seconds: float


# --- methods: each gives a Model or None, and predictions -----------------------------


def ours(kind, *args, **params) -> Callable[[Split], tuple[Model | None, np.ndarray]]:
    def fit(s: Split):
        fitted = kind(*args, random_state=0, n_jobs=N_JOBS, **params).fit(s.X, s.y)
        return fitted.model_, fitted.predict(s.X_test)

    return fit


def sklearn_lda(k: int):
    """Batch variational Bayes, ten passes (its defaults), and a ridge regression on top."""

    def fit(s: Split):
        lda = LatentDirichletAllocation(k, random_state=0, n_jobs=N_JOBS).fit(s.X)
        ridge = RidgeCV(np.logspace(-3, 3, 13)).fit(lda.transform(s.X), s.y)
        mu = (lda.components_ / lda.components_.sum(axis=1, keepdims=True)).T
        model = Model(np.full(k, 1 / k), mu, np.zeros(k), 0.0)
        return model, ridge.predict(lda.transform(s.X_test))

    return fit


def tomotopy_slda(k: int):
    """200 sweeps from its own start, two workers; 100 for new documents."""

    def fit(s: Split):
        import tomotopy

        unit = s.y.std()
        slda = tomotopy.SLDAModel(k=k, vars="l", alpha=1 / k, seed=1)
        for words, y in zip(tokens(s.X), (s.y - s.y.mean()) / unit, strict=True):
            if words:
                slda.add_doc(words, y=[float(y)])
        with warnings.catch_warnings():  # that its result depends on the workers
            warnings.simplefilter("ignore", RuntimeWarning)
            slda.train(200, workers=N_JOBS)
        mu = np.full((s.X.shape[1], k), 1e-12)
        for i in range(k):
            mu[[int(w) for w in slda.used_vocabs], i] = slda.get_topic_word_dist(i)
        new = [(d, slda.make_doc(words)) for d, words in enumerate(tokens(s.X_test)) if words]
        slda.infer([doc for _, doc in new], iterations=100, workers=N_JOBS)
        y_hat = np.full(len(s.y_test), s.y.mean())
        for d, doc in new:
            y_hat[d] += unit * slda.estimate(doc)[0]
        return Model(np.asarray(slda.alpha, float), mu / mu.sum(axis=0), np.zeros(k), 0.0), y_hat

    return fit


def tfidf_ridge(s: Split):
    tfidf = TfidfTransformer().fit(s.X)
    A, rest = tfidf.transform(s.X), tfidf.transform(s.X_test)
    cut = int(0.85 * len(s.y))
    scores = [_ridge(A[:cut], s.y[:cut], A[cut:], a) for a in PENALTIES]
    best = PENALTIES[np.argmax([pr2(s.y[cut:], y_hat) for y_hat in scores])]
    return None, _ridge(A, s.y, rest, best)


def _ridge(A, y, new, penalty):
    from sklearn.linear_model import Ridge

    return Ridge(penalty, solver="sparse_cg").fit(A, y).predict(new)


def tokens(X):
    for d in range(X.shape[0]):
        row = slice(X.indptr[d], X.indptr[d + 1])
        yield np.repeat(X.indices[row], X.data[row]).astype(str).tolist()


def methods(quick: bool, large: bool):
    """(name, k, fit); k is 0 where the method chooses it, or has none."""
    yield "TF-IDF + ridge", 0, tfidf_ridge
    yield "SpectralSLDA()", 0, ours(SpectralSLDA)
    for k in (3, 5) if quick else (3, 5, 10, 20, 50):
        yield "joint", k, ours(SpectralSLDA, k)
        yield "two-stage", k, ours(SpectralSLDA, k, method="two-stage")
    if large:
        return
    few, chain = ({"burn_in": 5, "n_kept": 5},) * 2 if quick else ({}, {"burn_in": 200})
    yield "HybridSLDA()", 0, ours(HybridSLDA, **few)
    for k in (3,) if quick else (10, 20):
        yield "HybridSLDA", k, ours(HybridSLDA, k, **few)
        yield "Gibbs", k, ours(GibbsSLDA, k, response="assignments", **chain)
        yield "MedLDA", k, ours(MedLDA, k, **chain)
        yield "scikit-learn LDA + ridge", k, sklearn_lda(k)
        if not quick:
            yield "tomotopy SLDA", k, tomotopy_slda(k)


def few_methods(s: Split):
    yield "TF-IDF + ridge", 0, tfidf_ridge
    yield "SpectralSLDA()", 0, ours(SpectralSLDA)
    yield "HybridSLDA()", 0, ours(HybridSLDA)
    if s.X.shape[0] < SMALL:
        yield "Gibbs", 10, ours(GibbsSLDA, 10, response="assignments", burn_in=200)
        yield "MedLDA", 10, ours(MedLDA, 10, burn_in=200)
        yield "tomotopy SLDA", 20, tomotopy_slda(20)
        yield "scikit-learn LDA + ridge", 20, sklearn_lda(20)


# --- corpora --------------------------------------------------------------------------


def load(name: str) -> Split | None:
    file, n_words, n_rows = CORPORA[name]
    path = DATA / file
    if not path.exists():
        return None
    if path.suffix == ".npz":
        X, y = _bags(path)
        return _cut(X, y, np.arange(len(y)) < int(0.8 * len(y)))
    table = _table(path)[:n_rows]
    train = np.arange(len(table)) < int(0.8 * len(table))
    if "split" in table:
        train = (table["split"] == "train").to_numpy()
    return _counted(table["text"].to_numpy(), table["rating"].to_numpy(), train, n_words, name)


def folds(name: str) -> Iterator[Split]:
    file, n_words, n_rows = CORPORA[name]
    path = DATA / file
    if path.suffix == ".npz":
        X, y = _bags(path)
        for i in range(N_FOLDS):
            yield _cut(X, y, np.arange(len(y)) % N_FOLDS != i)
        return
    table = _table(path)
    table = table[n_rows : 2 * n_rows] if n_rows else table
    texts, y = table["text"].to_numpy(), table["rating"].to_numpy()
    for i in range(N_FOLDS):
        yield _counted(texts, y, np.arange(len(y)) % N_FOLDS != i, n_words, name)


def _table(path: Path):
    import pandas as pd

    return pd.read_parquet(path)


def _cut(X, y, train) -> Split:
    return Split(X[train], y[train], X[~train], y[~train])


def _counted(texts, y, train, n_words, name="") -> Split:
    stop = None if name.startswith("movie") else "english"  # which it has none of
    words = FastCountVectorizer(max_features=n_words, stop_words=stop, n_jobs=N_JOBS)
    X = words.fit_transform(list(texts[train]))
    return Split(X, y[train], words.transform(list(texts[~train])), y[~train])


def _bags(path: Path) -> tuple[csr_array, np.ndarray]:
    z = np.load(path, allow_pickle=False)
    X = csr_array((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
    order = np.random.default_rng(0).permutation(X.shape[0])
    return X[order], z["ratings"].astype(float)[order]


def random_parts(X, y, n: int, n_parts: int, n_test: int) -> Iterator[Split]:
    """Some documents to train on and others to test on, drawn anew each time."""
    for seed in range(n_parts):
        order = np.random.default_rng(seed).permutation(len(y))
        a, b = order[:n], order[n : n + n_test]
        yield Split(X[a], y[a], X[b], y[b])


def toy() -> Split:
    texts, y, _ = make_reviews(800, random_state=0)
    return _counted(np.array(texts, object), y, np.arange(800) < 600, 300)


# --- the table ------------------------------------------------------------------------


def measure(corpus: str, s: Split, name: str, k: int, fit) -> Row:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of short documents
        start = perf_counter()
        model, y_hat = fit(s)
        seconds = perf_counter() - start
    likelihood = coherence = np.nan
    if model is not None:
        k = model.n_topics
        rng = np.random.default_rng(0)
        likelihood = completion_log_likelihood(model, s.X_test, rng, n_threads=N_JOBS)
        coherence = float(np.nanmean(npmi(top_ids(model, 10, by="probability"), s.X)))
    return Row(corpus, name, k, pr2(s.y_test, y_hat), likelihood, coherence, seconds)


def show(r: Row) -> None:
    print(
        f"{r.corpus:30s} {r.method:25s} {r.k:3d} {r.pr2:7.3f} {r.log_likelihood:8.3f} "
        f"{r.npmi:7.3f} {r.seconds:7.1f}",
        flush=True,
    )


def read(path: Path = RESULTS) -> list[Row]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        kinds = [f.type for f in fields(Row)]
        return [
            Row(*(kind(value) for kind, value in zip(kinds, line, strict=True)))
            for line in list(csv.reader(file))[1:]
        ]


def keep(row: Row, path: Path = RESULTS) -> None:
    path.parent.mkdir(exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        if new:
            out.writerow([f.name for f in fields(Row)])
        out.writerow([round(v, 4) if isinstance(v, float) else v for v in astuple(row)])


def run(only: str | None) -> None:
    for corpus in [only] if only else CORPORA:
        s = load(corpus)
        if s is None:
            print(f"{corpus} is not there: left out")
            continue
        done = {(r.method, r.k) for r in read() if r.corpus == corpus}
        for name, k, fit in methods(quick=False, large=corpus in LARGE):
            known = {m for m, _ in done} if k == 0 else {m for m, j in done if j == k}
            if name not in known:
                row = measure(corpus, s, name, k, fit)
                show(row)
                keep(row)


def run_folds(only: str | None) -> None:
    for corpus in [only] if only else [c for c in CORPORA if c not in LARGE]:
        if not (DATA / CORPORA[corpus][0]).exists():
            print(f"{corpus} is not there: left out")
            continue
        done = [r.method for r in read(FOLDED) if r.corpus == corpus]
        for i, s in enumerate(folds(corpus)):
            for name, k, fit in few_methods(s):
                if done.count(name) <= i:
                    row = measure(corpus, s, name, k, fit)
                    show(row)
                    keep(row, FOLDED)


# --- the page -------------------------------------------------------------------------


def page() -> None:
    """Put the tables between the marks of the page, and draw the plot beside them."""
    rows = read()
    lines = []
    for corpus in dict.fromkeys(r.corpus for r in rows):
        mine = sorted((r for r in rows if r.corpus == corpus), key=_place)
        ridge = next(r.pr2 for r in mine if r.method == "TF-IDF + ridge")
        lines += ["", f"### {corpus}", "", "| method | k | pR² | of ridge | log-lik. | NPMI | s |"]
        lines += ["| --- | --: | --: | --: | --: | --: | --: |"]
        for r in mine:
            words = ["", ""] if np.isnan(r.npmi) else [f"{r.log_likelihood:.3f}", f"{r.npmi:.3f}"]
            cells = [r.method, str(r.k or ""), f"{r.pr2:.3f}", f"{r.pr2 / ridge:.2f}", *words]
            lines.append("| " + " | ".join([*cells, f"{r.seconds:.1f}"]) + " |")
    text = _between(PAGE.read_text(), "tables", lines)
    folded = read(FOLDED)
    PAGE.write_text(_between(text, "folds", fold_table(folded) + differences(folded)))
    draw(rows)


def _between(text: str, mark: str, lines: list[str]) -> str:
    before, start, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, after = rest.partition(f"<!-- end of {mark} -->")
    return before + start + "\n".join(lines) + "\n\n" + end + after


def fold_table(rows: list[Row]) -> list[str]:
    """Means over the folds, and standard deviations of pR2 and of its share of ridge's."""
    lines = ["", "| corpus | method | k | pR² | of ridge | log-lik. | NPMI |"]
    lines += ["| --- | --- | --: | --: | --: | --: | --: |"]
    for corpus in dict.fromkeys(r.corpus for r in rows):
        mine = [r for r in rows if r.corpus == corpus]
        ridge = np.array([r.pr2 for r in mine if r.method == "TF-IDF + ridge"])
        for method in dict.fromkeys(r.method for r in mine):
            of_it = [r for r in mine if r.method == method]
            fits = np.array([r.pr2 for r in of_it])
            ks = ", ".join(str(k) for k in sorted({r.k for r in of_it}) if k)
            cells = [corpus, method, ks, f"{fits.mean():.3f} ± {fits.std():.3f}"]
            share = fits / ridge[: len(fits)]
            cells.append(f"{share.mean():.2f} ± {share.std():.2f}")
            for value in (
                np.mean([r.log_likelihood for r in of_it]),
                np.mean([r.npmi for r in of_it]),
            ):
                cells.append("" if np.isnan(value) else f"{value:.3f}")
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def differences(rows: list[Row]) -> list[str]:
    """HybridSLDA() minus SpectralSLDA(), fold by fold: means and their standard errors."""
    lines = ["", "| `HybridSLDA()` less `SpectralSLDA()` | pR² | log-lik. |", "| --- | --: | --: |"]
    for corpus in dict.fromkeys(r.corpus for r in rows):
        ours, theirs = (
            np.array(
                [(r.pr2, r.log_likelihood) for r in rows if (r.corpus, r.method) == (corpus, m)]
            )
            for m in ("HybridSLDA()", "SpectralSLDA()")
        )
        if len(ours) != len(theirs):
            continue  # not all folds are there yet
        gain = ours - theirs
        means, errors = gain.mean(axis=0), gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
        cells = [f"{m:+.3f} ± {e:.3f}" for m, e in zip(means, errors, strict=True)]
        lines.append("| " + " | ".join([corpus, *cells]) + " |")
    return lines


def _place(row: Row) -> tuple[int, int]:
    return ORDER.index(row.method), row.k


def draw(rows: list[Row]) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    corpora = [c for c in CORPORA if c not in LARGE and any(r.corpus == c for r in rows)]
    names = [name for name in ORDER[2:] if name != "HybridSLDA()"]
    figure, axes = plt.subplots(2, 4, figsize=(13, 6), layout="constrained", sharex=True)
    for ax, corpus in zip(axes.flat, corpora, strict=False):
        for i, name in enumerate(names):
            mine = sorted((r.k, r.pr2) for r in rows if (r.corpus, r.method) == (corpus, name))
            if mine:
                ks, fits = zip(*mine, strict=True)
                ax.plot(ks, fits, "o-" if i < 2 else "s--", color=f"C{i}", label=name, ms=4)
        best = next(r.pr2 for r in rows if (r.corpus, r.method) == (corpus, "TF-IDF + ridge"))
        auto = [(r.k, r.pr2) for r in rows if (r.corpus, r.method) == (corpus, "SpectralSLDA()")]
        ax.axhline(best, color="0.4", lw=1, ls=":", label="TF-IDF + ridge")
        ax.plot(*zip(*auto, strict=True), "k*", ms=11, label="SpectralSLDA()")
        ax.set(title=corpus, xscale="log", xticks=[3, 5, 10, 20, 50], ylim=(-0.05, None))
        ax.set_xticklabels([3, 5, 10, 20, 50])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("pR² on test documents")
    for ax in axes[-1]:
        ax.set_xlabel("topics")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    for ax in axes.flat[len(corpora) :]:
        ax.axis("off")
    axes.flat[-1].legend(handles, labels, loc="center", frameon=False)
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, dpi=110)


def check() -> None:
    """``SpectralSLDA()`` as it is now, beside its rows in the table."""
    rows = {(r["corpus"], r["method"]): r for r in csv.DictReader(RESULTS.open())}
    for name in CORPORA:
        s = None if name in LARGE else load(name)
        if s is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fitted = SpectralSLDA(random_state=0, n_jobs=N_JOBS).fit(s.X, s.y)
        found, then = pr2(s.y_test, fitted.predict(s.X_test)), rows[name, "SpectralSLDA()"]
        ridge = float(rows[name, "TF-IDF + ridge"]["pr2"])
        print(
            f"{name:18s} k {fitted.model_.n_topics} (table: {then['k']})  pR2 {found:.3f} "
            f"({float(then['pr2']):.3f})  of ridge {found / ridge:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--only", choices=list(CORPORA))
    args = parser.parse_args()
    if args.check:
        check()
        return
    print(f"{'corpus':30s} {'method':25s}   k     pR2  log-lik    NPMI seconds")
    if args.quick:
        for name, k, fit in methods(quick=True, large=False):
            show(measure("toy reviews", toy(), name, k, fit))
    elif args.page:
        page()
    elif args.folds:
        run_folds(args.only)
    else:
        run(args.only)


if __name__ == "__main__":
    main()

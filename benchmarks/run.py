"""Speed beside rivals, in one run on one machine, with the accuracy beside each time.

    python benchmarks/run.py timing              # the paper's timing table, all rivals
    python benchmarks/run.py growth              # our time against documents, words and topics
    python benchmarks/run.py inference           # documents per second, same topics for all
    python benchmarks/run.py disk [MILLIONS]     # streamed from disk against in memory; or
    python benchmarks/run.py disk --documents 7911684 --words 5000 10000 --topics 8
    python benchmarks/run.py --quick             # a small one of each, for the test suite

The unit of time is one product ``X @ S`` of scipy, X the corpus in float64 and S
dense with 20 columns, on one core, so that figures of two machines can be compared.
A rival is passed over (-) where, going by its time on fewer documents, it would
take longer than ``--budget`` seconds.
"""

import argparse
import importlib
import os
import platform
import subprocess
import sys
import tempfile
import tracemalloc
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.sparse import vstack

sys.path.insert(0, str(Path(__file__).parent))

from rivals import Documents, ours
from topicprism import Corpus, Model, SpectralSLDA, infer
from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents import OnDisk, Threaded
from topicprism.documents.disk import read
from topicprism.evaluation import halves, match, pr2, word_log_likelihood
from topicprism.spectral.decompose import learn

RIVALS = ["null", "tfidf_ridge", "sklearn_lda", "gensim_lda", "tomotopy_slda"]
PACKAGES = ["topicprism", "numpy", "scipy", "scikit-learn", "numba", "tomotopy", "gensim"]
PAPER = {  # its Table 3: seconds of C++ on another machine, for n = 5,000 times
    1: (47, 11, 10), 2: (92, 15, 13), 4: (167, 17, 15),
    8: (340, 28, 22), 16: (671, 45, 39), 32: (1313, 90, 81),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["timing", "growth", "inference", "disk"])
    parser.add_argument("millions", nargs="?", type=float, default=8.0)
    parser.add_argument("--documents", type=int, help="of disk, instead of MILLIONS")
    parser.add_argument("--words", type=int, nargs="+", default=[5_000], help="of disk")
    parser.add_argument("--topics", type=int, default=10, help="of disk")
    parser.add_argument("--budget", type=float, default=120.0, help="seconds for one rival's fit")
    parser.add_argument("--times", type=int, nargs="*", default=list(PAPER), metavar="N")
    parser.add_argument("--rivals", nargs="*", default=RIVALS, metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    print(machine())
    chosen = [args.what] if args.what else ["timing", "growth", "inference", "disk"]
    for what in chosen:
        print(f"\n== {what} ==")
        globals()[what](args)


def machine() -> str:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} absent")
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; "
        + ", ".join(found)
    )


# --- the paper's timing table ---------------------------------------------------------


def timing(args) -> None:
    """V=500, k=10, 100 words a document; topic error is the mean L1 over matched topics.

    Where nothing is told, not even k is.
    """
    sizes = [0.3] if args.quick else args.times
    contestants = {
        "ours, joint": ours.fit_predict,
        "ours, two-stage": ours.two_stage,
        "ours, everything chosen": ours.automatic,
    }
    for name in RIVALS[:2] if args.quick else args.rivals:
        try:
            contestants[name] = importlib.import_module(f"rivals.{name}").fit_predict
        except ImportError as missing:
            print(f"{name}: {missing}; `make bench` installs it")
    rng = np.random.default_rng(0)
    truth = draw_model(500, 10, rng)
    test = Documents(*draw_corpus(truth, 2000, 100, rng)[:2])
    oracle = pr2(test.y, infer(truth, test.X, n_threads=2) @ truth.eta)
    warm = Documents(*draw_corpus(truth, 500, 100, rng)[:2])
    ours.fit_predict(warm, test, 2)  # kernels from the cache
    rate: dict[str, float] = {}
    for times in sizes:
        n = int(5000 * times)
        train = Documents(*draw_corpus(truth, n, 100, rng)[:2])
        unit = product_time(train.X)
        print(f"\nn = {n:,}; X @ S takes {unit:.4f} s; pR2 of the true parameters {oracle:.3f}")
        print(
            f"{'':18}{'seconds':>9}{'X @ S = 1':>11}{'ours = 1':>10}{'topic error':>13}{'pR2':>8}"
        )
        base = None
        for name, fit_predict in contestants.items():
            if rate.get(name, 0) * n > args.budget:
                print(f"{name:18}{'-':>9}")
                continue
            result = fit_predict(train, test, 10)
            rate[name] = result.seconds / n
            base = base or result.seconds
            error = topic_error(result.topics, truth)
            print(
                f"{name:18}{result.seconds:9.3f}{result.seconds / unit:11.1f}"
                f"{result.seconds / base:10.1f}{error:>13}{pr2(test.y, result.y_hat):8.3f}"
            )
        print(f"memory of a fit beyond X, everything chosen: {memory_beyond(train):.0f} MB")
        if times in PAPER:
            gibbs, joint, two_stage = PAPER[times]
            print(
                f"paper's C++, another machine: Gibbs {gibbs}, joint {joint}, two-stage {two_stage}"
            )


def memory_beyond(train) -> float:
    """Peak of what is allocated while fitting, the corpus being there already."""
    tracemalloc.start()
    SpectralSLDA(n_jobs=2, random_state=0).fit(train.X, train.y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def product_time(X, repeats: int = 5) -> float:
    S, X = np.random.default_rng(0).standard_normal((X.shape[1], 20)), X.astype(float)
    return min(seconds(lambda: X @ S) for _ in range(repeats))


def seconds(run) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def topic_error(topics, truth) -> str:
    if topics is None or topics.shape != truth.mu.shape:
        return "-"
    found = Model(truth.alpha, topics, truth.eta, truth.sigma)
    return f"{np.abs(found.reordered(match(found, truth)).mu - truth.mu).sum(axis=0).mean():.4f}"


# --- growth ---------------------------------------------------------------------------


def growth(args) -> None:
    """Best of three fits each; the ratio is to the line above, in three groups."""
    scale = 0.04 if args.quick else 1
    lines = [(int(n * scale), 500, 10) for n in (20_000, 40_000, 80_000, 160_000)]
    words, topics = ((500,), (10,)) if args.quick else ((500, 2_000, 8_000), (10, 20, 50, 100))
    lines += [(int(40_000 * scale), V, 10) for V in words]
    lines += [(int(40_000 * scale), 2_000, k) for k in topics]
    print(
        f"{'documents':>10}{'words':>8}{'topics':>8}{'seconds':>10}{'ratio':>8}{'topic error':>13}"
    )
    before = None
    for i, (n, V, k) in enumerate(lines):
        before = None if i in (4, 4 + len(words)) else before  # documents, words, topics
        rng = np.random.default_rng(0)
        truth = draw_model(V, k, rng)
        X, y, _ = draw_corpus(truth, n, 100, rng)
        model = SpectralSLDA(k, noise_variance=0.1**2, n_jobs=2, random_state=0)
        if not args.quick:
            with suppress(ValueError):  # too few documents for k topics: kernels are warm by then
                model.fit(X[:1000], y[:1000])
        try:
            time = seconds(lambda m=model, X=X, y=y: m.fit(X, y))
            if time < 2 and not args.quick:
                again = [seconds(lambda m=model, X=X, y=y: m.fit(X, y)) for _ in range(2)]
                time = min(time, *again)
        except ValueError as refused:
            print(f"{n:10,}{V:8,}{k:8}  {refused}")
            continue
        ratio = f"{time / before:.2f}" if before else ""
        error = topic_error(model.components_.T, truth)
        print(f"{n:10,}{V:8,}{k:8}{time:10.3f}{ratio:>8}{error:>13}")
        before = time


# --- inference ------------------------------------------------------------------------


def inference(args) -> None:
    """The true topics for all; held-out is per word, of the half of each document not seen."""
    rng = np.random.default_rng(0)
    truth = draw_model(500, 10, rng)
    n = 300 if args.quick else 10_000
    X, _, _ = draw_corpus(truth, n, 100, rng)
    seen, unseen = halves(X, rng)
    contestants = {"ours, two threads": lambda X: infer(truth, X, n_threads=2)}
    contestants["ours, one thread"] = lambda X: infer(truth, X)
    contestants["scikit-learn LDA"] = _sklearn_transform(truth)
    learnt = {}
    try:
        name = "tomotopy, 2 workers"
        contestants[name], learnt[name] = _tomotopy_infer(truth, rng)
    except ImportError as missing:
        print(f"tomotopy: {missing}; `make bench` installs it")
    print(f"{'':22}{'documents/s':>13}{'scikit-learn = 1':>18}{'held-out':>10}")
    rows = {}
    for name, transform in contestants.items():
        transform(seen[:50])
        time = min(seconds(lambda f=transform: f(seen)) for _ in range(1 if args.quick else 3))
        held_out = word_log_likelihood(learnt.get(name, truth), unseen, transform(seen))
        rows[name] = n / time, held_out
    base = rows["scikit-learn LDA"][0]
    for name, (rate, held_out) in rows.items():
        print(f"{name:22}{rate:13,.0f}{rate / base:18.1f}{held_out:10.4f}")


def _sklearn_transform(truth):
    from sklearn.decomposition import LatentDirichletAllocation

    lda = LatentDirichletAllocation(truth.n_topics, doc_topic_prior=float(truth.alpha[0]), n_jobs=2)
    lda.set_params(max_iter=1).fit(np.ones((2, truth.n_words), int))
    lda.components_ = truth.mu.T * 1e6
    lda.exp_dirichlet_component_ = truth.mu.T.copy()
    return lda.transform


def _tomotopy_infer(truth, rng):
    """It cannot be given topics: it learns its own, and is scored by those."""
    import tomotopy

    from rivals.tomotopy_slda import tokens

    X, y, _ = draw_corpus(truth, 5000, 100, rng)
    model = tomotopy.SLDAModel(k=truth.n_topics, vars="l", alpha=float(truth.alpha[0]), seed=1)
    for words, t in zip(tokens(X), y, strict=True):
        model.add_doc(words, y=[float(t)])
    model.train(100, workers=2)
    mu = np.zeros_like(truth.mu)
    ids = [int(word) for word in model.used_vocabs]
    for i in range(truth.n_topics):
        mu[ids, i] = model.get_topic_word_dist(i)
    learnt = Model(truth.alpha, mu, truth.eta, truth.sigma)

    def transform(X):
        docs = [model.make_doc(words) for words in tokens(X)]
        h, _ = model.infer(docs, workers=2)
        return np.array(h)

    return transform, learnt


# --- from disk ------------------------------------------------------------------------


def disk(args) -> None:
    """Two threads; peak memory of a process.

    Throughput counts every look at a non-zero: how many passes a search needs depends
    on the corpus, not on where it is kept.
    """
    per_shard = 500 if args.quick else 50_000
    n = 2_000 if args.quick else args.documents or int(args.millions * 1e6)
    sizes = [min(per_shard, n - start) for start in range(0, n, per_shard)]
    for V in args.words:
        with tempfile.TemporaryDirectory() as folder:
            corpora = _drawn(_disk_truth(V, args.topics), sizes, np.random.default_rng(0))
            docs = OnDisk.write(folder, corpora, n_threads=2)
            print(f"V={V:,}, k={args.topics}, two threads:")
            rate = _rate_in_memory(docs, args.topics)
            for fraction in [1] if args.quick else [0.25, 0.5, 1]:
                _from_disk(folder, fraction, args.topics, rate)


def _rate_in_memory(docs: OnDisk, k: int) -> float:
    """Of the first million documents, or all: these need some 1.5 GB."""
    parts = [read(path) for path in docs.shards[:20]]
    X = vstack([p.counts for p in parts], format="csr")
    memory = Threaded(Corpus(X, np.concatenate([p.y for p in parts])), 2)
    learn(Threaded(memory.corpus.rows(0, 500), 2), 2, rng=np.random.default_rng(0))
    rate = X.nnz * _look_rate(memory, k)[0]
    print(
        f"in memory: {X.shape[0]:,} documents of {X.nnz / X.shape[0]:.1f} distinct words, "
        f"{rate / 1e6:.0f} M non-zeros/s and pass"
    )
    return rate


def _from_disk(folder: str, fraction: float, k: int, rate: float) -> None:
    out = subprocess.run(
        [sys.executable, __file__, "--child", folder, str(fraction), str(k)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    n, streamed, peak, error = map(float, out.stdout.split())
    print(
        f"from disk: {int(n):,} documents, {streamed / 1e6:.0f} M, {streamed / rate:.2f} "
        f"of the rate in memory, peak {peak:.2f} GB, topic error {error:.4f}"
    )


class Looks:
    """Documents that know how often they were looked at."""

    def __init__(self, docs):
        self.docs, self.n_words, self.count = docs, docs.n_words, 0

    def total(self, part, *shared):
        self.count += 1
        return self.docs.total(part, *shared)


def _look_rate(docs, k):
    """Looks per second while learning, and what was learnt."""
    looks, found = Looks(docs), []
    time = seconds(lambda: found.append(learn(looks, k, rng=np.random.default_rng(0))))
    return looks.count / time, found[0]


def _disk_truth(V, k):
    return draw_model(V, k, np.random.default_rng(1))


def _drawn(truth, sizes, rng):
    """Documents of 60 words, nearly all of them different."""
    for n in sizes:
        X, y, _ = draw_corpus(truth, n, 60, rng)
        yield Corpus(X, y)


def _child(folder: str, fraction: str, topics: str) -> None:
    """Learn from part of a folder in a process of its own, to see its peak memory."""
    docs = OnDisk.open(folder, n_threads=2)
    some = OnDisk(docs.shards[: max(int(len(docs.shards) * float(fraction)), 1)], docs.n_words, 2)
    nnz = sum(read(path).counts.nnz for path in some.shards)
    rate, found = _look_rate(some, int(topics))
    status = Path("/proc/self/status").read_text()  # ru_maxrss would be the parent's
    peak = int(status.split("VmHWM:")[1].split()[0]) / 2**20
    print(
        found.n_documents,
        nnz * rate,
        peak,
        topic_error(found.model.mu, _disk_truth(docs.n_words, int(topics))),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(*sys.argv[2:])
    else:
        main()

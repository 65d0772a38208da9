"""Documents on one GPU beside CuPy's sparse products and the CPU: times, ratios and errors.

    python benchmarks/gpu.py                       # 7,911,684 documents, V = 5,000 and 10,000
    python benchmarks/gpu.py --documents 500000 --words 5000 --mu 500000

Documents are drawn on the GPU from a model of 8 topics, with 60 distinct words on average, and lie
in pinned memory of the host.  Times on the GPU are by CUDA events after a warm-up, the median of
five; "device" time of a fit is what passes between the begin and the end of each of its passes.
"""

import argparse
import os
import sys
import traceback
from time import perf_counter

import numpy as np

import topicprism
from topicprism import Corpus, EPInference, Model
from topicprism.datasets import draw_model
from topicprism.documents import Threaded
from topicprism.documents.corpus import Rows, take_rows
from topicprism.engines.gpu import OnGPU
from topicprism.evaluation import match
from topicprism.inference import posterior
from topicprism.learn import FitRequest, learn
from topicprism.spectral.decompose import width_for
from topicprism.spectral.moments import pair_products, sketch_sums, word_sums

K, ALPHA0, NOISE = 8, 1.0, 0.3
STEP = 2**17  # documents drawn at once


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=7_911_684)
    parser.add_argument("--words", type=int, nargs="+", default=[5_000, 10_000])
    parser.add_argument("--mu", type=int, default=1_000_000, help="documents of the fit on the CPU")
    parser.add_argument("--inferred", type=int, default=20_000, help="documents, on two threads")
    args = parser.parse_args(argv)
    import cupy

    from topicprism.backends import memory, rows  # noqa: F401 - only where there is CuPy

    versions = f"topicprism {topicprism.__version__}, CuPy {cupy.__version__}"
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{versions}, CUDA {cupy.cuda.runtime.runtimeGetVersion()}, {name}")
    for V in args.words:
        corpus, model = drawn(args.documents, V)
        X = corpus.counts
        print(f"\n{len(corpus):,} documents, V={V:,}, k={K}, {X.nnz:,} entries")
        docs = []
        part(transfers, corpus, docs)
        for work in (passes, fits, streaming, inference, errors):
            part(work, docs[0] if docs else None, corpus, model, args)
        docs.clear()
        del corpus, X
        cupy.get_default_memory_pool().free_all_blocks()


def part(work, *args):
    """One part; if it fails, the others are measured all the same."""
    try:
        work(*args)
    except Exception:
        traceback.print_exc(file=sys.stdout)
    sys.stdout.flush()


def drawn(n_documents, V):
    """Documents in pinned memory, and the model they are from."""
    import cupy

    rng = np.random.default_rng(0)
    model = draw_model(V, K, rng)
    cupy.random.seed(0)
    length, rows = 60, []
    while not rows:  # until there are 60 distinct words on average
        words, counts, sizes, _ = _some(model, STEP, length)
        if float(sizes.mean()) >= 60:
            break
        length += max(1, int(60 - float(sizes.mean())))
    y, at = np.empty(n_documents), 0
    room = pinned(n_documents * length, np.int32), pinned(n_documents * length, np.uint32)
    indptr = np.zeros(n_documents + 1, np.int64)
    for start in range(0, n_documents, STEP):
        n = min(STEP, n_documents - start)
        words, counts, sizes, y_some = _some(model, n, length)
        for whole, some in zip(room, (words, counts), strict=True):
            some.get(out=whole[at : at + len(some)])
        at += len(words)
        indptr[start + 1 : start + n + 1] = sizes.get()
        y[start : start + n] = y_some.get()
    np.cumsum(indptr, out=indptr)
    return Corpus(Rows(indptr, room[0][:at], room[1][:at], (n_documents, V)), y), model


def _some(model, n, length):
    """Words, counts, sizes and responses of n documents of so many words."""
    import cupy

    alpha = np.full(K, ALPHA0 / K)
    h = cupy.random.gamma(cupy.asarray(alpha), size=(n, K)) + 1e-12
    h /= h.sum(axis=1, keepdims=True)
    up = cupy.cumsum(h, axis=1)
    u = cupy.random.random((n, length))
    z = sum((u > up[:, i : i + 1]).astype(cupy.int8) for i in range(K - 1))
    cdf = cupy.cumsum(cupy.asarray(model.mu.T), axis=1)
    cdf = (cdf / cdf[:, -1:] + cupy.arange(K)[:, None]).ravel()
    V = len(model.mu)
    at = cupy.searchsorted(cdf, (z + cupy.random.random((n, length))).ravel())
    words = cupy.sort((at % V).astype(cupy.int32).reshape(n, length), axis=1)
    new = cupy.ones((n, length), bool)
    new[:, 1:] = words[:, 1:] != words[:, :-1]
    first = cupy.flatnonzero(new.ravel())
    counts = cupy.diff(cupy.append(first, n * length)).astype(cupy.uint32)
    y = h @ cupy.asarray(model.eta) + NOISE * cupy.random.standard_normal(n)
    return words.ravel()[first], counts, new.sum(axis=1), y


def pinned(n, dtype):
    import cupy

    memory = cupy.cuda.alloc_pinned_memory(n * np.dtype(dtype).itemsize)
    return np.frombuffer(memory, dtype, n)


def timed(run, repeats=5):
    """Milliseconds on the GPU, the median after a warm-up."""
    import cupy

    run()
    times = []
    for _ in range(repeats):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    return float(np.median(times))


def claim(text, value, bound, at_least=False):
    holds = value >= bound if at_least else value <= bound
    print(f"  {text}: {value:.3g} (asked: {'>=' if at_least else '<='} {bound:g})", end="")
    print("" if holds else "  FALLS SHORT")


def transfers(corpus, docs):
    """To the GPU, into the order of keys and by word; twice, the first time with compilation."""
    import cupy

    X = corpus.counts
    size = X.indices.nbytes + X.data.nbytes
    there = cupy.empty(len(X.indices), np.int32)
    ms = timed(lambda there=there: there.set(X.indices), 2)
    rate = X.indices.nbytes / ms / 1e6
    print(f"  pinned transfer: {rate:.1f} GB/s; entries: {size / 1e9:.2f} GB")
    some = np.array(X.indices[: 2**27])
    ms = timed(lambda: topicprism.backends.memory.uploaded(some), 2)
    print(f"  from other memory, through pinned: {some.nbytes / ms / 1e6:.1f} GB/s")
    del there
    cupy.get_default_memory_pool().free_all_blocks()
    for _ in range(2):
        docs.clear()
        begin = perf_counter()
        docs.append(OnGPU.of(corpus))
        cupy.cuda.Device().synchronize()
        brought = perf_counter() - begin
    store = docs[0].corpora[0].counts.store
    begin = perf_counter()
    for block in range(-(-store.n // topicprism.backends.rows.BLOCK)):
        store.by_word(block)
    cupy.cuda.Device().synchronize()
    by_word = perf_counter() - begin
    print(f"  wall: to the GPU, checked and in key order {brought:.2f} s; by word {by_word:.3f} s")


def passes(docs, corpus, model, args):
    """Each sum over all documents, beside CuPy's product of the same width."""
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    rng, V = np.random.default_rng(0), docs.n_words
    store = docs.corpora[0].counts.store
    X = csr_matrix(
        (store.counts.astype(np.float32), store.words, store.indptr.astype(np.int32)),
        shape=(store.n, V),
    )
    for width in (32, width_for(K)):
        S = cupy.asarray(rng.standard_normal((V, width)), np.float32)
        unit = timed(lambda S=S: X @ S)
        ms = timed(lambda S=S: docs.total(pair_products, S))
        print(f"  {width} columns: X @ S of CuPy {unit:.1f} ms, pair_products {ms:.1f} ms")
        claim(f"pair_products over X @ S, {width} columns", ms / unit, 2)
        halves(docs.corpora[0].counts, S)
        B = rng.standard_normal((V, width)) / np.sqrt(V)
        ms = timed(lambda B=B: docs.total(sketch_sums, B, 0.0, 1.0), 3)
        print(f"    sketch_sums {ms:.1f} ms")
    print(f"  word_sums {timed(lambda: docs.total(word_sums), 3):.1f} ms")
    S = rng.standard_normal((V, 32)).astype(np.float32)
    same = np.array_equal(docs.total(pair_products, S), docs.total(pair_products, S))
    print(f"  the same bits twice: {same}")


def halves(rows, S):
    """The two products of one block of documents."""
    import cupy

    on, block = topicprism.backends.of(rows), rows.store.by_word(0)
    table, out = on._weights(rows, block, 30.0), cupy.zeros(S.shape)
    R = on._projected(rows, block, S, table, 2, 0)
    first = timed(lambda: on._projected(rows, block, S, table, 2, 0))
    second = timed(lambda: on._add_by_word(block, R, out))
    print(f"    of one block of documents: X @ S {first:.3f} ms, transposed {second:.3f} ms")


EVENTS = []  # (function, begin, end); from "project" to "add_triples" all is of one block


def recorded(on, name):
    """A function of the backend, with events at its begin and at its end."""
    import cupy

    run = getattr(on, name)

    def both(*args, **options):
        if name != "add_triples":
            EVENTS.append([name, cupy.cuda.Event(), cupy.cuda.Event()])
            EVENTS[-1][1].record()
        found = run(*args, **options)
        EVENTS[-1][2].record()
        return found

    return both


def on_device(run):
    """Seconds of each function on the GPU, in a run after one that warms up; and of it all."""
    import cupy

    from topicprism.backends import gpu

    names = ["lengths", "occurrences", "word_sums", "pair_products", "project", "add_triples"]
    own = {name: getattr(gpu, name) for name in names}
    run()
    for name in names:
        setattr(gpu, name, recorded(gpu, name))
    EVENTS.clear()
    begin = perf_counter()
    run()
    cupy.cuda.Device().synchronize()
    wall, times = perf_counter() - begin, {}
    for name, *events in EVENTS:
        times[name] = times.get(name, 0) + cupy.cuda.get_elapsed_time(*events) / 1e3
    for name in names:
        setattr(gpu, name, own[name])
    return times, wall


def fits(docs, corpus, model, args):
    """The told fit: device time, and in all with the transfer."""
    for asked in ({"n_topics": K, "alpha0": ALPHA0}, {"n_topics": K}, {}):
        times, wall = on_device(
            lambda asked=asked: learn(docs, FitRequest(**asked), np.random.default_rng(0))
        )
        listed = ", ".join(f"{name} {1e3 * s:.0f}" for name, s in times.items())
        print(f"  fit {asked}: wall {wall:.2f} s; on the GPU, ms: {listed}")
        claim(f"device time of the fit {asked}, s", sum(times.values()), 0.5)
    for _ in range(2):
        begin = perf_counter()
        again = OnGPU.of(corpus)
        learn(again, FitRequest(K, ALPHA0), np.random.default_rng(0))
        wall = perf_counter() - begin
    claim("wall time of transfer, by word, and the told fit, s", wall, 2)


def streaming(docs, corpus, model, args):
    """One pass over documents that do not stay."""
    S = np.random.default_rng(0).standard_normal((docs.n_words, 32)).astype(np.float32)
    streamed = OnGPU.of(corpus, max_bytes=28 * corpus.counts.nnz / 4)
    streamed.total(pair_products, S)
    begin = perf_counter()
    streamed.total(pair_products, S)
    n = len(streamed.corpora)
    print(f"  a pair_products pass streamed in {n} blocks: wall {perf_counter() - begin:.2f} s")


def inference(docs, corpus, model, args):
    """Proportions by propagation, on the GPU and on two threads."""
    import cupy

    rows = docs.corpora[0].counts
    n = min(2_000_000, rows.shape[0])
    known = Model(np.full(K, 2.0 / K), model.mu, model.eta, NOISE)
    some, few = rows.between(0, n), take_rows(rows, 0, args.inferred).on_host
    few = take_rows(few, 0, args.inferred)
    on, how = topicprism.backends.of(rows), EPInference()
    found = np.zeros((n, K)), np.zeros(n), np.zeros(n, bool)
    limits = (how.max_sweeps, how.tolerance, True)
    device = timed(lambda: on._sweep(some, known.mu, known.alpha, limits, *found), 3)
    posterior(known, some, n_threads=2)
    begin = perf_counter()
    there = posterior(known, some, n_threads=2)
    wall = perf_counter() - begin
    posterior(known, take_rows(few, 0, 500), n_threads=2)
    begin = perf_counter()
    here = posterior(known, few, n_threads=2)
    cpu = perf_counter() - begin
    rate = args.inferred / cpu
    left = float((~found[2] | (found[1] < 4)).mean())  # of which little is known, as a prior of 2
    print(f"  inference of {n:,} documents: sweeps {device:.0f} ms, in all {wall:.2f} s (wall)")
    print(f"  two threads: {rate:,.0f} documents/s; left to them by sweeps: {left:.4%}")
    apart = np.abs(there.h[: args.inferred] - here.h).sum(axis=1)
    print(f"  proportions apart: {np.quantile(apart, 0.99):.1e} (99 %), {apart.max():.1e} at most")
    claim("documents/s on the GPU over two threads, sweeps", n / device * 1e3 / rate, 50, True)
    claim("documents/s on the GPU over two threads, in all", n / wall / rate, 50, True)
    cupy.get_default_memory_pool().free_all_blocks()


def errors(docs, corpus, model, args):
    """Topics of some of the documents, by both."""
    some = corpus.rows(0, min(args.mu, len(corpus)))
    n_threads = os.cpu_count() or 1
    for asked in ({"n_topics": K, "alpha0": ALPHA0}, {}):
        begin = perf_counter()
        here = learn(Threaded(some, n_threads), FitRequest(**asked), np.random.default_rng(0)).model
        cpu = perf_counter() - begin
        there = learn(OnGPU.of(some), FitRequest(**asked), np.random.default_rng(0)).model
        print(f"  fit of {len(some):,} documents {asked} on {n_threads} threads: {cpu:.1f} s")
        claim("largest difference of mu", np.abs(here.mu - there.mu).max(), 1e-5)
        relative = np.abs(here.mu - there.mu).max() / here.mu.max()
        print(f"    of the largest probability: {relative:.1e}; eta:", end=" ")
        print(f"{np.abs(here.eta - there.eta).max():.1e}; to the truth:", end=" ")
        print(f"{np.abs(there.mu[:, match(there, model)] - model.mu).sum(axis=0).mean():.3f} (L1)")


if __name__ == "__main__":
    main()

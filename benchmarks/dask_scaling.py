"""Dask on the cores of one machine: ratios within one run, what travels, what grows, what it costs.

    python benchmarks/dask_scaling.py speed       # 1 and 2 workers beside 1 and 2 threads
    python benchmarks/dask_scaling.py transfers   # whether shards move, how often `shared` travels
    python benchmarks/dask_scaling.py passes      # bytes out and back of each pass, for one shard
    python benchmarks/dask_scaling.py memory      # of driver and scheduler, as documents grow
    python benchmarks/dask_scaling.py cost        # the cost model, checked against fits of texts
    python benchmarks/dask_scaling.py --quick     # a small one of each

Documents are drawn from the model by the workers themselves: 100 words each, of a vocabulary of
5,000, and 8 topics.  Times of `speed` are by the clock, so the machine should have nothing else to
do; those of `cost` are of the processors.
"""

import argparse
import json
import logging
import pickle
import resource
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import dask
import dask.bag as db
import numpy as np
from distributed import Client, LocalCluster

import topicprism
from topicprism import Corpus, SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents import Threaded, subsets
from topicprism.documents.corpus import joined
from topicprism.engines import tasks
from topicprism.engines.dask import OnDask
from topicprism.learn import survey

N_WORDS, N_TOPICS, LENGTH = 5_000, 8, 100
N_SHARDS = 16
TIMES_WORKERS, TIMES_THREADS, GROWTH = 1.7, 1.25, 30  # what is asked for; MB
OCTETS = 8  # of an entry of counts, or of two row pointers
CLUSTER = ("AWS m7i.8xlarge", 20, 32, 128)  # machines, processors and GiB of each
LARGEST = (10**6, 10**7, 10**8, 10**9, 10**10)


def main() -> None:
    global N_WORDS
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=list(PARTS))
    parser.add_argument("--documents", type=int, nargs="*", help="instead of the sizes of a part")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peak", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if args.quick:
        args.repeats, N_WORDS = 1, 300
    if args.peak:
        print(json.dumps(peak(*args.documents)))
        return
    for what in [args.what] if args.what else PARTS:
        part, sizes, quick = PARTS[what]
        part(args.documents or (quick if args.quick else sizes), args.repeats)


@contextmanager
def cluster(n_workers):
    with (
        LocalCluster(n_workers, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1",
                     memory_limit=0) as workers,
        Client(workers) as client,
    ):  # fmt: skip
        yield client


def simulated(seed: int, n: int) -> Corpus:
    """A shard: of the same model whatever its seed."""
    model = draw_model(N_WORDS, N_TOPICS, np.random.default_rng(0))
    X, y, _ = draw_corpus(model, n, LENGTH, np.random.default_rng([1, seed]))
    return Corpus(X, y)


def on_dask(n: int) -> OnDask:
    made = dask.delayed(simulated)
    return OnDask.of([made(i, n // N_SHARDS) for i in range(N_SHARDS)])


def told() -> SpectralSLDA:
    """All but the coefficients and their standard errors: each pass is over all documents."""
    return SpectralSLDA(N_TOPICS, alpha0=1.0, noise_variance=0.1, random_state=0)


def fit(docs) -> SpectralSLDA:
    return told().fit_documents(docs)


def seconds(docs) -> float:
    start = perf_counter()
    fit(docs)
    return perf_counter() - start


# --- speed ---------------------------------------------------------------------------------------


def speed(sizes, repeats):
    (n,) = sizes
    corpus = joined([simulated(i, n // N_SHARDS) for i in range(N_SHARDS)])
    found = {name: [] for name in ("1 thread", "1 worker", "2 threads", "2 workers")}
    with cluster(1) as one, cluster(2) as two:
        ways = {"1 thread": Threaded(corpus, 1), "2 threads": Threaded(corpus, 2)}
        for name, client in (("1 worker", one), ("2 workers", two)):
            with client.as_current():
                ways[name] = on_dask(n)
        clients = {"1 worker": one, "2 workers": two}
        for i in range(repeats + 1):  # the first compiles
            for name in found:
                with clients.get(name, two).as_current():
                    took = seconds(ways[name])
                found[name] += [took] if i else []
        del ways
    t = {name: median(times) for name, times in found.items()}
    print(f"speed: {n:,} documents; seconds, medians of {repeats}: "
          + ", ".join(f"{name} {value:.2f}" for name, value in t.items()))  # fmt: skip
    workers = t["1 worker"] / t["2 workers"]
    threads = max(t[f"{k} worker{s}"] / t[f"{k} thread{s}"] for k, s in ((1, ""), (2, "s")))
    verdict("2 workers are {:.2f} times as fast as 1", workers, workers >= TIMES_WORKERS,
            f"at least {TIMES_WORKERS}")  # fmt: skip
    verdict("workers take {:.2f} times as long as threads", threads, threads <= TIMES_THREADS,
            f"at most {TIMES_THREADS}")  # fmt: skip


def verdict(sentence, value, good, wanted):
    print(f"  {sentence.format(value)} (wanted: {wanted}): {'yes' if good else 'NO'}")


# --- what travels --------------------------------------------------------------------------------


def incoming(dask_worker):
    """Name and bytes of each result that a worker has had from another."""
    return [
        (str(key), size) for one in dask_worker.transfer_incoming_log
        for key, size in one["keys"].items()
    ]  # fmt: skip


def transfers(sizes, repeats):
    (n,) = sizes
    with cluster(2) as client:
        docs = on_dask(n)
        fit(docs)
        seen = client.run(incoming)
    of = {what: [(key, size) for log in seen.values() for key, size in log if key.startswith(what)]
          for what in ("partition-", "shared-", "sum", "")}  # fmt: skip
    for what, name in (("partition-", "shards"), ("shared-", "`shared`"), ("sum", "sums")):
        print(f"transfers: {name}: {len(of[what])}, {sum(b for _, b in of[what]) / 1e6:.1f} MB")
    verdict("{} shards moved", len(of["partition-"]), not of["partition-"], "none")
    most = max((log.count(one) for log in seen.values() for one in log
                if one[0].startswith("shared-")), default=0)  # fmt: skip
    verdict("`shared` of a pass reached a worker from another at most {} times", most, most <= 1,
            "once")  # fmt: skip


class Weighed:
    """A shard, and what each pass sends there and back, by the function that is added up."""

    def __init__(self, corpus):
        self.corpus, self.n_words, self.seen = corpus, corpus.n_words, []

    def total(self, part, *shared):
        found = self.corpus.total(part, *shared)
        sums = getattr(found, "sums", found)  # but for documents that are gathered
        named = [one.__name__ for one in (part, *shared) if hasattr(one, "__name__")]
        self.seen.append((" of ".join(named), len(pickle.dumps(shared)), len(pickle.dumps(sums))))
        return found


def weighed(n: int, estimator: SpectralSLDA) -> list[tuple[str, int, int]]:
    """Name, bytes out and bytes back of each pass of a fit, for a shard of so many documents."""
    survey.MAX_ORDERED = subsets.MAX_ORDERED = 100  # as if documents were many
    docs = Weighed(simulated(0, n))
    estimator.fit_documents(docs)
    return docs.seen


def passes(sizes, repeats):
    """The number of topics and the noise variance are looked for."""
    (n,) = sizes
    print(f"passes: {N_WORDS:,} words, nothing given; KB out, KB back of a shard")
    for name, out, back in weighed(n, SpectralSLDA(random_state=0)):
        print(f"  {name:60} {out / 1e3:10,.0f} {back / 1e3:10,.0f}")


# --- memory --------------------------------------------------------------------------------------


def peak(n: int) -> float:
    """MB of this process, in which the scheduler runs, too."""
    with cluster(2):
        fit(on_dask(n))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory(sizes, repeats):
    command = [sys.executable, __file__, "--peak", *["--quick"] * (N_WORDS < 1000), "--documents"]
    peaks = [
        median(json.loads(subprocess.check_output([*command, str(n)])) for _ in range(repeats))
        for n in sizes
    ]
    listed = (f"{n:,} documents {mb:.0f}" for n, mb in zip(sizes, peaks, strict=True))
    print(f"memory: driver and scheduler, MB at the peak: {', '.join(listed)}")
    verdict("{:.0f} MB more", peaks[-1] - peaks[0], peaks[-1] - peaks[0] < GROWTH,
            f"less than {GROWTH}")  # fmt: skip


# --- cost ----------------------------------------------------------------------------------------


def write_texts(folder: Path, n: int) -> int:
    """Files of texts and of responses, a document in each line; their bytes."""
    folder.mkdir()
    for i in range(N_SHARDS):
        corpus = simulated(i, n // N_SHARDS)
        X = corpus.counts
        rows = (np.repeat(X.indices[a:b], X.data[a:b].astype(int)) for a, b in
                zip(X.indptr[:-1], X.indptr[1:], strict=True))  # fmt: skip
        lines = (" ".join(f"word{v:04d}" for v in row.tolist()) for row in rows)
        (folder / f"{i:03d}.text").write_text("".join(f"{line}\n" for line in lines))
        (folder / f"{i:03d}.y").write_text("".join(f"{v}\n" for v in corpus.y.tolist()))
    return sum(path.stat().st_size for path in folder.iterdir())


def measured(n: int) -> dict:
    """One fit of texts in files by two workers."""
    count = {"tasks": 0}
    submit = tasks.submit

    def counting(*args, **options):
        count["tasks"] += 1
        return submit(*args, **options)

    with tempfile.TemporaryDirectory() as folder, cluster(2) as client:
        n_bytes = write_texts(Path(folder) / "texts", n)
        texts = db.read_text(f"{folder}/texts/*.text")
        y = db.read_text(f"{folder}/texts/*.y").map(float)
        options = {"n_topics": N_TOPICS, "alpha0": 1.0, "noise_variance": 0.1, "min_df": 5,
                   "estimator": SpectralSLDA, "max_df": 1.0, "max_features": N_WORDS}  # fmt: skip
        topicprism.fit(texts, y, **options)  # compiles
        before = sum(client.run(process_time).values())
        patched = [module for module in sys.modules.values()
                   if getattr(module, "submit", None) is submit]  # fmt: skip
        for module in patched:
            module.submit = counting
        fitted = topicprism.fit(texts, y, **options)
        for module in patched:
            module.submit = submit
        core_seconds = sum(client.run(process_time).values()) - before
    return {"n": n, "bytes": n_bytes, "core seconds": core_seconds, "tasks": count["tasks"],
            "words": fitted.info["n_words"]}  # fmt: skip


def modelled(n: int, shards: int, one: dict) -> dict:
    """A line through what one fit has taken; tasks and sums are counted, not measured.

    Bytes sent are those of the passes, for each shard: what comes back goes on to be added up, and
    `shared` reaches each of as many workers as a quarter of the shards.
    """
    per_pass = shards + tree(shards) + 1
    # terms, shards, their sizes and those aside; then the passes of a fit of the model
    n_tasks = 6 * shards + 2 * tree(shards) + 1 + len(one["passes"]) * per_pass
    out, back = (sum(a_pass[i] for a_pass in one["passes"]) for i in (1, 2))
    scale = n / one["n"]
    return {"n": n, "bytes": one["bytes"] * scale, "core seconds": one["core seconds"] * scale,
            "tasks": n_tasks, "sent": shards * back + shards / 4 * out}  # fmt: skip


def tree(n: int) -> int:
    """Tasks that add up so many sums."""
    total = 0
    while n > 1:
        n = -(-n // tasks.AT_ONCE)
        total += n
    return total


def cost(sizes, repeats):
    seen = [measured(n) for n in sizes]
    one = seen[-1] | {"passes": weighed(min(sizes), told())}
    print(f"cost: fits of texts by two workers, {one['words']:,} words, {N_SHARDS} shards; the "
          f"model is a line through the last")  # fmt: skip
    for found in seen:
        line = modelled(found["n"], N_SHARDS, one)
        print(f"  {found['n']:>12,} documents: "
              + ", ".join(f"{what} {found[what]:,.4g} ({line[what] / found[what]:.2f} by the model)"
                          for what in ("bytes", "core seconds", "tasks")))  # fmt: skip
    print("  documents | shards | bytes read | core seconds | tasks | bytes sent")
    for n in LARGEST:
        shards = max(n // 100_000, 4)
        line = modelled(n, shards, one)
        print(f"  | {n:.0e} | {shards:,} | {line['bytes']:.2g} | {line['core seconds']:.2g} | "
              f"{line['tasks']:,} | {line['sent']:.2g} |")  # fmt: skip
    name, machines, cores, gib = CLUSTER
    billion = modelled(10**9, 10_000, one)
    hours = billion["core seconds"] / (machines * cores) / 3600
    kept = 10**9 * (LENGTH * OCTETS + 2 * OCTETS) / 2**30
    print(f"  1e9 documents on {machines} of {name} ({cores} processors, {gib} GiB): {hours:.2f} "
          f"hours of all processors, {kept:,.0f} of {machines * gib:,} GiB for counts")  # fmt: skip


PARTS = {
    "speed": (speed, [1_000_000], [4_000]),
    "transfers": (transfers, [200_000], [4_000]),
    "passes": (passes, [20_000], [2_000]),
    "memory": (memory, [100_000, 800_000], [2_000]),
    "cost": (cost, [50_000, 100_000, 200_000], [2_000]),
}

if __name__ == "__main__":
    main()

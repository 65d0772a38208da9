"""Fits of documents on Spark with one core and with two, beside as many threads in memory.

    python benchmarks/spark_scaling.py [DOCUMENTS]    # 100,000; on a quiet machine of two cores

Documents are drawn by the executors, of 60 words out of 5,000 and 8 topics.  Each fit is of
shards that are there already, and is made three times, in turn; the least time is printed.
"""

import os
import pickle
import sys
import warnings
from time import perf_counter

import numpy as np

from topicprism import Corpus, SpectralSLDA
from topicprism.datasets import draw_corpus, draw_model
from topicprism.documents import Threaded
from topicprism.documents.corpus import alike, joined

EACH, N_WORDS, N_TOPICS, TIMES = 10_000, 5_000, 8, 3
MASTERS = ("local[1]", "local[2]")


def drawn(number: int) -> Corpus:
    """Documents of a model that is the same for all numbers."""
    model = draw_model(N_WORDS, N_TOPICS, np.random.default_rng(0))
    X, y, _ = draw_corpus(model, EACH, 60, np.random.default_rng(1 + number))
    return alike(Corpus(X, y))


def rows(batches):
    import pyarrow

    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield pyarrow.RecordBatch.from_pydict({"value": [pickle.dumps(drawn(number))]})


def seconds(docs) -> float:
    start = perf_counter()
    SpectralSLDA(N_TOPICS, random_state=0).fit_documents(docs)
    return perf_counter() - start


def on_spark(master: str, n: int) -> tuple[float, float]:
    """Seconds to make shards, and the least of a fit."""
    from pyspark.sql import SparkSession

    from topicprism.engines.spark import OnSpark

    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "ERROR").getOrCreate()
    corpora = spark.range(0, n, 1, n).mapInArrow(rows, "value binary")
    start = perf_counter()
    docs = OnSpark.of(corpora)
    made = perf_counter() - start
    best = min(seconds(docs) for _ in range(TIMES))
    spark.stop()
    return made, best


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    n = max(1, int(sys.argv[1] if len(sys.argv) > 1 else 100_000) // EACH)
    whole = joined(map(drawn, range(n)))
    found = {}
    for n_threads, master in enumerate(MASTERS, 1):
        memory = min(seconds(Threaded(whole, n_threads)) for _ in range(TIMES))
        found[master] = memory, *on_spark(master, n)
    print(f"{n * EACH:,} documents, {N_WORDS:,} words, {N_TOPICS} topics; seconds")
    print("          threads    Spark  Spark/threads  shards made in")
    for master, (memory, made, best) in found.items():
        print(f"{master}  {memory:7.2f}  {best:7.2f}  {best / memory:13.2f}  {made:14.1f}")
    (one, _, spark_one), (two, _, spark_two) = found.values()
    print(f"two against one: threads {one / two:.2f}, Spark {spark_one / spark_two:.2f}")


if __name__ == "__main__":
    main()

"""Fits texts by sessions of Spark and prints what each has found, in a process of its own.

``python tests/on_spark.py 'local[1]' 'local[3]'`` or ``python tests/on_spark.py connect``: the
second starts a server of Spark Connect with two cores and is its client.
"""

import hashlib
import os
import sys
import warnings

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
warnings.simplefilter("ignore")

from pyspark.sql import SparkSession  # noqa: E402
from varied_texts import varied_texts  # noqa: E402

import topicprism  # noqa: E402
from topicprism import SpectralSLDA  # noqa: E402
from topicprism.documents import subsets  # noqa: E402
from topicprism.engines import spark as engine  # noqa: E402
from topicprism.engines.spark import OnSpark  # noqa: E402
from topicprism.learn import survey  # noqa: E402

OPTIONS = {"n_topics": 3, "estimator": SpectralSLDA, "random_state": 0}


def session(master):
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if master == "connect" else builder.master(master)
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
    local = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for name, value in (quiet | local).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def frame_of(spark, n=400):
    return spark.createDataFrame(
        list(zip(*varied_texts(n), strict=True)), "review string, stars double"
    )


def as_if_many():
    """As if documents were too many to be put in order, in 12 shards or so."""
    survey.MAX_ORDERED = subsets.MAX_ORDERED = 100
    engine.ENTRIES = 60


def digest(pipeline):
    facts = pipeline.model.mu, pipeline.model.eta, pipeline.topics.coef_
    found = b"".join([*(array.tobytes() for array in facts), " ".join(pipeline.words).encode()])
    return hashlib.blake2b(found, digest_size=8).hexdigest()


if __name__ == "__main__":
    as_if_many()
    for master in sys.argv[1:]:
        spark = session(master)
        frame = frame_of(spark)
        found = topicprism.fit(frame, text="review", target="stars", **OPTIONS)
        print(master, digest(found), OnSpark.predict(found, frame, text="review").count())
        spark.stop()

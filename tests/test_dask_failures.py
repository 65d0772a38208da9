"""What may go wrong on Dask's workers: real processes that end, are too small, or come late."""

import sys
import threading
import time
from functools import partial

import numpy as np
import pytest
from conftest import dask_cluster, end_once
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from varied_texts import varied_texts

import topicprism
from topicprism import Corpus, SpectralSLDA
from topicprism.datasets import make_slda

pytest.importorskip("distributed")
import dask
import dask.bag as db

from topicprism.engines import tasks
from topicprism.engines.dask import OnDask
from topicprism.pipeline import collections

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Dask's, as workers come and go
    pytest.mark.usefixtures("limit"),
]


@pytest.fixture(scope="module")
def corpus():
    X, y, _ = make_slda(1200, n_words=60, n_topics=3, doc_length=50, random_state=0)
    return Corpus(X, y)


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr("topicprism.learn.survey.MAX_ORDERED", 100)
    monkeypatch.setattr("topicprism.documents.subsets.MAX_ORDERED", 100)


def on_dask(corpus, n):
    return OnDask.of([dask.delayed(shard) for shard in corpus.shards(n)])


def fitted(docs):
    told = SpectralSLDA(3, alpha0=1.0, noise_variance=0.01, random_state=0)
    return told.fit_documents(docs).model_


# --- how many workers, and when they come ---------------------------------------------------


def third(c, path):
    """Of the words, once a file is there."""
    while not path.exists():
        time.sleep(0.05)
    return c.counts.data.sum(dtype=float) / 3


def test_any_number_of_workers_gives_the_same_bits_also_one_that_joins(corpus, many, tmp_path):
    found, sums = [], []
    with dask_cluster(1) as client:
        for n in (1, 2, 3):
            client.cluster.scale(n)
            client.wait_for_workers(n, timeout=60)
            docs = on_dask(corpus, 9)
            found += [fitted(docs), fitted(docs)]
            (tmp_path / "go").touch()
            sums.append(docs.total(third, tmp_path / "go"))
        client.cluster.scale(1)
        docs = on_dask(corpus, 9)
        (tmp_path / "go").unlink()

        def join():
            client.cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
            (tmp_path / "go").touch()

        joining = threading.Thread(target=join)
        joining.start()
        sums.append(docs.total(third, tmp_path / "go"))  # begins with one worker
        joining.join()
    for other in found[1:]:
        assert_array_equal(other.mu, found[0].mu)
        assert_array_equal(other.eta, found[0].eta)
    assert set(sums) == {sums[0]}


# --- a worker that ends in a fit --------------------------------------------------------------


def ending(function, path, *args):
    """The worker ends that is the first to come here."""
    end_once(path)
    return function(*args)


def ended_in_counts(monkeypatch, path):
    monkeypatch.setattr(collections, "separated", partial(ending, collections.separated, path))


def ended_in_moments(monkeypatch, path):
    total, passes = OnDask.total, []

    def ending_total(self, part, *shared):
        passes.append(part)
        return total(self, partial(ending, part, path) if len(passes) == 4 else part, *shared)

    monkeypatch.setattr(OnDask, "total", ending_total)


@pytest.mark.parametrize("end", [ended_in_counts, ended_in_moments])
def test_a_worker_that_ends_in_a_fit_of_texts_changes_no_bit(
    client, many, monkeypatch, tmp_path, end
):
    texts, y = (db.from_sequence(part, npartitions=6) for part in varied_texts(400))
    end(monkeypatch, tmp_path / "ended")
    fits = []
    for _ in range(2):  # the second time no worker ends
        fits.append(topicprism.fit(texts, y, n_topics=3, estimator=SpectralSLDA))
        assert (tmp_path / "ended").exists()
        client.wait_for_workers(2, timeout=90)
    assert_array_equal(fits[0].model.mu, fits[1].model.mu)
    assert_array_equal(fits[0].model.eta, fits[1].model.eta)
    assert fits[0].words.tolist() == fits[1].words.tolist()


# --- too little memory -----------------------------------------------------------------------


def test_shards_that_do_not_fit_wait_on_disk(many, tmp_path):
    """Of 8 MB in all, with room for 3: workers weigh shards by ``__sizeof__``.

    What the process itself takes is not looked at: Python alone takes more.
    """
    process = {
        f"distributed.worker.memory.{name}": False for name in ("spill", "pause", "terminate")
    }
    X, y, _ = make_slda(30_000, n_words=60, n_topics=3, doc_length=50, random_state=0)
    corpus = Corpus(X, y)
    folder = {"local_directory": tmp_path, "config": process}
    with dask_cluster(2, memory_limit=1_500_000, **folder) as client:
        docs = on_dask(corpus, 12)
        in_all = sum(client.gather([client.submit(sys.getsizeof, one) for one in docs.shards]))
        assert in_all > 2 * sum(w["memory_limit"] for w in workers(client).values())
        for _ in range(2):
            assert_allclose(docs.total(words), words(corpus))
        found = fitted(docs)
        spilled = client.run(lambda dask_worker: dask_worker.data.spilled_total.disk)
        assert sum(spilled.values()) > in_all / 4
    plain = fitted(corpus)
    assert_allclose(found.mu, plain.mu, atol=1e-10)
    assert_allclose(found.eta, plain.eta, atol=1e-10)


def words(c):
    return c.counts.data.sum(dtype=float)


def workers(client):
    return client.scheduler_info(n_workers=-1)["workers"]


# --- what is not as it should be ---------------------------------------------------------------


def test_partitions_without_a_document(client):
    empty = db.from_sequence([""] * 4, npartitions=2)
    y = db.from_sequence([1.0, 2.0, 3.0, 4.0], npartitions=2)
    with pytest.raises(ValueError, match="none of 4 documents has"):
        topicprism.fit(empty, y, estimator=SpectralSLDA)
    texts, stars = varied_texts(200)
    some = db.from_sequence([*texts[:100], *[" "] * 50, *texts[100:]], npartitions=5)
    both = topicprism.fit(
        some,
        db.from_sequence([*stars[:100], *[1.0] * 50, *stars[100:]], npartitions=5),
        n_topics=2,
        estimator=SpectralSLDA,
    )
    plain = topicprism.fit(texts, stars, n_topics=2, estimator=SpectralSLDA)
    assert_allclose(both.model.mu, plain.model.mu, atol=1e-10)
    assert both.info["fingerprint"] == plain.info["fingerprint"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda y: [float("nan"), *y[1:]], r"partition 1: .*NaN.*document 0"),
        (lambda y: [1.0] * len(y), r"y is 1 for all 600 documents"),
        (lambda y: y[:-1], r"y has shape \(299,\), but there are 300 documents"),
    ],
)
def test_responses_of_shards(client, corpus, change, sentence):
    shards = [
        dask.delayed(make_shard)(corpus.counts[:300].copy(), np.array(y))
        for y in (change([1.0] * 300) if "for all" in sentence else corpus.y[:300].tolist(),
                  change(corpus.y[:300].tolist()))
    ]  # fmt: skip
    with pytest.raises(ValueError, match=sentence):
        SpectralSLDA(3).fit_documents(OnDask.of(shards))


def make_shard(counts, y):
    return Corpus(csr_array(counts), y)


def test_partitions_of_different_lengths(client):
    texts, y = varied_texts(60)
    with pytest.raises(ValueError, match=r"partition 1: got 30 texts and 20 responses"):
        topicprism.fit(
            db.from_delayed([dask.delayed(texts[:30]), dask.delayed(texts[30:])]),
            db.from_delayed([dask.delayed(y[:30]), dask.delayed(y[:20])]),
        )


def unreadable(texts):
    raise KeyError("no such column")


def test_a_collection_that_cannot_be_computed_says_where(client):
    texts, y = varied_texts(60)
    bag = db.from_sequence(texts, npartitions=2).map_partitions(unreadable)
    with pytest.raises(ValueError, match=r"cannot be computed: .*unreadable.* failed \(KeyError"):
        topicprism.fit(bag, db.from_sequence(y, npartitions=2))


def test_a_worker_warns_of_nothing_in_a_pipeline_of_many_threads(client):
    """Workers are daemons, in which joblib counts no processors without a warning."""
    texts, y = varied_texts(200)
    pipeline = topicprism.fit(texts, y, n_topics=2, n_jobs=-1, estimator=SpectralSLDA)
    bag = db.from_sequence(texts, npartitions=2)
    with_errors = pipeline.predict(bag).map_partitions(list)
    client.run(raise_warnings)
    assert_array_equal(with_errors.compute(), pipeline.predict(texts))
    topicprism.fit(bag, db.from_sequence(y, npartitions=2), n_topics=2, estimator=SpectralSLDA)
    client.run(raise_warnings, "default")


def raise_warnings(how="error"):
    import warnings

    warnings.simplefilter(how, UserWarning)


def test_a_tally_that_is_made_twice_counts_once(client, tmp_path):
    """The first worker ends when the terms are there, before the sum is."""
    texts, _ = varied_texts(200)
    v = topicprism.vectorizer.FastCountVectorizer()
    parts = [client.submit(v.tally, texts[:100]), client.submit(v.tally, texts[100:])]
    first = client.submit(sum_once_dead, parts, tmp_path / "dead", retries=3)
    again = client.submit(sum_once_dead, parts, tmp_path / "dead", pure=False)
    whole = v.tally(texts).to_dict()
    assert first.result().to_dict() == again.result().to_dict() == whole
    client.wait_for_workers(2, timeout=90)


def sum_once_dead(tallies, path):
    found = tallies[0] + tallies[1]
    end_once(path)
    return found


# --- no Dask --------------------------------------------------------------------------------


def test_without_dask_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "topicprism.engines.tasks")
    with pytest.raises(ImportError, match=r"run: pip install 'topicprism\[dask\]'"):
        import topicprism.engines.tasks  # noqa: F401
    assert tasks.MAX_SECONDS_WITHOUT_WORKERS > 0

"""Documents on Dask's workers: two processes on this machine."""

import os
import time
import warnings
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import pytest
from conftest import end_once
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from varied_texts import varied_texts

import topicprism
from topicprism import Corpus, GibbsSLDA, SpectralLDA, SpectralSLDA
from topicprism.datasets import make_slda
from topicprism.documents import OnDisk
from topicprism.spectral.moments import word_sums

pytest.importorskip("distributed")
import dask
import dask.array as da
import dask.bag as db

from topicprism.engines import tasks as tasks_of
from topicprism.engines.dask import MOST_BYTES, OnDask, runs
from topicprism.engines.tasks import check_workers
from topicprism.kernels.blas import one_blas_thread
from topicprism.pipeline import collections
from topicprism.pipeline.drawing import Drawn
from topicprism.pipeline.inputs import Batch
from topicprism.pipeline.streaming import Texts

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Dask's, as workers come and go
    pytest.mark.usefixtures("limit"),
]


@pytest.fixture(scope="module")
def corpus():
    X, y, _ = make_slda(1200, n_words=60, n_topics=3, doc_length=50, random_state=0)
    return Corpus(X, y)


def on_dask(corpus, n):
    return OnDask.of([dask.delayed(shard) for shard in corpus.shards(n)])


def fitted(docs):
    return SpectralSLDA(3, alpha0=1.0, noise_variance=0.01, random_state=0).fit_documents(docs)


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr("topicprism.learn.survey.MAX_ORDERED", 100)
    monkeypatch.setattr("topicprism.documents.subsets.MAX_ORDERED", 100)


# --- the same model -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 11])
def test_the_model_is_that_of_documents_in_memory(client, corpus, many, n):
    docs, plain = on_dask(corpus, n), fitted(corpus).model_
    one, other = fitted(docs).model_, fitted(docs).model_
    assert_allclose(one.mu, plain.mu, atol=1e-10)
    assert_allclose(one.eta, plain.eta, atol=1e-10)
    assert_array_equal(one.mu, other.mu)
    assert_array_equal(one.eta, other.eta)


def test_an_executor_of_dasks_reads_files(client, corpus, tmp_path):
    docs = OnDisk.write(tmp_path, corpus.shards(7))
    with client.get_executor() as pool:
        found = OnDisk.open(tmp_path, executor=pool, n_tasks=3)
        assert found.total(word_sums).n == docs.total(word_sums).n == 1200
        tasks = OnDisk.open(tmp_path, n_tasks=3)
        assert_array_equal(found.total(word_sums).x, tasks.total(word_sums).x)


def texts_of(n, columns):
    frame = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    texts, y = varied_texts(n)
    table = pandas.DataFrame({"review": texts, "stars": y})
    for row, column, value in columns:
        if isinstance(value, str) or column == "review":
            table[column] = table[column].astype(object)
        table.loc[row, column] = value
    return table, frame.from_pandas(table, npartitions=5)


def test_a_frame_of_texts(client):
    table, ddf = texts_of(600, [(3, "review", None), (7, "stars", np.nan), (590, "review", "  ")])
    options = {"n_topics": 3, "estimator": SpectralSLDA, "random_state": 0}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = topicprism.fit(ddf["review"], ddf["stars"], **options)
    assert "3 of 600 documents are left out" in " ".join(str(w.message) for w in seen)
    plain = topicprism.fit(table["review"], table["stars"], **options)
    assert found.words.tolist() == plain.words.tolist()
    assert_allclose(found.model.mu, plain.model.mu, atol=1e-10)
    assert_allclose(found.topics.coef_, plain.topics.coef_, atol=1e-10)
    for name in ("n_documents", "n_left_out", "fingerprint", "too_common", "log"):
        assert found.info[name] == plain.info[name], name
    assert found.info["response"] == pytest.approx(plain.info["response"])  # to the last digits
    some = table["review"].iloc[10:20].tolist()
    assert_allclose(found.predict(some), plain.predict(some), atol=1e-9)


def test_a_bag_of_texts_and_an_array_of_counts(client, tmp_path):
    texts, y = varied_texts(400)
    options = {"n_topics": 3, "estimator": SpectralSLDA, "random_state": 0}
    plain = topicprism.fit(texts, y, **options)
    found = topicprism.fit(
        db.from_sequence(texts, npartitions=3), db.from_sequence(y, npartitions=3), **options
    )
    assert_allclose(found.model.mu, plain.model.mu, atol=1e-10)
    found.save(tmp_path / "found.tprism")  # nothing of Dask in it
    assert_array_equal(
        topicprism.load(tmp_path / "found.tprism").predict(texts[:5]), found.predict(texts[:5])
    )
    X = csr_array(plain.steps[0][1].transform(texts))
    blocks = da.from_array(X.toarray(), chunks=(150, -1)).map_blocks(csr_array)
    counts = topicprism.fit(blocks, da.from_array(np.array(y), chunks=150), **options)
    assert_allclose(counts.model.mu, plain.model.mu, atol=1e-10)


def test_predictions_of_a_collection_are_one(client):
    table, ddf = texts_of(300, [])
    pipeline = topicprism.fit(table["review"], table["stars"], n_topics=3, estimator=SpectralSLDA)
    texts, lazy = table["review"].tolist(), pipeline.predict(ddf["review"])
    assert hasattr(lazy, "__dask_graph__")
    found = ddf.assign(expected=lazy).compute()
    assert_array_equal(found["expected"], pipeline.predict(texts))
    assert found.index.equals(table.index)
    both = pipeline.predict(ddf["review"], return_std=True).compute()
    assert_array_equal(both.to_numpy().T, pipeline.predict(texts, return_std=True))
    h = pipeline.transform(ddf["review"]).compute()
    assert_array_equal(h.to_numpy(), pipeline.transform(texts))
    bag = pipeline.predict(db.from_sequence(texts, npartitions=3)).compute()
    assert_array_equal(bag, pipeline.predict(texts))
    X = pipeline.steps[0][1].transform(texts)
    counts = topicprism.fit(X, table["stars"], n_topics=3, estimator=SpectralSLDA)
    blocks = da.from_array(X.toarray(), chunks=(100, -1)).map_blocks(csr_array)
    assert_array_equal(counts.predict(blocks).compute(), counts.predict(X))
    assert_array_equal(counts.transform(blocks).compute(), counts.transform(X))


def test_words_alone(client):
    table, ddf = texts_of(600, [(3, "review", None)])
    options = {"n_topics": 3, "estimator": SpectralLDA, "random_state": 0}
    plain = topicprism.fit(table["review"], **options)
    for texts, named in ((ddf["review"], {}), (ddf, {"text": "review"})):
        found = topicprism.fit(texts, **named, **options)
        assert_allclose(found.model.mu, plain.model.mu, atol=1e-10)
        for name in ("n_documents", "n_left_out", "fingerprint"):
            assert found.info[name] == plain.info[name], name
        assert "response" not in found.info


def test_a_frame_by_the_names_of_its_columns(client):
    table, ddf = texts_of(300, [])
    options = {"n_topics": 3, "estimator": SpectralSLDA, "random_state": 0}
    found = topicprism.fit(ddf, text="review", target="stars", **options)
    plain = topicprism.fit(table, text="review", target="stars", **options)
    assert_allclose(found.model.mu, plain.model.mu, atol=1e-10)
    assert (found.info["text"], found.info["target"]) == ("review", "stars")


@pytest.mark.parametrize("log", [False, True])
def test_the_score_of_a_collection_is_that_of_its_documents(client, log):
    table, ddf = texts_of(300, [])
    table["stars"] += 2.0  # so that logarithms are ordinary
    ddf["stars"] = ddf["stars"] + 2.0
    options = {"n_topics": 3, "estimator": SpectralSLDA, "random_state": 0, "log": log}
    pipeline = topicprism.fit(table, text="review", target="stars", **options)
    texts, y = table["review"].tolist(), table["stars"].tolist()
    expected = pipeline.score(texts, y)
    assert pipeline.score(ddf["review"], ddf["stars"]) == pytest.approx(expected, abs=1e-12)
    bags = [db.from_sequence(some, npartitions=3) for some in (texts, y)]
    assert pipeline.score(*bags) == pytest.approx(expected, abs=1e-12)
    if log:
        return
    X = pipeline[0].transform(texts)
    counts = topicprism.fit(X, y, n_topics=3, estimator=SpectralSLDA)
    blocks = da.from_array(X.toarray(), chunks=(100, -1)).map_blocks(csr_array)
    of_counts = counts.score(blocks, da.from_array(np.array(y), chunks=100))
    assert of_counts == pytest.approx(counts.score(X, y), abs=1e-12)
    with pytest.raises(ValueError, match="sample_weight was given for the score of a Dask"):
        pipeline.score(*bags, sample_weight=y)
    with pytest.raises(ValueError, match="texts in 3 partitions and responses in 2"):
        pipeline.score(bags[0], db.from_sequence(y, npartitions=2))
    with pytest.raises(ValueError, match="responses of 300 documents do not vary"):
        pipeline.score(bags[0], bags[1].map(lambda value: 1.0))
    with pytest.raises(ValueError, match=r"score of a Dask collection was asked .* with no respon"):
        pipeline.score(bags[0])


# --- shards and what goes to them ---------------------------------------------------------------


def test_small_neighbours_are_one_shard_whoever_is_there(client, corpus, many):
    docs = on_dask(corpus, 400)
    sizes = client.gather([client.submit(len, shard) for shard in docs.shards])
    assert sum(sizes) == 1200
    assert 64 <= len(sizes) <= 80  # of 18 documents or so each
    assert max(sizes) <= 21
    one, other = fitted(docs).model_, fitted(on_dask(corpus, 400)).model_
    assert_array_equal(one.mu, other.mu)
    assert_allclose(one.mu, fitted(corpus).model_.mu, atol=1e-10)
    with pytest.raises(ValueError, match=r"partitions \d+ to \d+: no"):
        docs.total(refuse)


def test_neighbours_are_joined_by_their_bytes():
    assert runs([5, 5, 5]) == [(0, 1), (1, 2), (2, 3)]
    assert runs([7, 0, 0, 7]) == [(0, 1), (1, 3), (3, 4)]
    found = runs([1] * 1000)
    assert {stop - start for start, stop in found} == {15, 10}
    large = runs([MOST_BYTES // 3] * 9000)
    assert {stop - start for start, stop in large} == {3}
    assert large[-1][1] == 9000


def size_of(c, shared):
    return shared.nbytes * (len(c) > 0)


def test_of_large_things_that_shards_need_nothing_is_said(client, corpus):
    docs = on_dask(corpus, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert docs.total(size_of, np.zeros(1_500_000)) == 2 * 12_000_000


def types(c):
    return [tuple(a.dtype.str for a in (c.counts.indptr, c.counts.indices, c.counts.data, c.y))]


def test_all_shards_have_the_same_types(client, corpus):
    """So that a worker compiles each kernel once."""
    small, wide = csr_array(corpus.counts[:9], dtype=np.int8), csr_array(corpus.counts[9:30])
    wide.indptr, wide.indices = wide.indptr.astype(np.int64), wide.indices.astype(np.int64)
    frequent = csr_array([[70_000.0] + 59 * [0]])
    shards = [(small, corpus.y[:9].astype(np.float32)), (wide, corpus.y[9:30]), (frequent, [1])]
    docs = OnDask.of([dask.delayed(Corpus(X, np.asarray(y))) for X, y in shards])
    found = docs.total(types)
    assert len(found) == 3
    assert set(found) == {("<i4", "<i4", "<u4", "<f8")}


def test_sums_are_added_up_eight_at_a_time_in_their_order(client, monkeypatch):
    plain, at_once = tasks_of.submit, []

    def noted(client, function, *args, **options):
        if function is tasks_of._add:
            at_once.append(len(args))
        return plain(client, function, *args, **options)

    monkeypatch.setattr(tasks_of, "submit", noted)
    parts = [[i] for i in range(70)]
    found = tasks_of.added(client, [plain(client, tasks_of.hold, part) for part in parts])
    assert found == list(range(70))
    assert at_once == [*[8] * 8, 6, 8, 1, 2]


def let_blas_have(n):
    import scipy.linalg.cython_blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    with one_blas_thread:  # after which any thread may set it
        pass
    ThreadpoolController().limit(limits=n, user_api="blas")


def blas_threads(*_):
    from threadpoolctl import threadpool_info

    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_blas_has_one_thread_in_a_task(client, corpus):
    """Whatever a worker lets it have elsewhere."""
    client.run(let_blas_have, 2)
    try:
        for outside in client.run(blas_threads).values():
            assert set(outside) == {2}
        assert set(on_dask(corpus, 5).total(blas_threads)) == {1}
    finally:
        client.run(let_blas_have, 1)


def noting(texts, path):
    with path.open("a") as file:
        file.write(f"{len(texts)}\n")
    return texts


def test_each_partition_is_read_once(client, tmp_path, many):
    texts, y = (db.from_sequence(part, npartitions=6) for part in varied_texts(300))
    read = texts.map_partitions(list).map_partitions(noting, tmp_path / "read")
    topicprism.fit(read, y, estimator=SpectralSLDA)
    assert [int(line) for line in (tmp_path / "read").read_text().split()] == [50] * 6


@dataclass
class Rows:
    """A source of texts."""

    texts: list

    def batches(self):
        yield from (Batch([text]) for text in self.texts)


def test_texts_that_come_for_a_page_are_bounded(monkeypatch):
    monkeypatch.setattr(Texts.__init__, "__defaults__", (1000,))
    rows = [Rows([f"{i} " + "word " * (7 * i + j) for j in range(5)]) for i in range(1, 20)]
    every = Drawn(0, 2**64 - 1, 2**64)
    found = [collections.chosen_texts(source, every) for source in rows]
    assert all(sum(map(len, part.texts)) < 1000 for part in found)
    sums = [reduce(add, found), reduce(add, [reduce(add, found[i : i + 3]) for i in (0, 3, 6, 9)])]
    expected = Texts([]) + Texts([text for source in rows for text in source.texts])
    assert 3 < len(expected.texts) < 60
    assert all(one.texts == expected.texts for one in sums)


# --- failures -----------------------------------------------------------------------------------


def first_time(c, path):
    """Fails once, as a file system may."""
    if not path.exists():
        path.touch()
        raise OSError("not now")
    return len(c)


def test_a_task_that_fails_once_is_tried_again(client, corpus, tmp_path):
    assert OnDask.of([dask.delayed(corpus)]).total(first_time, tmp_path / "tried") == 1200


def kill_once(c, path):
    end_once(path)
    return c.counts.data.sum(dtype=float) / 3


def test_a_worker_that_is_killed_changes_no_bit(client, corpus, tmp_path):
    docs = on_dask(corpus, 9)
    (tmp_path / "killed").touch()
    expected = docs.total(kill_once, tmp_path / "killed")
    (tmp_path / "killed").unlink()
    assert docs.total(kill_once, tmp_path / "killed") == expected
    client.wait_for_workers(2, timeout=90)


def kill_in(texts, path):
    end_once(path)
    return list(texts)


def test_a_worker_that_is_killed_while_texts_are_read_changes_no_bit(client, tmp_path):
    texts, y = (db.from_sequence(part, npartitions=4) for part in varied_texts(300))
    fits = []
    for name in ("killed", "killed", "again"):  # the second time none is
        read = texts.map_partitions(kill_in, tmp_path / name)
        fits.append(topicprism.fit(read, y, n_topics=3, estimator=SpectralSLDA))
        client.wait_for_workers(2, timeout=90)
    for other in fits[1:]:
        assert_array_equal(other.model.mu, fits[0].model.mu)
        assert other.info["fingerprint"] == fits[0].info["fingerprint"]
        assert other.words.tolist() == fits[0].words.tolist()


def kill(c):
    os.kill(os.getpid(), 9)


def test_a_partition_that_ends_all_workers_is_named(client, corpus):
    docs = on_dask(corpus, 1)
    with pytest.raises(
        RuntimeError, match=r"sum-of-partition-0 ended every worker .* smaller part"
    ):
        docs.total(kill)
    client.wait_for_workers(2, timeout=90)


def refuse(c):
    raise ValueError("no")


def test_no_task_is_left_behind(client, corpus):
    docs = on_dask(corpus, 3)
    before = set(tasks(client))
    docs.total(len)
    with pytest.raises(ValueError, match=r"partition \d: no"):
        docs.total(refuse)
    for _ in range(50):
        if set(tasks(client)) <= before:
            break
        time.sleep(0.1)
    assert set(tasks(client)) <= before
    assert docs.total(len) == len(corpus)


def tasks(client):
    return client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))


def test_workers_of_another_version_are_refused(client, monkeypatch):
    check_workers(client)
    monkeypatch.setattr("topicprism.engines.tasks.__version__", "9.9")
    with pytest.raises(RuntimeError, match=r"has topicprism .*, but 9.9 was expected, as here"):
        check_workers(client)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ([(130, "review", 5.5)], r"partition 1: document 10 is 5.5 of type float, expected str"),
        ([(120, "review", " "), (130, "review", 5.5)], r"partition 1: document 10 is 5.5 of type"),
        (
            [(130, "stars", "many")],
            r"partition 1: y has .* not numeric \(document 10 has 'many'",
        ),
        (
            [(123, "stars", None), (124, "review", ""), (130, "stars", "many")],
            r"partition 1: .* not numeric \(document 10 has 'many'\)",
        ),
        ([(i, "stars", 2.0) for i in range(600)], r"y is 2 for all 600 documents"),
    ],
)
def test_what_cannot_be_learnt_from_is_a_sentence(client, columns, sentence):
    _, ddf = texts_of(600, columns)
    with pytest.raises(ValueError, match=sentence):
        topicprism.fit(ddf["review"], ddf["stars"], estimator=SpectralSLDA)


@pytest.mark.parametrize("value", [1.5, -2.0, np.nan, np.inf])
def test_what_is_no_count_is_refused_as_in_memory(client, corpus, value):
    """A fraction was cut off, a negative count became a huge one, NaN never ended."""
    X = csr_array(corpus.counts, dtype=float)[:60]
    X.data[5] = value
    docs = Corpus(X, corpus.y[:60])
    with pytest.raises(ValueError, match="count"):
        SpectralSLDA(2).fit(docs.counts, docs.y)
    with pytest.raises(ValueError, match=r"partition 0: .*count"):
        OnDask.of([dask.delayed(docs)])


def test_the_partition_with_a_missing_text_is_named(client):
    table, holed = texts_of(300, [(299, "review", None)])
    known = table.dropna()
    pipeline = topicprism.fit(known["review"], known["stars"], n_topics=2, estimator=SpectralSLDA)
    for lazy in (pipeline.predict(holed["review"]), pipeline.transform(holed["review"])):
        with pytest.raises(ValueError, match=r"^partition 4: "):
            lazy.compute()
    full = holed.dropna(subset=["review"])
    assert len(pipeline.predict(full["review"]).compute()) == 299


def test_partitions_without_a_row_have_no_predictions(client):
    texts, y = varied_texts(120)
    fitted = topicprism.fit(texts, y, n_topics=2, random_state=0)
    bag = db.from_sequence(texts[:20], npartitions=2).map_partitions(first_only)
    assert_allclose(fitted.predict(bag).compute(), fitted.predict(texts[:10]))
    X = da.from_array(fitted[0].transform(texts).toarray(), chunks=(60, -1))
    with pytest.raises(ValueError, match="return_std=True was asked of a Dask array"):
        topicprism.fit(X.compute(), y, n_topics=2).predict(X, return_std=True)


def first_only(texts):
    return [text for text in texts if text in FIRST]


FIRST = set(varied_texts(120)[0][:10])


def test_collections_that_do_not_fit_are_refused(client, corpus):
    _, ddf = texts_of(60, [])
    texts, y = ddf["review"], ddf["stars"]
    with pytest.raises(ValueError, match=r"texts in 5 partitions and responses in 2, but expected"):
        topicprism.fit(texts, y.repartition(npartitions=2))
    with pytest.raises(ValueError, match="got documents on Dask for GibbsSLDA, which needs"):
        topicprism.fit(texts, y, estimator=GibbsSLDA)
    with pytest.raises(ValueError, match="got no partition, but at least one was expected"):
        OnDask.of([])
    other = Corpus(csr_array(np.ones((3, 7), int)), np.ones(3))
    with pytest.raises(ValueError, match=r"partition 0 is over 60 words and partition 1 over 7"):
        OnDask.of([dask.delayed(corpus), dask.delayed(other)])
    with pytest.raises(ValueError, match=r"partition 0 is a int, but a Corpus was expected"):
        OnDask.of([dask.delayed(3)])
    with pytest.raises(ValueError, match=r"an array in blocks of \(2, 3\), but a block must have"):
        topicprism.fit(da.ones((4, 6), chunks=(2, 2)), da.ones(4, chunks=2), estimator=SpectralSLDA)


def test_without_a_client_there_is_a_sentence(monkeypatch, corpus):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr("topicprism.engines.tasks.default_client", none)
    with pytest.raises(ValueError, match=r"documents on Dask, but there is no client .* start one"):
        OnDask.of([dask.delayed(corpus)])

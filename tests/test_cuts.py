"""However documents are cut into shards, the model is the same; and sums are pure."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from itertools import pairwise
from multiprocessing import get_context

import numpy as np
import pytest
from dask.sizeof import sizeof
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, vstack
from varied_texts import varied_texts

from topicprism import AutoSLDA, Corpus, SpectralLDA, SpectralSLDA
from topicprism.datasets import draw_model, make_slda
from topicprism.documents import OnDisk
from topicprism.documents.corpus import alike, joined
from topicprism.documents.subsets import (
    ALL,
    KeyCounts,
    SelectedDocuments,
    Sums,
    in_memory,
    of_subsets,
    selected_documents,
)
from topicprism.documents.sums import Additive, Extent, RunningMoments
from topicprism.learn.defaults import MODEL, SAMPLED, TEXT
from topicprism.learn.judging import words_together
from topicprism.learn.proportions import Inferred
from topicprism.learn.refine import gradients
from topicprism.learn.ridge import completion
from topicprism.pipeline.collections import Aside, read, summary
from topicprism.pipeline.scoring import Kept
from topicprism.pipeline.streaming import Texts
from topicprism.relatives import anchors
from topicprism.spectral.basis import BASIS
from topicprism.spectral.moments import WordSums, pair_products
from topicprism.vectorizer import FastCountVectorizer
from topicprism.vectorizer.counting import merge
from topicprism.vectorizer.lexicon import empty

N = 700


class Shards:
    """The least that documents can be: shards, added up one after the other."""

    def __init__(self, corpora):
        self.corpora = list(corpora)
        self.n_words, self.seen = self.corpora[0].n_words, set()
        self.passes = self.directions = 0

    def total(self, part, *shared):
        asked = {id(one) for one in (part, *shared)}
        self.passes += 1
        self.directions += id(pair_products) in asked and id(of_subsets) not in asked
        return reduce(self.added, (part(corpus, *shared) for corpus in self.corpora))

    def added(self, a, b):
        return a + b


class Watchful(Shards):
    """Documents that look whether a sum has changed what was added, or what was shared."""

    def total(self, part, *shared):
        before = pickle.dumps(shared)
        found = super().total(part, *shared)
        assert pickle.dumps(shared) == before
        return found

    def added(self, a, b):
        before = pickle.dumps((a, b))
        found = a + b
        assert pickle.dumps((a, b)) == before
        assert_told(found)
        self.seen |= set(types_in(found))
        return found


def assert_told(value):
    """Dask knows how large it is, but for some words that any pickle has."""
    assert sizeof(value) >= (len(pickle.dumps(value)) - 1000) / 2, type(value)


def types_in(sums):
    """Of what is added up, and of what that is made of."""
    if hasattr(type(sums), "__add__") and type(sums).__module__.startswith("topicprism"):
        yield type(sums)
        for value in vars(sums).values():
            for one in value if isinstance(value, tuple) else (value,):
                yield from types_in(one)


def by(step):
    return lambda n: range(0, n + step, step)


CUTS = {
    "500": by(500),
    "10": by(10),
    "1": by(1),
    "unequal, some empty": lambda n: [0, 0, 3, 3, 3, 300, 301, 301, n, n, n],
}


def cut(corpus, how):
    edges = [min(edge, len(corpus)) for edge in CUTS[how](len(corpus))]
    return [corpus.rows(start, stop) for start, stop in pairwise(edges)]


@pytest.fixture(scope="module")
def of_text():
    texts, y = varied_texts(N)
    return Corpus(FastCountVectorizer(min_df=2, max_df=0.5).fit_transform(texts), np.array(y))


@pytest.fixture(scope="module")
def of_model():
    """Documents whose noise variance second moments hardly tell."""
    X, y, _ = make_slda(1500, n_words=80, n_topics=6, doc_length=60, random_state=0)
    return Corpus(X, y)


@pytest.fixture
def many(monkeypatch):
    """As if documents were too many to be put in order, and some of them had to do."""
    for module in ("documents.subsets", "learn.survey"):
        monkeypatch.setattr(f"topicprism.{module}.MAX_ORDERED", 100)
    monkeypatch.setitem(vars(TEXT), "learn_documents", 400)
    monkeypatch.setitem(vars(MODEL), "noise_documents", 1450)


def fit(estimator, docs):
    return estimator.fit_documents(docs)


def assert_same(one, other, atol=0.0):
    names = ("components_", "alpha_", "coef_", "coef_std_", "noise_variance_", "replication_")
    for name in (name for name in names if hasattr(one, name)):
        assert_allclose(getattr(other, name), getattr(one, name), rtol=0, atol=atol, err_msg=name)
    assert other.selection_.reasons["n_topics"] == one.selection_.reasons["n_topics"]


# --- few documents: the same bits ---------------------------------------------------------


@pytest.mark.parametrize("how", ["10", "unequal, some empty"])
def test_few_documents_have_the_same_bits_in_any_shards(of_model, of_text, how):
    for estimator, docs in ((SpectralSLDA, of_model), (SpectralLDA, of_text)):
        whole = estimator(random_state=0).fit(docs.counts, docs.y)
        assert_same(whole, fit(estimator(random_state=0), Shards(cut(docs, how))))


# --- many: last digits ---------------------------------------------------------------------


@pytest.mark.parametrize("how", CUTS)
def test_a_model_whose_noise_is_looked_for(of_model, many, how):
    whole = fit(SpectralSLDA(random_state=0), Shards([of_model]))
    assert "halves of each document" in whole.selection_.reasons["noise_variance"]
    found = fit(SpectralSLDA(random_state=0), Shards(cut(of_model, how)))
    assert_same(whole, found, 1e-10)


@pytest.mark.parametrize("how", CUTS)
def test_words_alone(of_text, many, how):
    whole, found = (
        fit(SpectralLDA(random_state=0), Shards(s)) for s in ([of_text], cut(of_text, how))
    )
    assert_same(whole, found, 1e-10)


@pytest.fixture(scope="module")
def whole_text():
    return {}


@pytest.mark.parametrize("how", CUTS)
def test_text(of_text, many, whole_text, how):
    if not whole_text:
        whole_text[0] = fit(SpectralSLDA(random_state=0), Shards([of_text]))
    found = fit(SpectralSLDA(random_state=0), Shards(cut(of_text, how)))
    assert_same(whole_text[0], found, 1e-10)


CASES = {
    "text": (SpectralSLDA, "of_text"),
    "noise looked for": (SpectralSLDA, "of_model"),
    "words alone": (SpectralLDA, "of_text"),
}


@pytest.fixture
def case(request, many):
    """A fit by other documents, beside that of one shard."""
    estimator, name = CASES[request.param]
    docs = request.getfixturevalue(name)
    whole = fit(estimator(random_state=0), Shards([docs]))

    def check(how, engine):
        assert_same(whole, fit(estimator(random_state=0), engine(cut(docs, how))), 1e-10)

    return check


@pytest.mark.parametrize("case", CASES, indirect=True)
@pytest.mark.parametrize("how", ["500", "10", "unequal, some empty"])
def test_shards_in_files(case, how, tmp_path):
    case(how, lambda shards: OnDisk.write(tmp_path, shards))


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize("case", CASES, indirect=True)
def test_shards_in_files_read_by_processes(case, processes, tmp_path):
    def engine(shards):
        OnDisk.write(tmp_path, shards)
        return OnDisk.open(tmp_path, executor=processes)

    case("unequal, some empty", engine)


@pytest.mark.filterwarnings("ignore")  # of Dask's, as workers come and go
@pytest.mark.usefixtures("limit")
@pytest.mark.parametrize(
    ("case", "how"),
    [
        ("text", "unequal, some empty"),
        ("noise looked for", "10"),
        ("words alone", "unequal, some empty"),
    ],
    indirect=["case"],
)
def test_shards_on_dask(case, how, client):
    dask = pytest.importorskip("topicprism.engines.dask")
    delayed = pytest.importorskip("dask").delayed
    case(how, lambda shards: dask.OnDask.of(list(map(delayed, shards))))


@pytest.mark.parametrize("how", CUTS)
def test_the_likelihood_of_words(of_text, how, rng):
    model = draw_model(of_text.n_words, 3, rng)
    half = KeyCounts.of(of_text).share(0, 0.5)
    whole, found = (
        Shards(s).total(completion, model, half) for s in ([of_text], cut(of_text, how))
    )
    assert found.words == whole.words > 1000
    assert_allclose(found.logs, whole.logs, rtol=1e-12)


def test_sampled_topics_have_the_same_bits(of_text, many, short_chains):
    """They are sampled from documents in memory, whose sketch is their own."""
    shards = ([of_text], cut(of_text, "unequal, some empty"))
    whole, found = (fit(AutoSLDA(5, random_state=0), Shards(s)) for s in shards)
    assert "Gibbs chain" in whole.selection_.reasons["method"]
    assert_same(whole, found)


def with_short(corpus, n):
    """The documents, and as many again and more that have no words, one or two."""
    short = np.zeros((n, corpus.n_words), int)
    short[::10, 3] = 1
    short[5::10, 4:6] = 1
    X = csr_array(vstack([corpus.counts, short]))
    return Corpus(X, np.concatenate([corpus.y, np.linspace(0, 1, n)]))


@pytest.mark.filterwarnings("ignore:2000 documents have fewer than 3 words")
@pytest.mark.parametrize("sampled", [False, True])
def test_many_short_documents_are_not_gathered(of_text, many, short_chains, monkeypatch, sampled):
    """Those without a word have one key, below all others: samples would be full of them."""
    came, docs = [], with_short(of_text, 2000)

    def gathered(docs, found):
        came.append(len(found.corpus))
        return in_memory(docs, found)

    monkeypatch.setattr("topicprism.learn.survey.in_memory", gathered)
    monkeypatch.setitem(vars(MODEL), "noise_documents", 400)
    monkeypatch.setitem(vars(SAMPLED), "max_documents", 400)
    new = AutoSLDA if sampled else SpectralSLDA
    fits = [
        fit(new(5, random_state=0), some)
        for some in (docs, Shards([docs]), Shards(docs.shards(7)), Shards([of_text]))
    ]
    assert ("Gibbs chain" in fits[0].selection_.reasons["method"]) == sampled
    assert came[:2] == [came[0]] * 2
    assert abs(came[0] - 400) <= 6
    for other in fits[1:]:
        assert_same(fits[0], other, 1e-10)
    assert_allclose(fits[0].predict(docs.counts[-1:]), fits[0].predict(docs.counts[-2:-1]))


@pytest.mark.filterwarnings("ignore:6000 of 6700 documents have fewer than 3 words")
@pytest.mark.parametrize("estimator", [SpectralSLDA, SpectralLDA])
def test_short_documents_beside_few_change_last_digits_only(of_text, estimator):
    """There may be more of them than are looked at again and again."""
    short = with_short(of_text, 6000)
    one, other = (estimator(random_state=0).fit(c.counts, c.y) for c in (of_text, short))
    assert_same(one, other, 1e-10)


def test_two_fits_by_one_engine_have_the_same_bits(of_model, many):
    docs = Shards(cut(of_model, "10"))
    one, other = (fit(SpectralSLDA(random_state=0), docs) for _ in range(2))
    assert_same(one, other)


def test_documents_in_memory_and_elsewhere_have_one_answer(of_text, many):
    """Of many, those in memory are put in the order of their keys, and the others are not."""
    one, other = (
        SpectralSLDA(5, random_state=0).fit_documents(d) for d in (of_text, Shards([of_text]))
    )
    assert_same(one, other, 1e-10)


# --- sums -----------------------------------------------------------------------------------


def test_sums_change_nothing_that_is_added(of_text, of_model, many, monkeypatch):
    monkeypatch.setitem(vars(TEXT), "learn_documents", 10**6)
    seen = set()
    for estimator, docs in (
        (SpectralSLDA(), of_model),
        (SpectralSLDA(), of_text),
        (SpectralLDA(3), of_text),
    ):
        # every pass of the fit, those over documents in memory too
        watched = Watchful(docs.shards(3))
        monkeypatch.setattr("topicprism.learn.survey.in_memory", lambda docs, _: docs)
        fit(estimator.set_params(random_state=0), watched)
        seen |= watched.seen
    model, docs = estimator.model_, Watchful(of_text.shards(3))
    docs.total(words_together, np.arange(5), ALL)
    docs.total(gradients, model, model.eta)
    of_learning = {*every(Additive), WordSums, RunningMoments, Extent, KeyCounts}
    of_learning |= {SelectedDocuments, Sums, Inferred}
    assert of_learning - seen - docs.seen <= {anchors.Sums}  # in memory: tests/test_sums.py


def every(kind):
    for one in kind.__subclasses__():
        yield one
        yield from every(one)


def test_lexicons_that_are_merged_stay_as_they_were():
    one, other = (FastCountVectorizer().fit([t])._statistics.lexicon for t in ("a cat", "the cat"))
    before = pickle.dumps((one, other))
    for _ in range(2):
        both, numbers = merge([one, other])
        assert both.size[0] == 2
        assert sorted(both.terms["tf"][:2].tolist()) == [1, 2]
        assert [n.tolist() for n in numbers] == [[0], [1, 0]]
    assert pickle.dumps((one, other)) == before
    assert merge([empty(), one])[0].size[0] == 1


# --- passes ---------------------------------------------------------------------------------


def assert_passes(docs, besides, directions):
    """docs/scaling.md: so many besides those that directions take; all else is in memory."""
    assert docs.passes - docs.directions == besides
    assert 2 <= docs.directions <= directions <= BASIS.max_passes


def test_passes_over_text(of_text, many):
    for estimator, besides in ((AutoSLDA, 7), (SpectralSLDA, 7), (SpectralLDA, 4)):
        docs = Shards([of_text])
        fit(estimator(random_state=0), docs)
        assert_passes(docs, besides, 3)


def test_passes_where_topics_are_sampled(of_text, many, short_chains):
    docs = Shards([of_text])
    found = fit(AutoSLDA(random_state=0), docs)
    assert "Gibbs chain" in found.selection_.reasons["method"]
    assert_passes(docs, 3, 3)


def test_passes_where_the_model_holds(many):
    X, y, _ = make_slda(2000, n_words=60, n_topics=3, doc_length=80, random_state=1)
    docs = Shards([Corpus(X, y + np.random.default_rng(0).standard_normal(len(y)))])
    found = fit(AutoSLDA(random_state=0), docs)
    assert "second moments" in found.selection_.reasons["noise_variance"]
    assert_passes(docs, 5, 3)


def test_passes_where_noise_is_looked_for(of_model, many):
    docs = Shards([of_model])
    fit(AutoSLDA(random_state=0), docs)
    assert_passes(docs, 6, 3)


# --- shards ---------------------------------------------------------------------------------


def test_documents_tell_their_size(of_model):
    X = of_model.counts
    n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes + of_model.y.nbytes
    assert n_bytes <= sizeof(Corpus(X, of_model.y)) <= n_bytes + 200
    half = of_model.rows(0, 750)
    assert 0.9 * n_bytes / 2 < sizeof(half) < 1.1 * n_bytes / 2
    assert sizeof(half.counts) > 0.8 * sizeof(half)


def test_what_is_between_texts_and_shards_tells_its_size():
    texts, y = varied_texts(N)
    counts = FastCountVectorizer()
    part = read(texts, y, 0, counts)
    aside = Kept(counts.fit_transform(texts), part.y, texts)
    for value in (part, part.docs, summary(part), Aside(aside, aside), Texts(texts)):
        assert_told(value)
        assert sizeof(value) > 20_000


def test_all_shards_have_the_same_types(of_model, tmp_path):
    frequent = Corpus(csr_array([[300] + 79 * [0], [70_000] + 79 * [1]]), np.ones(2))
    docs = OnDisk.write(tmp_path, [of_model, frequent, of_model.rows(0, 0 + 5)])
    kinds = docs.total(types)
    assert len(kinds) == 3
    assert len(set(kinds)) == 1
    assert joined([alike(of_model), alike(frequent)]).counts.indptr.dtype == np.int32
    assert types(selected_documents(alike(of_model), ALL).corpus)[0] == kinds[0]


def types(c):
    arrays = (c.counts.indptr, c.counts.indices, c.counts.data, c.y)
    return [tuple(array.dtype.str for array in arrays)]


# --- what is refused ------------------------------------------------------------------------


def spoilt(corpus, where, value):
    """The documents in two shards, a number of the second being another."""
    first, second = corpus.rows(0, 700), corpus.rows(700, len(corpus))
    if where == "y":
        y = second.y.copy()
        y[3] = value
        return Shards([first, Corpus(second.counts, y)])
    X = csr_array(second.counts.to_csr(), dtype=float)
    X.data[X.indptr[3]] = value
    return Shards([first, Corpus(X, second.y)])


@pytest.mark.parametrize(
    ("where", "value", "sentence"),
    [
        ("y", np.nan, r"y contains NaN, inf .* \(nan for document 3; 1 in all\)"),
        ("y", np.inf, r"y contains NaN, inf .* \(inf for document 3"),
        ("X", 0.5, r"counts contain fractions \(0.5 at document 3, word \d+\)"),
        ("X", np.nan, r"counts contain NaN or inf \(nan at document 3, word \d+\)"),
        ("X", -1, r"Negative values in data \(-1 at document 3, word \d+\)"),
    ],
)
def test_documents_are_refused_as_counts_are(of_model, where, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        SpectralSLDA().fit_documents(spoilt(of_model, where, value))


def test_a_response_that_does_not_vary(of_model):
    same = of_model.with_response(np.full(len(of_model), 2.0))
    with pytest.raises(ValueError, match="y is 2 for all 1500 documents, but it must vary"):
        SpectralSLDA().fit_documents(Shards(same.shards(3)))
    tiny = of_model.with_response(of_model.y * 1e-300)
    with pytest.raises(ValueError, match="a range too small to compute with"):
        SpectralSLDA().fit_documents(Shards([tiny]))
    with pytest.raises(ValueError, match=r"got 1 sample \(document\), but at least 2"):
        SpectralSLDA().fit_documents(of_model.rows(0, 1))
    with pytest.raises(ValueError, match="got no documents, but at least 2 were expected"):
        SpectralSLDA().fit_documents(Shards([of_model.rows(0, 0)] * 3))

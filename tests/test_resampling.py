"""Topics found again in halves of the documents: definitions, known truths, what cannot matter."""

import csv
import io
import json
import re
import sys
import warnings
from dataclasses import replace

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, vstack
from sklearn.base import is_classifier

import topicprism
from topicprism import (
    AnchorLDA,
    AnchorSLDA,
    DiscLDA,
    GibbsSLDA,
    HybridSLDA,
    InterruptedWarning,
    MedLDA,
    MedLDAClassifier,
    MissingValuesWarning,
    NothingPredictedWarning,
    SpectralLDA,
    SpectralSLDA,
    Stability,
    TooManyTopics,
    VariationalSLDA,
    VariationalSLDAClassifier,
    stability,
)
from topicprism.cli import main
from topicprism.datasets import make_reviews, make_slda
from topicprism.documents.corpus import Corpus
from topicprism.evaluation import matched_topics
from topicprism.io.tables import rounded
from topicprism.resampling.comparing import Comparison, FittedTopics, replicated
from topicprism.resampling.runs import OtherMethodWarning, halves
from topicprism.show.terminal import stability_lines

SHORT = {"burn_in": 5, "n_kept": 3}  # sweeps of a chain


@pytest.fixture(scope="module")
def small():
    X, y, _ = make_slda(120, n_words=30, n_topics=2, doc_length=30, noise=0.1, random_state=0)
    return X, y


@pytest.fixture(scope="module")
def reviews():
    texts, stars, _ = make_reviews(800, random_state=0)
    return texts, stars


# --- halves -------------------------------------------------------------------------------


def sets(corpora):
    return [sorted(c.keys.tolist()) for c in corpora]


def test_halves_are_halves_by_what_documents_say(small, rng):
    X, y = small
    first, second = halves(Corpus(X, y), seed=3)
    assert (len(first), len(second)) == (60, 60)
    assert sorted(np.concatenate([first.y, second.y])) == sorted(y)
    shuffle = rng.permutation(len(y))
    assert sets(halves(Corpus(X[shuffle], y[shuffle]), 3)) == sets([first, second])
    assert sets(halves(Corpus(X, y), 4)) != sets([first, second])


def test_copies_of_a_document_are_in_one_half(small, rng):
    X, y = small
    times = rng.integers(1, 6, len(y))
    many = Corpus(X[np.repeat(np.arange(len(y)), times)], rng.random(times.sum()))
    for seed in range(5):
        first, second = halves(many, seed)
        assert not set(first.keys.tolist()) & set(second.keys.tolist())
        assert abs(len(first) - len(second)) <= 2 * times.max()


# --- topics beside topics -----------------------------------------------------------------


def of(*columns, effects=None):
    mu = np.array(columns, float).T
    top = tuple(np.argsort(-mu, axis=0, kind="stable")[:2].T)
    return FittedTopics(mu, top, None if effects is None else np.array(effects, float))


def test_a_topic_is_found_if_its_counterpart_is_similar_and_closest_to_it():
    a = of([0.5, 0.5, 0, 0], [0, 0, 0.9, 0.1], effects=[1, 2])
    b = of([0, 0, 0.8, 0.2], [0.5, 0.3, 0.2, 0], effects=[20, 10])
    beside = Comparison.between(a, b)
    assert_array_equal(beside.order, [1, 0])
    assert_allclose(beside.similarity[0], np.sqrt(0.25) + np.sqrt(0.15))
    assert_array_equal(beside.effects, [10, 20])
    assert_array_equal(beside.common_words, [1, 1])
    assert beside.found.all()
    # nothing in common with the first
    beside = Comparison.between(a, of([0, 0, 0.9, 0.1], [0, 0.1, 0, 0.9], effects=[2, 1]))
    assert_array_equal(beside.found, [False, True])
    assert_array_equal(beside.common_words, [0.5, 1])
    # 0.95 like the first, which is above the limit, but more like the second, which has another
    alike = of([0.6, 0.4], [0.3, 0.7])
    beside = Comparison.between(alike, of([0.31, 0.69], [0.3, 0.7]))
    assert (beside.similarity > 0.9).all()
    assert_array_equal(beside.found, [False, True])


def test_a_topic_without_counterpart_is_not_found():
    a = of([0.5, 0.5, 0, 0], [0, 0, 0.9, 0.1], effects=[1, 2])
    beside = Comparison.between(a, FittedTopics.none(4))
    assert not beside.found.any()
    assert np.isnan(beside.effects).all()
    assert_array_equal(beside.common_words, [0, 0])


def test_replicated_means_that_the_halves_agree():
    a = of([0.9, 0.1, 0], [0, 0.9, 0.1], [0.1, 0, 0.9])
    one = Comparison.between(a, a)
    shuffled = of([0.1, 0, 0.9], [0.9, 0.1, 0], [0, 0.9, 0.1])
    two = Comparison.between(a, shuffled)
    assert replicated(one, two, two).all()  # the first half is the reference here
    wrong = replace(two, order=two.order[[1, 0, 2]])  # the halves pair the first two otherwise
    assert_array_equal(replicated(one, two, wrong), [False, False, True])
    lost = replace(one, found=np.array([True, False, True]))
    assert_array_equal(replicated(lost, two, two), [True, False, True])
    assert_array_equal(replicated(one, two, replace(two, found=lost.found)), [True, False, True])


# --- known truths -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_topics_of_the_model_are_found_again_with_their_effects(seed):
    X, y, truth = make_slda(
        1500, n_words=100, n_topics=3, doc_length=80, noise=0.3, random_state=seed
    )
    found = stability(X, y, n_topics=3, alpha0=1.0, runs=6)
    assert_array_equal(found.found_again, 1)
    assert_array_equal(found.replicated, 1)
    assert (found.similarity > 0.98).all()
    assert found.halves_common_words > 0.5
    order, _ = matched_topics(truth.mu, found.reference.model.mu)
    # standard deviations are up to 0.1; halves of 750 documents have some bias, too
    assert_allclose(found.effect_mean[order], truth.eta, atol=0.2)
    assert (np.abs(found.effect_mean - found.effect) < 2 * found.effect_std + 0.05).all()
    assert (found.effect_std > 0).all()


def test_the_aspects_of_reviews_are_found_and_superfluous_topics_are_not(reviews):
    texts, _ = reviews
    found = stability(texts, estimator=SpectralLDA, n_topics=12, runs=6)
    assert (found.found_again == 1).sum() >= 6  # of eight aspects
    assert (found.found_again < 0.5).sum() >= 2
    assert (found.replicated < 0.5).sum() >= 3


@pytest.mark.parametrize("estimator", [SpectralSLDA, GibbsSLDA])
def test_halves_do_not_agree_where_there_are_no_topics(estimator):
    rng = np.random.default_rng(0)
    X, y = rng.multinomial(40, rng.dirichlet(np.ones(60)), size=200), rng.standard_normal(200)
    options = SHORT if estimator is GibbsSLDA else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = stability(X, y, estimator=estimator, n_topics=6, runs=6, **options)
    # once: of all documents, not of each half
    assert [w.category for w in caught] == [NothingPredictedWarning]
    assert found.replicated.mean() < 0.5
    assert found.halves_common_words < 0.5
    assert "do not rely on the words and coefficients" in " ".join(repr(found).split())


# --- what cannot matter -------------------------------------------------------------------


def test_columns_of_a_frame(reviews):
    texts, stars = reviews
    frame = pandas.DataFrame({"review": texts, "stars": stars})
    options = {"runs": 2, "n_topics": 2, "estimator": SpectralSLDA}
    named = stability(frame, text="review", target="stars", **options)
    assert repr(named) == repr(stability(texts, stars, **options))


@pytest.mark.parametrize(("estimator", "options"), [(SpectralSLDA, {}), (GibbsSLDA, SHORT)])
def test_the_order_of_rows_does_not_matter(small, rng, estimator, options):
    X, y = small
    shuffle = rng.permutation(len(y))
    one, two = (
        stability(*rows, estimator=estimator, n_topics=2, runs=4, **options)
        for rows in ((X, y), (X[shuffle], y[shuffle]))
    )
    assert one.facts() == two.facts()


def test_more_runs_go_on_from_fewer_and_seeds_differ(small):
    few, more, other = (
        stability(*small, n_topics=2, runs=runs, random_state=seed)
        for runs, seed in ((2, 0), (5, 0), (2, 1))
    )
    assert (len(few.runs), len(few.halves), len(more.runs), len(more.halves)) == (2, 1, 5, 2)
    for a, b in zip(few.runs, more.runs, strict=False):
        assert_array_equal(a.similarity, b.similarity)
    assert not np.array_equal(few.similarity, other.similarity)


def test_a_table_twice_over_is_split_alike(small):
    X, y = small
    twice = Corpus(csr_array(vstack([X, X])), np.tile(y, 2))
    for once, both in zip(halves(Corpus(X, y), 0), halves(twice, 0), strict=True):
        assert sorted(np.tile(once.keys, 2)) == sorted(both.keys)


def test_the_reference_is_the_fit(reviews):
    texts, stars = reviews
    found = stability(texts, stars, runs=2, n_topics=4, min_df=3)
    plain = topicprism.fit(texts, stars, n_topics=4, min_df=3)
    assert_array_equal(found.reference.words, plain.words)
    assert_allclose(found.reference.model.mu, plain.model.mu, atol=1e-9)
    assert_allclose(found.effect, plain.topics.coef_, atol=1e-9)


# --- estimators, and documents in which fewer topics are found ---------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        *[SpectralLDA, HybridSLDA, MedLDA, MedLDAClassifier],
        *[AnchorLDA, AnchorSLDA, VariationalSLDA, VariationalSLDAClassifier, DiscLDA],
    ],
)
def test_every_estimator_can_be_looked_at(small, estimator):
    X, y = small
    options = {name: n for name, n in SHORT.items() if name in estimator().get_params()}
    labels = np.where(y > np.median(y), "high", "low") if is_classifier(estimator()) else y
    found = stability(X, labels, estimator=estimator, n_topics=2, runs=3, **options)
    assert found.similarity.shape == (2,)
    assert (found.effect is None) == (estimator in (SpectralLDA, AnchorLDA, DiscLDA))
    assert isinstance(found, Stability)


class Fewer(SpectralSLDA):
    """Halves have two topics, or one, or none."""

    largest = 1

    def fit(self, X, y):
        if X.shape[0] < 100 and self.n_topics > self.largest:
            raise TooManyTopics(self.n_topics, "second", self.largest, self.largest)
        return super().fit(X, y)


class Nothing(Fewer):
    largest = 0


def test_halves_that_are_learnt_by_another_method_say_so(small):
    with pytest.warns(
        OtherMethodWarning, match=r"2 of 2 halves .* \(spectral topics, .*Algorithm 2"
    ):
        stability(*small, estimator=Fewer, n_topics=2, runs=2)


@pytest.mark.filterwarnings("ignore::topicprism.resampling.runs.OtherMethodWarning")
def test_halves_with_fewer_topics_do_not_find_the_others(small):
    found = stability(*small, estimator=Fewer, n_topics=2, runs=2)
    assert_array_equal(sorted(run.order.max() for run in found.runs), [0, 0])
    assert found.found_again.sum() <= 1
    found = stability(*small, estimator=Nothing, n_topics=2, runs=2)
    assert_array_equal(found.found_again, 0)
    assert_array_equal(found.similarity, 0)
    assert np.isnan(found.effect_mean).all()
    assert "unknown" in repr(found)


# --- interruption -------------------------------------------------------------------------


class Stopped(SpectralSLDA):
    """Ctrl-C in one of its fits."""

    left = 0

    def fit(self, X, y):
        if Stopped.left == 0:
            raise KeyboardInterrupt
        Stopped.left -= 1
        return super().fit(X, y)


@pytest.mark.parametrize("done", [1, 2, 3])
def test_ctrl_c_keeps_the_runs_that_are_done(small, done, monkeypatch):
    monkeypatch.setattr(Stopped, "left", done + 1)
    with pytest.warns(InterruptedWarning, match=f"interrupted after {done} of 6 runs"):
        found = stability(*small, estimator=Stopped, n_topics=2, runs=6)
    assert len(found.runs) == done
    whole = stability(*small, n_topics=2, runs=6)
    assert_array_equal(found.runs[0].similarity, whole.runs[0].similarity)
    assert len(repr(found)) > 0


@pytest.mark.parametrize("before", [0, 1])
def test_ctrl_c_before_the_first_run_is_that(small, before, monkeypatch):
    monkeypatch.setattr(Stopped, "left", before)
    with pytest.raises(KeyboardInterrupt):
        stability(*small, estimator=Stopped, n_topics=2, runs=6)


class Ticking:
    """Ctrl-C in one of the sweeps of all chains; a deep copy is itself."""

    def __init__(self, left):
        self.left = left

    def __deepcopy__(self, memo):
        return self

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_a_chain_cut_short_is_no_run(small):
    sweeps = sum(SHORT.values())
    options = {"estimator": GibbsSLDA, "n_topics": 2, "runs": 4, **SHORT}
    with pytest.warns(InterruptedWarning, match="after 2 of 4 runs"):
        found = stability(*small, callback=Ticking(3 * sweeps + 2), **options)
    assert len(found.runs) == 2
    with pytest.raises(KeyboardInterrupt):  # the reference
        stability(*small, callback=Ticking(2), **options)


# --- refusals, and what is said --------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::topicprism.NothingPredictedWarning")  # one rare value
def test_what_cannot_be_is_refused_in_a_sentence(small):
    X, y = small
    few = (X[:30], y[:30])
    rare = np.zeros(len(y))
    rare[0] = 1
    for given, options, message in (
        ((X, y), {"runs": 1}, r"runs=1, but expected a whole number from 2 up; try 10"),
        ((X, y), {"runs": 2.5}, r"runs=2.5, but expected a whole number from 2 up"),
        (few, {}, r"got 30 different documents .* at least 40 were expected.*add documents"),
        ((vstack([few[0]] * 9), np.tile(y[:30], 9)), {}, r"got 30 different documents"),
        ((X, np.ones(len(y))), {}, r"y is 1 for all 120 documents, but it must vary"),
        ((X, rare), {"n_topics": 2}, r"1 of its 2 values in one random half of 60 documents"),
        ((X,), {}, r"AutoSLDA requires y to be passed"),
        ((X, y), {"topics": 2}, r"got topics=2, which is an option neither of counting"),
        ((X, y), {"min_df": 2}, r"got min_df=2 with counts, but expected it with texts"),
    ):
        with pytest.raises(ValueError, match=message):
            stability(*given, **options)


def test_documents_left_out_are_said_once(reviews):
    texts, stars = reviews
    with pytest.warns(MissingValuesWarning, match="2 of 202 documents are left out") as caught:
        stability([None, *texts[:200], ""], [1.0, *stars[:200], 2.0], n_topics=2, runs=2)
    assert len(caught) == 1


def test_the_result_as_a_frame_and_as_text(reviews):
    pd = pytest.importorskip("pandas")
    found = stability(*reviews, runs=4, n_topics=8)
    frame = found.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.index) == list(range(1, 9))
    assert_allclose(frame["found_again"], found.found_again)
    assert_allclose(frame["effect_std"], found.effect_std)
    assert frame["words"].map(lambda words: len(words.split())).tolist() == [10] * 8
    lines = repr(found).splitlines()
    assert lines[0] == "8 topics of 800 documents, looked for in 4 random halves of about 400"
    assert max(map(len, lines)) <= 80
    values = np.array([[run.effects[i] for run in found.runs if run.found[i]] for i in [7]])
    assert_allclose(found.effect_mean[7], values.mean())
    assert_allclose(found.effect_std[7], values.std(ddof=1))


def test_a_standard_deviation_takes_four_runs(small):
    found = stability(*small, n_topics=2, runs=2)
    assert np.isnan(found.effect_std).all()
    assert np.isfinite(found.effect_mean).all()
    assert [topic["effect_std"] for topic in found.facts()["topics"]] == [None, None]
    text = " ".join(repr(found).split())
    assert "unknown 2 of 2" in text
    assert "over halves with the topic, of which there must be 4" in text


def test_many_topics_are_counted_and_wide_numbers_leave_room_for_words(small):
    facts = stability(*small, n_topics=2, runs=2).facts()
    topic = facts["topics"][0] | {"replicated": 0.0, "effect": -1e11, "effect_std": 1e11}
    for n, said in ((2, "splits: 1, 2; do"), (20, "splits: 20 of 20 topics; do")):
        topics = [topic | {"number": i + 1} for i in range(n)]
        lines = list(stability_lines(facts | {"topics": topics, "decimals": 6}))
        assert said in " ".join(" ".join(lines).split())
        assert max(map(len, lines)) <= 80
        assert topic["words"][0] in lines[3]


# --- the command ------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path, monkeypatch, reviews):
    with (tmp_path / "reviews.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("review", "stars"), *zip(*reviews, strict=True)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ("stability", "reviews.csv", "--n-topics", "8", "--runs", "4")


def test_the_command_prints_what_python_returns(here, reviews, capsys):
    assert main([*COMMAND, "-o", "t.csv"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 80
    found = stability(*reviews, n_topics=8, runs=4)
    text = repr(found).replace("   effect", "    stars")
    assert out.endswith(f"{text}\n")
    assert re.search(r"^ 1 +1\.\d+ +\d\.\d+ +4 of 4 +2 of 2  \w+", out, re.M)
    with (here / "t.csv").open(newline="", encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    expected = [{k: str(rounded(v)) for k, v in row.items()} for row in found.rows()]
    assert written == expected
    assert main([*COMMAND, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["topics"] == found.facts()["topics"]
    assert (facts["n_runs"], facts["n_runs_asked"], facts["target"]) == (4, 4, "stars")


def test_rows_of_every_format(here):
    pq = pytest.importorskip("pyarrow.parquet")
    for name in ("t.jsonl", "t.parquet"):
        assert main([*COMMAND, "--model", "lda", "-o", name, "-q"]) == 0
    lines = [json.loads(line) for line in (here / "t.jsonl").read_text().splitlines()]
    rows = pq.read_table("t.parquet").to_pylist()
    assert [row["words"] for row in rows] == [line["words"] for line in lines]
    assert all(row["effect"] is None and line["effect"] is None
               for row, line in zip(rows, lines, strict=True))  # fmt: skip


def test_mistakes_of_the_command_are_one_sentence(here, capsys):
    head = (here / "reviews.csv").read_text().splitlines(keepends=True)
    (here / "few.csv").write_text("".join(head[:31]))
    for words, message in (
        (
            ["reviews.csv", "--runs", "1"],
            "argument --runs: 1 is not enough, a split has two halves",
        ),
        (["few.csv", "--min-df", "1"], "got 30 different documents"),
        (["x.tprism"], "x.tprism is the name of a model"),
        (["x.tpsketch"], "x.tpsketch is the name of a sketch, which has no documents to split"),
        (["reviews.csv", "-o", "t.xyz"], "t.xyz does not name a format"),
        (["reviews.csv", "-o", "reviews.csv"], "is to be read and written"),
        (["reviews.csv", "--model", "lda", "--target", "stars"], "has no use with --model lda"),
    ):
        assert main(["stability", *words]) == 2
        out, err = capsys.readouterr()
        assert message in err
        assert err.count("\n") == 1
        assert out == ""


def test_ctrl_c_prints_the_runs_so_far_and_says_so(here, capsys, monkeypatch):
    monkeypatch.setattr(Stopped, "left", 4)
    monkeypatch.setattr("topicprism.estimators.SpectralSLDA", Stopped)
    assert main([*COMMAND, "--model", "spectral", "-o", "t.csv"]) == 130
    out, err = capsys.readouterr()
    assert "8 topics of 800 documents, looked for in 3 random halves" in out
    assert err == (
        "topicprism stability: stopped during 'half samples'; the result is that of 3 of 4 runs\n"
    )
    assert len((here / "t.csv").read_text().splitlines()) == 9


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_counts_the_runs(here, capsys, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("topicprism.cli.progress.REFRESH_SECONDS", 0)
    assert main([*COMMAND]) == 0
    shown = screen.getvalue()
    for what in ("pass one: words", "learning", "half samples", "1 of 4 runs", "4 of 4 runs"):
        assert what in shown
    assert max(len(part) for part in shown.split("\r")) <= 79

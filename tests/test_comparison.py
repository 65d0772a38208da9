"""What the experiments on real text are measured by: definitions, invariances, resumption."""

import importlib.util
import math
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import RidgeCV

from topicprism import Model
from topicprism.datasets import make_slda
from topicprism.evaluation import pr2
from topicprism.inference import infer
from topicprism.kernels import variational as kernels

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))  # last: tests go first
import agreement
import permuted
import relatives
from comparison import records, rivals, scores, targets
from comparison.corpora import Source, Split
from comparison.tables import Results, Row, between, differences, fold_tables, overview


@pytest.fixture(scope="module")
def simulated():
    X, y, truth = make_slda(500, n_words=60, n_topics=3, doc_length=60, random_state=0)
    return Split(X[:400], y[:400], X[400:], y[400:]), truth


@pytest.fixture
def script():
    """experiments/real_text.py, under a name that no module of the tests has."""
    path = Path(agreement.__file__).with_name("real_text.py")
    spec = importlib.util.spec_from_file_location("experiment_of_real_text", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(corpus="imdb", fold=0, method="default", **values):
    blank = {"k": 20, "pr2": 0.5, "pr2_same": 0.4, "log_likelihood": -7.0, "npmi": 0.1}
    blank |= {"effective_topics": 15.0, "seconds": 1.0, "settings": ""}
    return Row(corpus, fold, method, **(blank | values))


# --- measures -------------------------------------------------------------------------


def test_effective_topics_of_known_shares():
    assert scores.effective_topics(np.full((4, 7), 1 / 7)) == pytest.approx(7)
    assert scores.effective_topics(np.eye(5)) == pytest.approx(5)  # each document another one
    assert scores.effective_topics(np.eye(5)[[2, 2]]) == pytest.approx(1)
    entropy = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert scores.effective_topics(np.array([[0.9, 0.1]])) == pytest.approx(math.exp(entropy))


def test_the_same_regression_is_the_one_it_is_said_to_be(simulated):
    """By hand: the settings with the least leave-one-out error, then one ridge regression."""
    s, truth = simulated
    best = np.inf
    for m in scores.variants(truth, scores.REGRESSION_ALPHA0):
        known, new = infer(m, s.X), infer(m, s.X_test)
        ridge = RidgeCV(scores.RIDGE_PENALTIES).fit(known, s.y)
        if -ridge.best_score_ < best:
            best, expected = -ridge.best_score_, pr2(s.y_test, ridge.predict(new))
    assert scores.same_regression(truth, s) == pytest.approx(expected, abs=1e-9)
    assert expected > 0.8


def test_measures_do_not_depend_on_order_of_topics_or_on_own_settings(simulated):
    s, truth = simulated
    other = replace(truth.reordered(np.array([2, 0, 1])).with_alpha0(7.0), burstiness=0.5)
    for measure in (scores.same_regression, scores.word_likelihood, scores.coherence):
        assert_allclose(measure(other, s), measure(truth, s), atol=1e-6)
    units = replace(s, y=100 - 20 * s.y, y_test=100 - 20 * s.y_test)
    assert_allclose(
        scores.same_regression(truth, units), scores.same_regression(truth, s), atol=1e-6
    )


def test_settings_of_a_measure_are_not_chosen_on_test_documents(simulated, monkeypatch):
    s, truth = simulated
    seen = []

    def completion(model, X, rng, n_threads):
        seen.append(X)
        return float(-X.shape[0])

    monkeypatch.setattr(scores, "completion_log_likelihood", completion)
    scores.word_likelihood(truth, s)
    assert [X.shape[0] for X in seen] == [400] * 12 + [100]


# --- rivals ---------------------------------------------------------------------------


def test_parts_to_choose_on_are_of_training_documents(simulated):
    s, _ = simulated
    parts = list(rivals.held_out(s, 5, 300))
    assert_array_equal(np.sort(np.concatenate([p.y_test for p in parts])), np.sort(s.y[:300]))
    for part in parts:
        assert len(part.y) == 240
        assert not set(part.y) & set(part.y_test)
        assert not set(s.y_test) & (set(part.y) | set(part.y_test))


def test_a_small_corpus_is_held_out_more_than_once(simulated):
    s, _ = simulated
    assert len(rivals.enough(rivals.held_out(s, 5))) == 5
    many = Split(*(np.zeros(n) for n in (10_000, 10_000, 1, 1)))
    assert len(rivals.enough(rivals.held_out(many, 5))) == 1


def test_the_best_value_is_the_one_of_the_highest_mean_score(simulated):
    s, _ = simulated

    def guess(value):
        return lambda part: rivals.Answer(None, np.full(len(part.y_test), value), 0.0)

    near = s.y.mean()
    assert rivals.best([near + 3, near, near - 1], guess, list(rivals.held_out(s, 3))) == near


def test_test_responses_change_no_prediction_of_ridge(simulated):
    s, _ = simulated
    one, other = rivals.ridge(s), rivals.ridge(replace(s, y_test=-s.y_test))
    assert one.settings == other.settings
    assert_array_equal(one.y_hat, other.y_hat)
    assert pr2(s.y_test, one.y_hat) > 0.6


def test_words_are_written_out_for_other_libraries(simulated):
    s, _ = simulated
    (first, *_), d = rivals.tokens(s.X), s.X[[0]].toarray()[0]
    assert_array_equal(np.bincount([int(w) for w in first], minlength=len(d)), d)


# --- two samples, and none ------------------------------------------------------------


def test_topics_in_another_order_are_matched(rng):
    mu = rng.dirichlet(np.full(50, 0.1), 4).T
    one = Model(np.ones(4), mu, np.zeros(4), 1.0)
    order = np.array([2, 0, 3, 1])
    a, b, similarity = agreement.matched(one, one.reordered(order))
    assert_array_equal(order[b], a)
    assert_allclose(similarity, 1)
    assert agreement.words_in_common(one, one.reordered(order), a, b) == 1


def test_topics_without_a_word_in_common_are_not_similar():
    one, other = (Model(np.ones(1), mu, np.zeros(1), 1.0) for mu in np.eye(4)[:2, :, None])
    assert agreement.matched(one, other)[2] == 0


def test_differences_of_effects_are_in_standard_errors():
    one = SimpleNamespace(coef_=np.array([1.0, 2.0, 3.0]), coef_std_=np.array([3.0, 0.0, np.nan]))
    other = SimpleNamespace(coef_=np.array([2.0, 0.0, 6.0]), coef_std_=np.array([1.0, 0.0, 4.0]))
    at = np.arange(3)
    assert_allclose(agreement.z_scores(one, other, at, at[[2, 1, 0]]), [-1, np.nan, np.nan])
    without = SimpleNamespace(coef_=one.coef_)
    assert np.isnan(agreement.z_scores(one, without, at, at)).all()
    assert np.isnan(agreement.z_scores(None, None, at, at)).all()  # other libraries'


def test_effects_of_permuted_responses_are_measured_from_the_mean():
    fitted = SimpleNamespace(coef_=np.array([1.0, 5.0, 3.0]), coef_std_=np.array([1.0, 0.5, 0.0]))
    assert_allclose(permuted.z_scores(fitted, 3.0), [2, 4, np.nan])
    assert np.isnan(permuted.z_scores(SimpleNamespace(coef_=fitted.coef_), 3.0)).all()


def test_topics_without_an_interval_are_counted_apart():
    blank = permuted.Row("toy", "default", "3", 0, 3, 0, 3, np.nan, "")
    assert "none shown" in permuted.summary([blank])
    two = permuted.summary([blank, replace(blank, n_beyond=1, n_without_interval=1, largest_z=2.5)])
    assert " ".join(two.split()) == "toy default 3 2 6 4 50.0 % 2.5"


# --- rows, tables and targets ---------------------------------------------------------


def test_rows_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "rows.csv"
    assert records.read(Row, path) == []
    rows = [row(settings='C=30, "a"'), row(fold=1, pr2=math.nan)]
    for one in rows:
        records.keep(one, path)
    first, second = records.read(Row, path)
    assert first == rows[0]
    assert math.isnan(second.pr2)
    assert second.score == second.pr2_same == 0.4
    with pytest.raises(SystemExit, match="has the columns corpus, fold, method"):
        records.read(permuted.Row, path)


def test_a_run_goes_on_where_it_was_stopped(script, simulated, tmp_path, monkeypatch):
    s, truth = simulated
    (tmp_path / "there.npz").touch()
    source = Source(str(tmp_path / "there.npz"))  # counts only: no bigrams
    calls = []

    def answering(name):
        def fit(part):
            calls.append(name)
            return rivals.Answer(truth, part.y_test, 1.0)

        return fit

    names = ("ridge", "ridge, bigrams", "default")
    monkeypatch.setattr(script, "CORPORA", {"toy": source})
    monkeypatch.setattr(script, "fold", lambda corpus, i: s)
    monkeypatch.setattr(script, "rivals", lambda effort: {n: answering(n) for n in names})
    monkeypatch.setattr(script, "gibbs", lambda k, effort: answering(f"Gibbs {k}"))
    path, every = tmp_path / "rows.csv", [*names, script.SAME_K]
    script.run(["toy"], ["ridge"], 1, path=path)
    assert calls == ["ridge"]
    script.run(["toy"], every, 2, path=path)  # chains of as many topics as the default's three
    assert calls[1:] == ["default", "ridge", "default", "Gibbs 3", "Gibbs 3"]
    script.run(["toy"], every, 2, path=path)
    assert len(calls) == 6
    assert {r.pr2 for r in records.read(Row, path)} == {1.0}


def test_tables_have_means_over_folds_and_shares_of_the_same_fold():
    rows = [row(fold=i, pr2=p) for i, p in enumerate((0.4, 0.6))]
    rows += [row(fold=i, method="ridge", k=0, pr2=p) for i, p in enumerate((0.8, 0.6))]
    results = Results(rows)
    table = fold_tables(results, ["ridge", "default"])
    assert table[1] == "#### imdb"
    assert table[-2].startswith("| ridge | 2 |  | 0.700 ± 0.100 |")
    assert table[-1].startswith(
        "| default | 2 | 20 | 0.500 ± 0.100 | 0.400 ± 0.000 | 0.75 ± 0.25 |"
    )
    assert differences(results)[-1].startswith("| imdb | -0.200 ± 0.200 |  |")
    page = "a\n<!-- folds -->\nold\n<!-- end of folds -->\nb"
    assert between(page, "folds", ["new"]) == page.replace("old\n", "new\n\n")
    with pytest.raises(SystemExit, match="no marks 'targets'"):
        between(page, "targets", ["new"])


def test_one_fold_has_no_deviation():
    results = Results([row(pr2=0.6), row(method="ridge", k=0, pr2=0.8)])
    table = fold_tables(results, ["ridge", "default"])
    assert table[-1].startswith("| default | 1 | 20 | 0.600 | 0.400 | 0.75 |")
    assert differences(results)[-1].startswith("| imdb | -0.200 |  |")


def test_the_best_other_topic_model_is_held_against_ours_on_its_own_folds():
    rows = [row(fold=i, pr2=p) for i, p in enumerate((0.4, 0.6))]
    rows += [row(fold=i, method="ridge", k=0, pr2=p) for i, p in enumerate((0.4, 0.8, 0.1))]
    rows += [row(fold=i, method="Gibbs", pr2=p) for i, p in enumerate((0.3, 0.5))]
    rows += [row(fold=1, method="one fold", pr2=0.45), row(corpus="other", method="Gibbs")]
    rows += [row(fold=i, method="LDA", pr2=math.nan, pr2_same=0.42) for i in range(2)]
    begin = "| imdb | 2 | 0.500 | 0.600 | 0.88 |"
    assert overview(Results(rows))[2:] == [f"{begin} -0.050 (Gibbs, 2 folds) |"]
    rows += [row(fold=1, method="MedLDA", pr2=0.1, pr2_same=0.58)]  # by the regression
    assert overview(Results(rows))[2] == f"{begin} -0.020 (MedLDA, 1 fold) |"


def test_pages_have_the_tables_of_the_rows_kept(script, tmp_path, monkeypatch):
    """``experiments/real_text.py --page`` has been run.  Lines in any order: that of methods is the
    order of those installed."""
    pages = script.PAGE, script.README
    copies = [tmp_path / page.name for page in pages]
    for page, copy in zip(pages, copies, strict=True):
        copy.write_text(page.read_text())
    monkeypatch.setattr(script, "PAGE", copies[0])
    monkeypatch.setattr(script, "README", copies[1])
    script.pages()
    for page, copy in zip(pages, copies, strict=True):
        assert sorted(copy.read_text().splitlines()) == sorted(page.read_text().splitlines())


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        ({"method": "ridge", "pr2": 1.0}, {"pr2": 0.97}, "pass share of the pR2 of ridge"),
        ({"method": "ridge", "pr2": 1.0}, {"pr2": 0.96}, "FAIL share of the pR2 of ridge"),
        ({"method": "GibbsSLDA"}, {"log_likelihood": -7.0}, "pass log-likelihood"),
        ({"method": "GibbsSLDA"}, {"log_likelihood": -7.02}, "FAIL log-likelihood"),
        ({"method": "GibbsSLDA", "k": 10}, {}, "not measured log-likelihood"),
        ({"method": "GibbsSLDA, k of default", "k": 10}, {"k": 10}, "pass log-likelihood"),
        ({"method": "tomotopy LDA"}, {"npmi": 0.2}, "not measured NPMI"),  # one of the two
        ({"method": "tomotopy LDA"}, {"npmi": 0.11}, "FAIL NPMI"),  # whatever the other is
        ({"method": "GibbsSLDA"}, {"effective_topics": 11.1}, "pass effective topics"),
        ({"method": "GibbsSLDA"}, {"effective_topics": 10.9}, "FAIL effective topics"),
    ],
)
def test_targets(theirs, ours, told):
    found = targets.verdicts(Results([row(**ours), row(**theirs)]), ["hotel_reviews", "imdb"])
    lines = [" ".join(str(v).split()) for v in found if v.corpus == "imdb"]
    assert sum(line.startswith(told) for line in lines) == 1


def test_the_table_of_targets_marks_those_missed():
    rows = [row(pr2=0.96), row(method="ridge", k=0, pr2=1.0)]
    rows += [row(corpus="poliblog"), row(corpus="poliblog", method="ridge", k=0, pr2=0.5)]
    corpora = ["hotel_reviews", "imdb", "poliblog"]
    lines = targets.target_table(Results(rows), corpora)
    assert lines[0].startswith("| | share of the pR2 of ridge | log-likelihood less")
    assert [line.split(" | ")[0] for line in lines[2:]] == [
        *(f"| {name}" for name in corpora),
        "| mean of the others",
        "| at least",
    ]
    assert lines[3].startswith("| imdb | 0.960 (missed) |  |  | 0.750 |")
    assert lines[5].startswith("| mean of the others | 1.000 |  |")
    assert lines[6].startswith("| at least | 1, 0.97, 0.95 | -0.01 | 0.02 | 0.55 |")


def test_coherence_is_compared_with_the_better_one_of_tomotopys():
    rows = [row(npmi=0.2), row(method="tomotopy LDA", npmi=0.19)]
    rows.append(row(method="tomotopy SLDA", npmi=0.1))
    found = {v.target: v for v in targets.verdicts(Results(rows), ["hotel_reviews", "imdb"])}
    assert found["NPMI less tomotopy's better one"].value == pytest.approx(0.01)
    others = targets.verdicts(Results([]), ["hotel_reviews", "imdb", "poliblog"])
    assert all(str(v).startswith("not measured") for v in others)


# --- relatives --------------------------------------------------------------------------


def test_the_mean_field_of_new_documents_is_that_of_training_without_a_response(simulated):
    split, truth = simulated
    truth = replace(truth, alpha=np.full(truth.n_topics, 2.0))  # less converges too slowly to tell
    X, k = split.X_test[:20], truth.n_topics
    words = [np.repeat(row.indices, row.data) for row in (X[[i]] for i in range(20))]
    indptr = np.r_[0, np.cumsum([len(w) for w in words])]
    n = np.diff(indptr)[:, None]
    phi, gamma = np.full((indptr[-1], k), 1 / k), truth.alpha + n / k
    kernels.gaussian(
        indptr, np.concatenate(words), np.log(truth.mu), truth.alpha, np.zeros(20), np.zeros(k),
        1.0, 1000, 1e-9, phi, gamma, np.empty(20),
    )  # fmt: skip
    assert_allclose(relatives.mean_field(truth, X), (gamma - truth.alpha) / n, atol=1e-3)

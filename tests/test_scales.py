"""Responses fitted on a logarithmic scale and shown on their own."""

import json
import shutil
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from running import run
from sklearn.base import clone
from small_texts import small_texts
from test_page_script import RUN, by_node

import topicprism
from topicprism import HeavyTailWarning, MedLDAClassifier, SpectralLDA, SpectralSLDA, scales
from topicprism.pipeline.provenance import MAX_SAMPLE, Thinned
from topicprism.show.effects import effects
from topicprism.show.report import render, summarise
from topicprism.show.report.page import _for_script

TEXTS, STARS = small_texts(400)
NOISE = np.random.default_rng(1).standard_normal(400)
VIEWS = np.exp(1.5 * STARS - 1 + 0.7 * NOISE)
WITH_ZEROS = np.floor(VIEWS / 5)
OPTIONS = {"estimator": SpectralSLDA, "n_topics": 3, "max_df": 1.0}


@pytest.fixture(scope="module", params=["log", "log1p"])
def case(request):
    y = VIEWS if request.param == "log" else WITH_ZEROS
    return request.param, y, topicprism.fit(TEXTS, y, log=True, **OPTIONS)


def test_the_estimator_sees_logarithms_and_predictions_are_on_the_scale_of_y(case):
    """The same estimator, fitted by hand to the logarithms."""
    scale, y, made = case
    by_hand = topicprism.fit(TEXTS, getattr(np, scale)(y), **OPTIONS)
    inverse = {"log": np.exp, "log1p": lambda z: np.maximum(np.expm1(z), 0)}[scale]
    assert made.info["log"] == scale
    assert_allclose(made.predict(TEXTS), inverse(by_hand.predict(TEXTS)))
    assert_allclose(effects(made).coef, inverse(effects(by_hand).coef))
    assert_allclose(effects(made).interval, inverse(np.array(effects(by_hand).interval)))
    told = getattr(np, scale)(made.predict(TEXTS))
    z = getattr(np, scale)(y)
    assert_allclose(made.score(TEXTS, y), 1 - ((z - told) ** 2).sum() / ((z - z.mean()) ** 2).sum())


def test_a_file_keeps_the_scale(case, tmp_path):
    scale, _, made = case
    made.save(tmp_path / "m.tprism")
    again = topicprism.load(tmp_path / "m.tprism")
    assert again.info["log"] == scale
    assert again.log
    assert_array_equal(again.predict(TEXTS, return_std=True), made.predict(TEXTS, return_std=True))
    assert clone(made).log


def test_a_scale_that_does_not_exist_is_refused(case, tmp_path):
    made = clone(case[2]).fit(TEXTS, case[1])
    made.info_["log"] = "log2"
    with pytest.raises((topicprism.FileError, ValueError), match="log2"):
        made.save(tmp_path / "m.tprism")


def test_logarithms_predict_heavy_tails_better():
    train, test = slice(0, 300), slice(300, None)
    raw, logs = (
        topicprism.fit(TEXTS[train], VIEWS[train], log=log, **OPTIONS).predict(TEXTS[test])
        for log in (None, True)
    )
    wrong = [np.abs(found - VIEWS[test]).mean() for found in (raw, logs)]
    assert wrong[1] < 0.8 * wrong[0]


def test_the_deviation_is_that_of_a_log_normal():
    """Against the moments of many draws."""
    y = np.exp(1.3 + 0.5 * np.random.default_rng(0).standard_normal(1_000_000))
    assert_allclose(scales.unscaled_std("log", 1.3, 0.5), y.std(), rtol=0.01)  # 3 standard errors
    assert_allclose(scales.unscaled_std("log1p", 1.3, 0.5), (y - 1).std(), rtol=0.01)


def test_negative_responses_have_no_logarithm():
    with pytest.raises(ValueError, match="the lowest is -3"):
        topicprism.fit(TEXTS, np.r_[-3.0, VIEWS[1:]], log=True, **OPTIONS)
    made = topicprism.fit(TEXTS, VIEWS, log=True, **OPTIONS)
    with pytest.raises(ValueError, match="positive, but got one of 0"):
        made.score(TEXTS[:2], [0.0, 1.0])


@pytest.mark.parametrize(
    ("estimator", "y"), [(MedLDAClassifier, np.where(STARS > 3, "a", "b")), (SpectralLDA, None)]
)
def test_only_numbers_have_logarithms(estimator, y):
    with pytest.raises(ValueError, match="a logarithm needs an estimator of numbers"):
        topicprism.fit(TEXTS, y, estimator=estimator, n_topics=3, max_df=1.0, log=True)


HEAVY = {
    "log-normal": lambda r: np.exp(r.normal(3, 1.5, 2000)),
    "Pareto": lambda r: 1 + r.pareto(1.5, 2000),
    "counts": lambda r: np.floor(np.exp(r.normal(1, 1.5, 2000))),
}
LIGHT = {
    "normal": lambda r: r.normal(10, 1, 2000),
    "uniform": lambda r: r.uniform(0, 1, 2000),
    "Poisson": lambda r: r.poisson(2.0, 2000),
    "stars": lambda r: r.choice(5, 2000, p=[0.1, 0.1, 0.2, 0.3, 0.3]) + 1,
    "mostly 5 stars": lambda r: r.choice(5, 2000, p=[0.04, 0.03, 0.03, 0.05, 0.85]) + 1,
    "mostly 1 star": lambda r: r.choice(5, 2000, p=[0.85, 0.05, 0.03, 0.03, 0.04]) + 1,
    "mostly 0 of 5": lambda r: r.choice(6, 2000, p=[0.8, 0.05, 0.05, 0.03, 0.03, 0.04]),
    "mostly 1 of 10": lambda r: r.choice(10, 2000, p=[0.82] + 9 * [0.02]) + 1,
    "rare ones": lambda r: r.random(2000) < 0.02,
    "negative": lambda r: -np.exp(r.normal(3, 1.5, 2000)),
    "constant": lambda r: np.ones(2000),
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", [*HEAVY, *LIGHT])
def test_heavy_tails_are_told_from_others(name, seed):
    y = (HEAVY | LIGHT)[name](np.random.default_rng(seed))
    assert scales.is_heavy_tailed(y) == (name in HEAVY)


def test_python_warns_of_heavy_tails_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        topicprism.fit(TEXTS, VIEWS, **OPTIONS)
        topicprism.fit(TEXTS, VIEWS, log=True, **OPTIONS)
        topicprism.fit(TEXTS, STARS, **OPTIONS)
    heavy = [w for w in caught if w.category is HeavyTailWarning]
    assert [w.filename for w in heavy] == [__file__]
    assert "log=True" in str(heavy[0].message)


def test_a_sample_does_not_depend_on_the_cuts():
    numbers = np.arange(3 * MAX_SAMPLE + 7.0)
    whole, parts = Thinned(), Thinned()
    whole.add(numbers)
    for part in np.split(numbers, [0, 1, 5, 20_001, 20_002, 47_123]):
        parts.add(part)
    assert_array_equal(whole.values, numbers[::4])
    assert_array_equal(parts.values, whole.values)


def test_the_page_is_told_on_the_scale_of_y(case):
    _, y, made = case
    page = summarise(made, TEXTS, y, response="views")
    html = render(page)
    assert "Geometric mean of views" in html
    assert "predicted log views" in html
    assert "Expected views" not in html
    assert_allclose([t.effect for t in page.topics], effects(made).coef)
    assert_allclose(page.fit.pr2, made.score(TEXTS, y))
    shown = ticks_of(html)
    assert all(text.replace(",", "").replace(".", "").isdigit() for text in shown)
    assert "geometric mean" in made._repr_html_()
    facts = _for_script(page)
    if shutil.which("node"):
        script = RUN.replace("[r.h, r.std, r.converged]", "[r.y, r.std]")
        told = np.array(by_node(script, [facts, TEXTS[:40]]))
        assert_allclose(told.T, made.predict(TEXTS[:40], return_std=True), rtol=1e-5, atol=1e-5)


def ticks_of(html):
    """The numbers above the effects."""
    axis = html.split('class="x-axis"')[1].split("</svg>")[0]
    return [part.split("<")[0] for part in axis.split('y="14">')[1:]]


def write(path, y):
    lines = [f"{text},{value!r}" for text, value in zip(TEXTS, y.tolist(), strict=True)]
    path.write_text("\n".join(["text,views", *lines]))


@pytest.mark.parametrize("zeros", [False, True])
def test_the_command_does_what_python_does(zeros, tmp_path, capsys):
    y = WITH_ZEROS if zeros else VIEWS
    table, model = tmp_path / "t.csv", tmp_path / "m.tprism"
    write(table, y)
    words = ["--max-df", "1.0", "--n-topics", "3", "--model", "spectral", "--held-out", "0.2"]
    page = tmp_path / "p.html"
    status, out, errors = run(capsys, "fit", table, "--log", "-o", model, "--report", page, *words)
    assert status == 0
    assert "geometric means" in out
    assert "predictive R2 of logarithms" in out
    assert "heavy" not in errors
    assert "Geometric mean of views" in page.read_text()
    made = topicprism.load(model)
    assert made.info["log"] == ("log1p" if zeros else "log")
    scores = made.info["scores"]
    assert scores["topicprism"] > 0.5
    assert scores["TF-IDF + ridge"] > 0.5
    status, out, errors = run(capsys, "predict", model, table, "--std")
    assert status == 0
    assert "R2 of logarithms" in errors
    told = np.array([line.split(",")[1:] for line in out.splitlines()[1:]], float)
    assert_allclose(told.T, made.predict(TEXTS, return_std=True), rtol=1e-5, atol=1e-5)
    listed = json.loads(run(capsys, "topics", model, "--json")[1])["topics"]
    assert_allclose([t["coefficient"] for t in listed], np.sort(effects(made).coef))
    assert "geometric means" in run(capsys, "topics", model)[1]
    assert run(capsys, "report", model, table, "-o", tmp_path / "q.html")[0] == 0
    assert "predicted log views" in (tmp_path / "q.html").read_text()


def test_the_command_offers_logarithms_and_refuses_what_has_none(tmp_path, capsys):
    table, model = tmp_path / "t.csv", tmp_path / "m.tprism"
    words = ["--max-df", "1.0", "--n-topics", "3", "--model", "spectral", "-o", model]
    write(table, VIEWS)
    status, _, errors = run(capsys, "fit", table, *words)
    assert status == 0
    assert len([line for line in errors.splitlines() if "--log" in line]) == 1
    write(table, STARS)
    assert "--log" not in run(capsys, "fit", table, *words)[2]
    write(table, np.r_[-1.0, VIEWS[1:]])
    status, _, errors = run(capsys, "fit", table, "--log", *words)
    assert status != 0
    assert "the lowest is -1" in errors
    status, _, errors = run(capsys, "fit", table, "--log", "--model", "lda", "-o", model)
    assert status != 0
    assert "--log has no use with --model lda" in errors

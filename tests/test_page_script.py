"""The arithmetic of the page's script, run by node, against Python's."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pages import pipeline

from topicprism import Model
from topicprism.inference import EPInference, posterior
from topicprism.show.effects import effects
from topicprism.show.report import summarise
from topicprism.show.report.page import _for_script

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
import overlap

RUN = """
const [facts, texts] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const page = reader(facts);
const answer = (r) => [r.h, r.std, r.converged];
console.log(JSON.stringify(texts.map((t) => answer(page.read(t)))));
"""

RANK = """
const [facts, weights] = JSON.parse(require("fs").readFileSync(0, "utf8"));
const page = reader(facts);
console.log(JSON.stringify(weights.map((w) => facts.eta.map((_, i) => page.relevant(i, w, 40)))));
"""


def by_node(script, given):
    folder = files("topicprism.show.report")
    parts = (folder.joinpath(name).read_text("utf-8") for name in ("faces.js", "reader.js"))
    script = "".join(parts) + script
    done = subprocess.run(
        ["node", "-e", script], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize(
    ("k", "alpha0", "burstiness"),
    [
        (12, 0.1, 0.0),
        (12, 0.1, 0.75),
        (12, 3.6, 0.0),
        (12, 3.6, 0.75),
        (12, 100.0, 0.75),
        (2, 0.1, 0.0),
        (3, 0.03, 0.75),
        (5, 1.0, 0.0),
    ],
)
def test_the_script_answers_as_python_does(k, alpha0, burstiness):
    """Documents that settle, that are filtered, that are long, joined ones, and sparse priors."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(300)]
    mu = rng.dirichlet(np.full(300, 0.05), k).T
    alpha = rng.gamma(0.3, size=k) + 1e-3
    made = pipeline(
        words, mu, 1e3 * rng.standard_normal(k), alpha * alpha0 / alpha.sum(), burstiness
    )
    p = rng.dirichlet(np.full(300, 0.5))
    lengths = [*rng.integers(1, 60, 60), *rng.integers(60, 900, 20), 1500, 5000, 20_000]
    texts = ["", *(" ".join(rng.choice(words, n, p=p)) for n in lengths)]
    got = by_node(RUN, [_for_script(summarise(made)), texts])
    known = posterior(made["topics"].model_, made["counts"].transform(texts))
    assert_allclose([g[0] for g in got], known.h, atol=1e-6)
    assert_allclose([g[1] for g in got], made.predict(texts, return_std=True)[1], rtol=1e-6)
    assert [g[2] for g in got] == known.converged.tolist() == [True] * len(texts)


def long_and_short():
    """Few sweeps are too few for the long ones."""
    rng = np.random.default_rng(0)
    mu = rng.dirichlet(np.full(60, 3.0), 12).T
    X = np.array(
        [rng.multinomial(n, mu @ np.full(12, 1 / 12)) for n in [5, 20, 80, 1500, 5000] * 3]
    )
    return Model(np.full(12, 0.3), mu / mu.sum(axis=0), np.arange(12.0), 0.4), X


def overlapping():
    """Few points are too few to check some of these."""
    drawn = overlap.draw(overlap.Cell(3, 0.8, 1.0, 10), 30, 0)
    return drawn.model, drawn.counts


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("documents", [long_and_short, overlapping])
def test_the_script_knows_what_has_not_converged(documents):
    model, X = documents()
    words = [f"w{i}" for i in range(model.n_words)]
    made = pipeline(words, model.mu, model.eta, model.alpha)
    how, facts = EPInference(max_sweeps=1), summarise(made)
    stopped = replace(facts, parameters=replace(facts.parameters, max_sweeps=how.max_sweeps))
    texts = [" ".join(np.repeat(words, row)) for row in X.astype(int)]
    known = posterior(made["topics"].model_, made["counts"].transform(texts), how)
    assert 0 < known.converged.sum() < len(texts)
    got = by_node(RUN, [_for_script(stopped), texts])
    assert [g[2] for g in got] == known.converged.tolist()


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_script_ranks_words_as_python_does():
    """Topics of very different shares, with words that no topic has and words of one only."""
    rng = np.random.default_rng(0)
    mu = rng.dirichlet(np.full(300, 0.2), 5).T
    mu[rng.random(mu.shape) < 0.2] = 0
    mu /= mu.sum(axis=0)
    made = pipeline([f"w{i}" for i in range(300)], mu, [1, 2, 3, 4, 5], [5, 3, 1, 0.1, 0.01])
    weights = [0.0, 0.3, 0.6, 1.0]
    got = by_node(RANK, [_for_script(summarise(made)), weights])
    for weight, ranked in zip(weights, got, strict=True):
        assert ranked == [ids.tolist() for ids in effects(made).top_ids(40, weight=weight)]

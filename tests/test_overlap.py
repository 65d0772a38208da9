"""Overlapping topics under a sparse prior, against the oracle of ``experiments/overlap.py``."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import enumerated, three_topics, two_topics
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from topicprism import EPInference, Model
from topicprism.inference import posterior

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
import inference_grid as grid
import overlap

CELLS = [  # of each number of topics, where sweeps alone were off by 0.12 to 0.26
    overlap.Cell(2, 0.9, 0.1, 1000),
    overlap.Cell(2, 0.95, 0.03, 1000),
    overlap.Cell(3, 0.5, 0.03, 100),
    overlap.Cell(3, 0.8, 1.0, 100),
    overlap.Cell(3, 0.95, 0.3, 5000),
    overlap.Cell(4, 0.9, 0.3, 1000),
]


@pytest.mark.parametrize("cell", CELLS)
def test_a_confident_answer_is_within_a_twentieth(cell):
    away, converged = overlap.errors(cell, 20)
    assert away[converged].max() < 0.06  # 0.04 from the integrals, and their own error
    assert away.max() < 0.15
    assert converged.mean() > 0.9


@pytest.mark.parametrize(("alpha0", "length"), [(0.3, 30), (1.0, 30), (1.0, 100)])
def test_four_topics_that_overlap_against_long_chains(alpha0, length, monkeypatch):
    """All four share words; sweeps alone were off by up to 0.1."""
    monkeypatch.setitem(overlap.GROUPS, 4, (4,))
    model, counts = overlap.draw(overlap.Cell(4, 0.5, alpha0, length), 5, 0)
    h = posterior(model, csr_array(counts)).h
    for n, found in zip(counts, h, strict=True):
        mean, _, apart = grid.pooled(grid.chains(model.alpha, model.mu, model.eta, n, 2500, 0))
        assert np.abs(found - mean).sum() < 0.04 + apart


@pytest.mark.parametrize("alpha0", [0.03, 0.3, 1.0])
def test_the_standard_deviation_is_the_posterior_s(alpha0):
    drawn = overlap.draw(overlap.Cell(2, 0.9, alpha0, 1000), 12, 0)
    known = posterior(drawn.model, csr_array(drawn.counts))
    exact = np.array([two_topics(drawn.model.alpha, drawn.model.mu, n)[1] for n in drawn.counts])
    std = np.sqrt(known.variance(np.array([1.0, 0.0])))
    assert np.abs(std - exact).max() < 0.05


def test_the_order_of_topics_does_not_matter(rng):
    drawn = overlap.draw(overlap.Cell(3, 0.9, 0.3, 100), 12, 1)
    model, order = drawn.model, rng.permutation(3)
    other = Model(model.alpha[order], model.mu[:, order], model.eta[order], model.sigma)
    X = csr_array(drawn.counts)
    assert_allclose(posterior(other, X).h, posterior(model, X).h[:, order], atol=1e-6)


def test_the_oracle_of_three_topics_is_the_sum_over_assignments(rng):
    alpha, mu = np.array([0.02, 0.1, 0.3]), rng.dirichlet(np.ones(6), 3).T
    words = [0, 3, 3, 5, 1]
    expected, _ = enumerated(alpha, mu, np.zeros(3), words)
    found = three_topics(alpha, mu, np.bincount(words, minlength=6))
    assert_allclose(found, expected, atol=1e-5)


def test_an_answer_that_is_not_sure_is_said():
    """Six batches of points are too few for this document; a hundred are enough."""
    cell = overlap.Cell(3, 0.8, 1.0, 10)
    drawn = overlap.draw(cell, 30, 0)
    X = csr_array(drawn.counts)
    with pytest.warns(ConvergenceWarning, match="of 30 documents"):
        few = posterior(drawn.model, X, EPInference(max_sweeps=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = posterior(drawn.model, X)
    assert few.converged.sum() < many.converged.sum()

"""Topic proportions against an oracle, over length, sparsity, number and shape of topics.

Documents are drawn from the prior of their model.  The oracle's numbers are in
``golden/inference_grid.npz``, made by ``experiments/inference_grid.py --write``;
``experiments/inference.py --grid`` prints all errors.
"""

import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from topicprism import Model
from topicprism.inference import posterior

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))
import inference_grid as grid

ORACLE = grid.stored()

# The mean L1 that is allowed in a cell, beside what the oracle may be off by; one number for each
# of the lengths 3, 10, 30, 100, 300, 1000, 10^4, 10^6.  It is at most a fifth above the worst
# sum of alpha, or 0.005: in no cell of two or of five peaked topics is anything lost; 20 and 50
# topics are where a Dirichlet, which has one number for all correlations, fits worst; topics that
# are much alike are worst at 100 words and a sum of alpha of 1 to 3, where the posterior
# has modes but says more than min_known_words, so that sweeps are believed.
LIMITS = {
    ("peaked", 2): (0.01, 0.005, 0.005, 0.005, 0.005, 0.005, 0.002, 0.002),
    ("peaked", 5): (0.04, 0.02, 0.016, 0.005, 0.005, 0.005, 0.002, 0.002),
    ("peaked", 20): (0.073, 0.08, 0.061, 0.045, 0.026, 0.03, 0.006, 0.005),
    ("peaked", 50): (0.108, 0.22, 0.174, 0.097, 0.081, 0.094, 0.039, 0.04),
    ("flat", 2): (0.005, 0.005, 0.01, 0.013, 0.013, 0.009, 0.01, 0.005),
    ("flat", 5): (0.016, 0.025, 0.049, 0.048, 0.092, 0.053, 0.033, 0.027),
    ("flat", 20): (0.017, 0.057, 0.077, 0.16, 0.106, 0.142, 0.067, 0.055),
    ("flat", 50): (0.021, 0.04, 0.076, 0.273, 0.191, 0.137, 0.098, 0.08),
}


@cache
def errors(cell):
    """L1 of the means, standard deviations of eta . h and the oracle's: one per document."""
    drawn = grid.draw(cell)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # all of them settle
        known = posterior(Model(drawn.alpha, drawn.mu, drawn.eta, 0.1), csr_array(drawn.counts))
    away = np.abs(known.h - ORACLE[cell].mean).sum(axis=1)
    return away, np.sqrt(known.variance(drawn.eta)), ORACLE[cell].std


def own(cell):
    """What the oracle's mean may itself be off by: half of how far one chain is from four."""
    return ORACLE[cell].apart.mean() / 2


@pytest.mark.parametrize("alpha0", grid.ALPHA0)
@pytest.mark.parametrize("length", grid.LENGTHS)
def test_means(length, alpha0):
    for shape in grid.SHAPES:
        for k in grid.TOPICS:
            cell = grid.Cell(length, alpha0, k, shape)
            limit = LIMITS[shape, k][grid.LENGTHS.index(length)]
            assert errors(cell)[0].mean() < limit + own(cell), cell


@pytest.mark.parametrize("alpha0", grid.ALPHA0)
@pytest.mark.parametrize("length", grid.LENGTHS)
def test_standard_deviations(length, alpha0):
    """Of eta . h, eta from -1 to 1; where chains are apart theirs is none to compare with."""
    for shape in grid.SHAPES:
        for k in grid.TOPICS:
            cell = grid.Cell(length, alpha0, k, shape)
            _, std, exact = errors(cell)
            sure = ORACLE[cell].apart < 0.05
            assert (np.abs(std - exact)[sure] < 0.11).all(), cell
            if length <= 100 and k <= 20 and sure.sum() > 2:  # median std 0.03 to 0.5
                assert 0.85 < np.median((std / exact)[sure]) < 1.2, cell


def test_all_cells_together():
    away = np.concatenate([errors(cell)[0] for cell in grid.CELLS])
    assert away.mean() < 0.03  # 0.026, of which the oracle's own noise is a part
    assert np.percentile(away, 95) < 0.14


@pytest.mark.parametrize("alpha0", [0.03, 1.0, 30.0])
@pytest.mark.parametrize(
    ("length", "k", "shape"),
    [(3, 5, "peaked"), (3, 20, "flat"), (300, 2, "flat"), (10**6, 2, "peaked")],
)
def test_kept_numbers_are_those_of_the_same_documents(length, k, shape, alpha0):
    cell = grid.Cell(length, alpha0, k, shape)
    exact = grid.oracle(cell)
    assert_allclose(ORACLE[cell].mean, exact.mean, atol=1e-5)
    assert_allclose(ORACLE[cell].std, exact.std, atol=1e-5)


@pytest.mark.parametrize(("length", "sweeps"), [(30, 1500), (10**4, 300)])
def test_other_chains_find_the_kept_numbers(length, sweeps):
    """Peaked topics, where few sweeps are enough; from other starts, with other seeds."""
    cell = grid.Cell(length, 1.0, 5, "peaked")
    again = grid.oracle(cell, sweeps)
    assert np.abs(again.mean - ORACLE[cell].mean).sum(axis=1).max() < 0.03
    assert_allclose(again.std, ORACLE[cell].std, rtol=0.15)

import numpy as np
import pytest
from scipy.sparse import csr_array

from topicprism.datasets import draw_model


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def text():
    """Documents like real ones: many more topics than anyone asks for, lengths from 3 to 300,
    words in bursts, and a response that only a few words of each topic tell of."""
    rng = np.random.default_rng(0)
    model = draw_model(400, 60, rng, words="zipf")
    feeling = rng.standard_normal(400) * (rng.random(400) < 0.15)
    mood = rng.standard_normal(4000)
    lengths = np.exp(rng.normal(3.8, 0.8, 4000)).astype(int) + 3
    h = rng.dirichlet(np.full(60, 0.05), 4000)
    X = np.zeros((4000, 400), int)
    for d in range(4000):
        p = (model.mu @ h[d]) * np.exp(0.7 * mood[d] * feeling)
        drawn = rng.multinomial(lengths[d], rng.dirichlet(200 * p / p.sum() + 1e-9))
        X[d] = drawn
    y = 3 + mood + 0.5 * rng.standard_normal(4000)
    return csr_array(X), y

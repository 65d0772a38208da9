"""Hotel reviews that were not written for these tests; skipped where they are not.

``experiments/get_data.py`` fetches them.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import topicprism
from topicprism.show.effects import effects
from topicprism.show.report import summarise

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))  # last: tests go first
from comparison.folder import DATA

TABLE = DATA / "hotel_reviews.parquet"
N, N_NEW = 2500, 1000
SPLIT = np.random.default_rng(0).permutation(N)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not TABLE.exists(), reason="the hotel reviews are not there"),
]


@pytest.fixture(scope="module")
def reviews():
    """To learn from, and others to predict."""
    table = pytest.importorskip("pyarrow.parquet").read_table(TABLE).slice(0, N + N_NEW)
    texts, stars = table["text"].to_pylist(), table["rating"].to_numpy()
    return (texts[:N], stars[:N]), (texts[N:], stars[N:])


def test_a_sampled_fit_of_reviews(reviews):
    """It predicts, the order of rows does not matter, and the page has the pipeline's numbers."""
    (texts, stars), (new, given) = reviews
    fitted = topicprism.fit(texts, stars)
    assert "Gibbs chain" in fitted.topics.selection_.reasons["method"]
    assert fitted.score(new, given) > 0.5

    other = topicprism.fit([texts[i] for i in SPLIT], stars[SPLIT])
    assert_array_equal(other.words, fitted.words)
    assert_allclose(other.predict(new), fitted.predict(new), rtol=0, atol=1e-9)
    for name in ("coef_", "coef_std_", "components_"):
        one, two = (getattr(m.topics, name) for m in (fitted, other))
        assert_allclose(two, one, rtol=0, atol=1e-9)

    page, shown = summarise(fitted, new, given, held_out=True), effects(fitted)
    assert page.fit.n == N_NEW
    assert_allclose(page.fit.pr2, fitted.score(new, given))
    assert_allclose(page.fit.rmse, np.sqrt(np.mean((given - fitted.predict(new)) ** 2)))
    assert [t.effect for t in page.topics] == shown.coef.tolist()
    assert [(t.low, t.high) for t in page.topics if t.low is not None] == [
        shown.ends(i) for i in range(len(shown.coef)) if np.isfinite(shown.ends(i)).all()
    ]
    assert page.parameters.noise_variance == fitted.topics.noise_variance_

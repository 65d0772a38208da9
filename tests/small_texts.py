"""Short reviews with a known truth, for tests that begin with texts."""

import numpy as np

THEMES = {
    1.0: ["dirty", "carpet", "stain", "smell", "mould", "broken"],
    3.0: ["street", "bus", "centre", "station", "walk", "map"],
    5.0: ["friendly", "breakfast", "smile", "clean", "garden", "pool"],
}
WORDS = sorted(word for theme in THEMES.values() for word in theme)


def small_texts(n=240, length=18, seed=0):
    """Texts of three themes in unequal parts, and stars that are the mean theme's."""
    rng = np.random.default_rng(seed)
    h = rng.dirichlet(np.full(3, 0.3), size=n)
    stars = np.array(list(THEMES))
    texts = []
    for row in h:
        themes = rng.choice(3, size=length, p=row)
        words = [THEMES[stars[t]][rng.integers(6)] for t in themes]
        texts.append(" ".join(words).capitalize() + ".")
    return texts, h @ stars + 0.1 * rng.standard_normal(n)

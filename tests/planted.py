"""Documents of classes that are easy to tell apart."""

import numpy as np
from scipy.sparse import csr_array


def planted(n_classes, rng, n=600):
    """Each class has its own words, and half of all words belong to none."""
    label = rng.integers(n_classes, size=n)
    p = np.full((n_classes, 10 * n_classes + 20), 0.5 / 20)
    for c in range(n_classes):
        p[c, : 10 * n_classes] = 0.2 / (10 * n_classes)
        p[c, 10 * c : 10 * c + 10] += 0.3 / 10
    return csr_array(rng.multinomial(40, p[label])), np.array(["ash", "birch", "cedar"])[label]

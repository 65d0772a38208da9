"""One file per rival, one function each: ``fit_predict(train, test, n_topics)``.

It returns the seconds that learning took, the predictions for the test documents
and the topics as columns, or None for a rival that has none.  What a rival needs
before it can learn (tokens, dictionaries) is not timed.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Documents:
    X: csr_array
    y: np.ndarray


@dataclass(frozen=True)
class Result:
    seconds: float
    y_hat: np.ndarray
    topics: np.ndarray | None = None  # (V, k)

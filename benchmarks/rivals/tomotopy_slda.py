"""tomotopy's SLDAModel: 100 sweeps, two workers; only the sweeps are timed.

It is told what the spectral methods are told: number of topics, prior and the variance of the
response's noise (``glm_param``), which it does not learn; ``nu_sq`` is the prior variance of its
coefficients.
"""

import warnings
from time import perf_counter

import numpy as np
import tomotopy

from rivals import Result
from rivals.ours import NOISE

SWEEPS = 100


class Chain:
    """A chain that can be looked at and then goes on."""

    def __init__(self, train, n_topics, workers=2, **given):
        given = {"alpha": 1 / n_topics, "seed": 1} | given
        self.model = tomotopy.SLDAModel(k=n_topics, vars="l", **given)
        for words, y in zip(tokens(train.X), train.y, strict=True):
            self.model.add_doc(words, y=[float(y)])
        self.model.train(0)
        self.n_words, self.workers, self.seconds = train.X.shape[1], workers, 0.0

    def sweep(self, times):
        start = perf_counter()
        with warnings.catch_warnings():  # it says that its result depends on the workers
            warnings.simplefilter("ignore", RuntimeWarning)
            self.model.train(times, workers=self.workers)
        self.seconds += perf_counter() - start

    def topics(self):
        found = np.zeros((self.n_words, self.model.k))
        ids = [int(word) for word in self.model.used_vocabs]
        for i in range(self.model.k):
            found[ids, i] = self.model.get_topic_word_dist(i)
        return found

    def predict(self, X):
        new = [self.model.make_doc(words) for words in tokens(X)]
        self.model.infer(new, workers=self.workers)
        return np.array(self.model.estimate(new))[:, 0]


def fit_predict(train, test, n_topics):
    chain = Chain(train, n_topics, glm_param=[NOISE**2])
    chain.sweep(SWEEPS)
    return Result(chain.seconds, chain.predict(test.X), chain.topics())


def tokens(X):
    """Each document as a list of words, as this rival wants it."""
    for d in range(X.shape[0]):
        row = slice(X.indptr[d], X.indptr[d + 1])
        yield np.repeat(X.indices[row], X.data[row]).astype(str).tolist()

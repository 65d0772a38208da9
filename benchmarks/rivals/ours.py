"""topicprism: from CSR counts to a fitted model, two threads.

The prior and the noise are told, or nothing at all is.
"""

from functools import partial
from time import perf_counter

from rivals import Result
from topicprism import SpectralSLDA

NOISE = 0.1  # of ``draw_model``


def fit_predict(train, test, n_topics, method="joint"):
    told = SpectralSLDA(n_topics, method=method, alpha0=1.0, noise_variance=NOISE**2)
    return _timed(told, train, test)


def automatic(train, test, n_topics):
    return _timed(SpectralSLDA(), train, test)


def _timed(model, train, test):
    model.set_params(n_jobs=2, random_state=0)
    start = perf_counter()
    model.fit(train.X, train.y)
    seconds = perf_counter() - start
    return Result(seconds, model.predict(test.X), model.components_.T)


two_stage = partial(fit_predict, method="two-stage")

"""topicprism: from CSR counts to a fitted model, two threads; the prior is told, as to others."""

from functools import partial
from time import perf_counter

from rivals import Result
from topicprism import SpectralSLDA


def fit_predict(train, test, n_topics, method="joint"):
    model = SpectralSLDA(n_topics, method=method, alpha0=1.0, n_jobs=2, random_state=0)
    start = perf_counter()
    model.fit(train.X, train.y)
    seconds = perf_counter() - start
    return Result(seconds, model.predict(test.X), model.components_.T)


two_stage = partial(fit_predict, method="two-stage")

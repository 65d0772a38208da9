"""tomotopy's SLDAModel: 100 sweeps, two workers; only the sweeps are timed.

It is told what the spectral methods are told: number of topics, prior and noise variance, which
it does not learn.
"""

import warnings
from time import perf_counter

import numpy as np
import tomotopy

from rivals import Result
from rivals.ours import NOISE

SWEEPS = 100


def fit_predict(train, test, n_topics):
    told = {"alpha": 1 / n_topics, "glm_param": [NOISE**2]}
    model = tomotopy.SLDAModel(k=n_topics, vars="l", seed=1, **told)
    for words, y in zip(tokens(train.X), train.y, strict=True):
        model.add_doc(words, y=[float(y)])
    model.train(0)
    start = perf_counter()
    with warnings.catch_warnings():  # it says that its result depends on the workers
        warnings.simplefilter("ignore", RuntimeWarning)
        model.train(SWEEPS, workers=2)
    seconds = perf_counter() - start

    topics = np.zeros((train.X.shape[1], n_topics))
    ids = [int(word) for word in model.used_vocabs]
    for i in range(n_topics):
        topics[ids, i] = model.get_topic_word_dist(i)
    new = [model.make_doc(words) for words in tokens(test.X)]
    model.infer(new, workers=2)
    return Result(seconds, np.array(model.estimate(new))[:, 0], topics)


def tokens(X):
    """Each document as a list of words, as this rival wants it."""
    for d in range(X.shape[0]):
        row = slice(X.indptr[d], X.indptr[d + 1])
        yield np.repeat(X.indices[row], X.data[row]).astype(str).tolist()

"""gensim's LdaMulticore with two workers, then ridge on its proportions."""

from time import perf_counter

import numpy as np
from gensim.matutils import Sparse2Corpus
from gensim.models import LdaMulticore
from sklearn.linear_model import RidgeCV

from rivals import Result


def fit_predict(train, test, n_topics):
    bags, new = (list(Sparse2Corpus(d.X, documents_columns=False)) for d in (train, test))
    names = {i: str(i) for i in range(train.X.shape[1])}
    start = perf_counter()
    lda = LdaMulticore(bags, n_topics, names, workers=2, random_state=0)
    ridge = RidgeCV().fit(_proportions(lda, bags), train.y)
    seconds = perf_counter() - start
    return Result(seconds, ridge.predict(_proportions(lda, new)), lda.get_topics().T)


def _proportions(lda, bags):
    gamma, _ = lda.inference(bags)
    return gamma / np.sum(gamma, axis=1, keepdims=True)

"""scikit-learn's LatentDirichletAllocation (batch, two jobs), then ridge on its proportions."""

from time import perf_counter

from sklearn.decomposition import LatentDirichletAllocation
from sklearn.linear_model import RidgeCV

from rivals import Result


def fit_predict(train, test, n_topics):
    start = perf_counter()
    lda = LatentDirichletAllocation(
        n_topics, doc_topic_prior=1 / n_topics, n_jobs=2, random_state=0
    )
    ridge = RidgeCV().fit(lda.fit_transform(train.X), train.y)
    seconds = perf_counter() - start
    topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    return Result(seconds, ridge.predict(lda.transform(test.X)), topics.T)

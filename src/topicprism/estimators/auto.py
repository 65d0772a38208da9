"""The default: the estimator that suits the documents."""

from __future__ import annotations

from topicprism.defaults import AUTO, unless_auto
from topicprism.estimators.parameters import Chosen, Placed, parameters
from topicprism.estimators.spectral import _SupervisedTopics
from topicprism.learn import FitRequest
from topicprism.spectral.settings import Settings


@parameters
class AutoSLDA(Chosen, Placed, _SupervisedTopics):
    """Supervised LDA by the estimator that suits the documents: the default of ``topicprism.fit``.

    If the spectrum of the words shows a clear number of topics (the regime "model"), the estimate
    is that of :class:`SpectralSLDA`, without sampling.  Otherwise (the regime "text") topics of the
    words, found by tensor decomposition, are where a Gibbs chain of 240 sweeps starts, which is
    steered towards better predictions from words (prediction-constrained learning, Hughes et al.
    2018).  At most 40,000 documents are sampled.  With fewer than 2,000 documents or 100,000 words
    nothing is sampled, and topics are those of :class:`SpectralSLDA`; likewise where sampled topics
    predict held-out documents with less than 0.7 of the R2 of topics fitted to the response.

    In the regime "text" effects are cross-fitted: the same is done on each half of the documents,
    and the responses of a half are regressed on the topics of the other.  Topics that the halves do
    not have in common, that are alike or that hold under 1 % of the words are dropped, unless
    ``n_topics`` was given.  Coefficients are associations, not causal effects.

    Parameters
    ----------
    n_topics : int or "auto", default="auto"
        Number of topics.  "auto" begins with 20 on text, goes on to 30 and 50 where documents
        support more, and keeps those that they support.
    alpha0, noise_variance, n_jobs, random_state
        As in :class:`SpectralSLDA`; on text, a given ``alpha0`` is the prior of predictions.

    Attributes
    ----------
    components_, coef_, coef_std_, replication_, cross_fitted_r2_, alpha_, noise_variance_
        As in :class:`SpectralSLDA`.
    predictive_variance_, selection_, spectrum_, eigenvalues_, residual_, n_short_, model_
        As in :class:`SpectralSLDA`.
    n_features_in_ : int
        Words of the vocabulary.

    Examples
    --------
    >>> from topicprism import AutoSLDA
    >>> from topicprism.datasets import make_slda
    >>> X, y, truth = make_slda(4000, n_words=100, n_topics=3, doc_length=80, random_state=0)
    >>> model = AutoSLDA(random_state=0).fit(X[:3000], y[:3000])
    >>> model.components_.shape
    (3, 100)
    """

    noise_variance: float | str = AUTO

    def _request(self) -> FitRequest:
        settings = Settings(noise_variance=unless_auto(self.noise_variance))
        n_topics, alpha0 = unless_auto(self.n_topics), unless_auto(self.alpha0)
        return FitRequest(n_topics, alpha0, settings, sampled=True)

"""Learning without tuning.

::

    auto             the whole procedure on one page
    survey           how many documents and words there are, and in which order they are summed
    result           request and result                          FitRequest, FitResult
    spectrum         number of topics and alpha0 from a sketch   Spectrum
    model_regime     the regime "model": documents that follow sLDA
    noise            a noise variance too small for moments      Estimate
    jackknife        standard errors
    text_regime      the regime "text": documents that do not
    as_printed       the regime "paper": Algorithms 1 and 2, and nothing else
    response_topics  initial topics, those of the response among them
    refine           topics refined by variational Bayes, sampled ones by steering
    ridge            coefficients by a regression on inferred proportions
    crossfit         effects by cross-fitting
    judging          numbers of topics tried, and which topics documents support
    sampled_text     text by steered sampling from spectral topics
    hybrid           the spectral start and the steering of a sampler
    sketch_regime    documents known by their moments alone
    defaults         every constant, with its reason
"""

from topicprism.learn.auto import learn
from topicprism.learn.result import FitRequest, FitResult, Regime, Selection, Trial
from topicprism.learn.sketch_regime import learn_sketch

__all__ = [
    "FitRequest",
    "FitResult",
    "Regime",
    "Selection",
    "Trial",
    "learn",
    "learn_sketch",
]

"""Learning with nothing to tune.

::

    auto             the whole of it on one page
    result           what is asked for, what comes of it         FitRequest, FitResult
    spectrum         number of topics and alpha0 from a sketch   Spectrum
    model_road       where documents are from the model
    noise            a noise variance too small for moments      Estimate
    jackknife        standard errors
    text_road        where they are not
    response_topics  first topics, the response's own among them
    refine           topics made truer to their words
    ridge            coefficients by a regression on inferred proportions
    steering         sampled topics that predict
    hybrid           what a sampler starts from and is steered by
    defaults         every constant, with its reason
"""

from topicprism.learn.auto import learn, learn_sketch
from topicprism.learn.result import FitRequest, FitResult, Regime, Selection, Trial

__all__ = [
    "FitRequest",
    "FitResult",
    "Regime",
    "Selection",
    "Trial",
    "learn",
    "learn_sketch",
]

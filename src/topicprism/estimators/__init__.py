"""scikit-learn estimators: they validate, call one function and keep its result."""

from topicprism.estimators.auto import AutoSLDA
from topicprism.estimators.base import FewerTopicsWarning, NothingPredictedWarning
from topicprism.estimators.gibbs import GibbsSLDA, HybridSLDA
from topicprism.estimators.medlda import MedLDA, MedLDAClassifier
from topicprism.estimators.sampled import InterruptedWarning
from topicprism.estimators.spectral import ShortDocumentsWarning, SpectralLDA, SpectralSLDA

__all__ = [
    "AutoSLDA",
    "FewerTopicsWarning",
    "GibbsSLDA",
    "HybridSLDA",
    "InterruptedWarning",
    "MedLDA",
    "MedLDAClassifier",
    "NothingPredictedWarning",
    "ShortDocumentsWarning",
    "SpectralLDA",
    "SpectralSLDA",
]

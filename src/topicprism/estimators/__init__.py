"""scikit-learn estimators: they validate, call one function and keep its result."""

from topicprism.estimators.base import FewerTopicsWarning
from topicprism.estimators.gibbs import GibbsSLDA, HybridSLDA
from topicprism.estimators.medlda import MedLDA, MedLDAClassifier
from topicprism.estimators.sampled import InterruptedWarning
from topicprism.estimators.spectral import ShortDocumentsWarning, SpectralLDA, SpectralSLDA

__all__ = [
    "FewerTopicsWarning",
    "GibbsSLDA",
    "HybridSLDA",
    "InterruptedWarning",
    "MedLDA",
    "MedLDAClassifier",
    "ShortDocumentsWarning",
    "SpectralLDA",
    "SpectralSLDA",
]

"""scikit-learn estimators: they validate, call one function and keep its result."""

from topicprism.estimators.anchors import AnchorLDA, AnchorSLDA
from topicprism.estimators.auto import AutoSLDA
from topicprism.estimators.base import (
    FewerTopicsWarning,
    ManyTopicsWarning,
    NothingPredictedWarning,
)
from topicprism.estimators.disclda import DiscLDA
from topicprism.estimators.gibbs import GibbsSLDA, HybridSLDA
from topicprism.estimators.medlda import MedLDA, MedLDAClassifier
from topicprism.estimators.sampled import InterruptedWarning
from topicprism.estimators.spectral import (
    CopiesWarning,
    ShortDocumentsWarning,
    SpectralLDA,
    SpectralSLDA,
)
from topicprism.estimators.variational import VariationalSLDA, VariationalSLDAClassifier

__all__ = [
    "AnchorLDA",
    "AnchorSLDA",
    "AutoSLDA",
    "CopiesWarning",
    "DiscLDA",
    "FewerTopicsWarning",
    "GibbsSLDA",
    "HybridSLDA",
    "InterruptedWarning",
    "ManyTopicsWarning",
    "MedLDA",
    "MedLDAClassifier",
    "NothingPredictedWarning",
    "ShortDocumentsWarning",
    "SpectralLDA",
    "SpectralSLDA",
    "VariationalSLDA",
    "VariationalSLDAClassifier",
]

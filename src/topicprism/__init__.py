"""Spectral learning of supervised topic models.

A document passes through the package in this order::

    pipeline    from texts and numbers to a fitted pipeline, for Python and the command
    vectorizer  raw text to counts
    estimators  the scikit-learn interface
    documents   counts and responses, in memory or on disk, and subsets of them
    engines     the same on other machines
    learn       from documents to a model without tuning; learn.auto is the entry
    spectral    moments, tensors and the estimates from them: the paper
    samplers    the same model by Gibbs sampling
    relatives   other methods, to compare with: variational, by anchor words, discriminative
    inference   topic proportions of new documents
    evaluation  scores
    resampling  how reproducible topics are, by fits to halves of the documents
    show        tables, plots and the page
    io          tables, model files, and atomic writing
    cli         the command topicprism
    datasets    simulated corpora
    backends    the same functions of documents for the CPU and for a GPU
    kernels     compiled inner loops

``model`` is shared by all of them, ``validation`` checks input, ``defaults`` has the defaults of
counting and fitting, ``scales`` the logarithms of responses.  ``docs/tour.md`` follows a review
through the package.

Names are imported when they are first asked for: ``topicprism --help`` needs no numpy, and
Ctrl-C finds the command ready for it from the start.
"""

__version__ = "0.2.0"

TYPE_CHECKING = False  # typing's own would have to be imported
if TYPE_CHECKING:
    from topicprism.documents.corpus import Corpus
    from topicprism.estimators import (
        AnchorLDA,
        AnchorSLDA,
        AutoSLDA,
        CopiesWarning,
        DiscLDA,
        FewerTopicsWarning,
        GibbsSLDA,
        HybridSLDA,
        InterruptedWarning,
        ManyTopicsWarning,
        MedLDA,
        MedLDAClassifier,
        NothingPredictedWarning,
        ShortDocumentsWarning,
        SpectralLDA,
        SpectralSLDA,
        VariationalSLDA,
        VariationalSLDAClassifier,
    )
    from topicprism.inference import EPInference, GibbsInference, infer
    from topicprism.io.files import FileError
    from topicprism.model import Model, TooManyTopics
    from topicprism.pipeline import (
        HeavyTailWarning,
        MissingValuesWarning,
        TopicPipeline,
        UnspacedWarning,
        fit,
        load,
        save,
    )
    from topicprism.resampling import Stability, stability
    from topicprism.spectral.basis import Basis
    from topicprism.spectral.decompose import Solution, decompose
    from topicprism.spectral.settings import Settings
    from topicprism.spectral.sketch import Sketch, sketch
else:
    _HOMES = {  # the same, for those who run it
        "documents.corpus": ["Corpus"],
        "estimators": [
            *["AnchorLDA", "AnchorSLDA", "AutoSLDA", "CopiesWarning", "DiscLDA"],
            *["FewerTopicsWarning", "GibbsSLDA", "HybridSLDA", "InterruptedWarning"],
            *["ManyTopicsWarning", "MedLDA", "MedLDAClassifier", "NothingPredictedWarning"],
            *["ShortDocumentsWarning", "SpectralLDA", "SpectralSLDA"],
            *["VariationalSLDA", "VariationalSLDAClassifier"],
        ],
        "inference": ["EPInference", "GibbsInference", "infer"],
        "io.files": ["FileError"],
        "model": ["Model", "TooManyTopics"],
        "pipeline": [
            *["HeavyTailWarning", "MissingValuesWarning", "TopicPipeline", "UnspacedWarning"],
            *["fit", "load", "save"],
        ],
        "resampling": ["Stability", "stability"],
        "spectral.basis": ["Basis"],
        "spectral.decompose": ["Solution", "decompose"],
        "spectral.settings": ["Settings"],
        "spectral.sketch": ["Sketch", "sketch"],
    }

    def __getattr__(name):
        """A public name, from the module it is at home in; or a module of the package."""
        from importlib import import_module
        from importlib.util import find_spec

        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is not None:
            value = getattr(import_module(f"topicprism.{home}"), name)
        elif not name.startswith("_") and find_spec(f"topicprism.{name}") is not None:
            value = import_module(f"topicprism.{name}")
        else:
            raise AttributeError(f"module 'topicprism' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        return [*__all__, *(name for name in globals() if name.startswith("__"))]


__all__ = [
    "AnchorLDA",
    "AnchorSLDA",
    "AutoSLDA",
    "Basis",
    "CopiesWarning",
    "Corpus",
    "DiscLDA",
    "EPInference",
    "FewerTopicsWarning",
    "FileError",
    "GibbsInference",
    "GibbsSLDA",
    "HeavyTailWarning",
    "HybridSLDA",
    "InterruptedWarning",
    "ManyTopicsWarning",
    "MedLDA",
    "MedLDAClassifier",
    "MissingValuesWarning",
    "Model",
    "NothingPredictedWarning",
    "Settings",
    "ShortDocumentsWarning",
    "Sketch",
    "Solution",
    "SpectralLDA",
    "SpectralSLDA",
    "Stability",
    "TooManyTopics",
    "TopicPipeline",
    "UnspacedWarning",
    "VariationalSLDA",
    "VariationalSLDAClassifier",
    "decompose",
    "fit",
    "infer",
    "load",
    "save",
    "sketch",
    "stability",
]

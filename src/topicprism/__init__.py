"""Spectral learning of supervised topic models.

A document walks through the package in this order; each line is one module,
one dataclass in, one dataclass out::

    text        raw text to counts                        FastCountVectorizer
    corpus      word counts and responses                 Corpus, Documents
    moments     sums over documents                       WordSums, SketchSums
    sketching   moments in a few coordinates              Basis, Sketch
    centred     alpha0 and sigma taken into account       Centred
    whitening   the k-dimensional topic space             Whitening
    tensor      orthogonal tensor eigenpairs              Eigenpairs
    recovery    back to words: alpha, mu, eta, sigma
    spectral    the whole walk on one page                Solution, Model
    subsets     folds and samples of documents            Subset
    learn       k, alpha0, and text that is not the model's   FitResult
    inference   topic proportions of new documents        h, y_hat
    evaluation  how good is it
    theory      how hard was it                           Diagnostics
    show        all of it for a human reader              Effects, Summary, one HTML page

``samplers`` reach the same Model by Gibbs sampling.  ``estimators`` wrap all of it for
scikit-learn, ``pipeline`` puts raw text in front and keeps facts about it, for Python and the
command alike (``defaults`` has their defaults), ``files`` keeps what was learnt, ``datasets``
draws corpora with a known truth.  ``tables`` reads texts and numbers from files, ``cli`` is the
command ``topicprism``, ``io`` writes files whole or not at all.  Where the documents are kept is
decided by ``engines``, on what the arithmetic runs by ``backends``.  Neither appears in the
mathematics.

Names are imported when they are first asked for: ``topicprism --help`` needs no numpy, and
Ctrl-C finds the command ready for it from the start.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False  # typing's own would have to be imported
if TYPE_CHECKING:
    from topicprism.corpus import Corpus
    from topicprism.estimators import (
        FewerTopicsWarning,
        GibbsSLDA,
        HybridSLDA,
        InterruptedWarning,
        MedLDA,
        MedLDAClassifier,
        ShortDocumentsWarning,
        SpectralLDA,
        SpectralSLDA,
    )
    from topicprism.files import FileError
    from topicprism.inference import Gibbs, Propagation, infer
    from topicprism.model import Model, TooManyTopics
    from topicprism.pipeline import (
        MissingValuesWarning,
        TopicPipeline,
        UnspacedWarning,
        fit,
        load,
        save,
    )
    from topicprism.settings import Settings
    from topicprism.sketching import Basis, Sketch, sketch
    from topicprism.spectral import Solution, decompose
else:
    _HOMES = {  # the same, for those who run it
        "corpus": ["Corpus"],
        "estimators": [
            *["FewerTopicsWarning", "GibbsSLDA", "HybridSLDA", "InterruptedWarning", "MedLDA"],
            *["MedLDAClassifier", "ShortDocumentsWarning", "SpectralLDA", "SpectralSLDA"],
        ],
        "files": ["FileError"],
        "inference": ["Gibbs", "Propagation", "infer"],
        "model": ["Model", "TooManyTopics"],
        "pipeline": [
            *["MissingValuesWarning", "TopicPipeline", "UnspacedWarning"],
            *["fit", "load", "save"],
        ],
        "settings": ["Settings"],
        "sketching": ["Basis", "Sketch", "sketch"],
        "spectral": ["Solution", "decompose"],
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
    "Basis",
    "Corpus",
    "FewerTopicsWarning",
    "FileError",
    "Gibbs",
    "GibbsSLDA",
    "HybridSLDA",
    "InterruptedWarning",
    "MedLDA",
    "MedLDAClassifier",
    "MissingValuesWarning",
    "Model",
    "Propagation",
    "Settings",
    "ShortDocumentsWarning",
    "Sketch",
    "Solution",
    "SpectralLDA",
    "SpectralSLDA",
    "TooManyTopics",
    "TopicPipeline",
    "UnspacedWarning",
    "decompose",
    "fit",
    "infer",
    "load",
    "save",
    "sketch",
]

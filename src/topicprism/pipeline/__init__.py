"""The one place where a vectorizer, an estimator and facts about the documents come together.

::

    inputs      texts, counts and responses as they come        Batch
    provenance  what is remembered of the documents             Ledger, Fingerprint
    fitted      the two steps and both together, in memory      TopicPipeline, fit
    streaming   the same from a table larger than memory        Source, fit_chunks
    frames      columns of frames; and which values are elsewhere
    collections the same from Dask's collections, or files, by its workers
    lazily      predictions and scores of Dask's collections
    spark       the same from a Spark DataFrame, by its executors
    scoring     predictions beside a baseline's, held out

:func:`fit` and the command ``topicprism fit`` differ in where the documents are kept, in memory
or on disk, and in nothing else.
"""

from topicprism.io.files import load, save
from topicprism.pipeline.fitted import TopicPipeline, assemble, fit
from topicprism.pipeline.inputs import HeavyTailWarning, MissingValuesWarning
from topicprism.vectorizer.scripts import UnspacedWarning

__all__ = [
    "HeavyTailWarning",
    "MissingValuesWarning",
    "TopicPipeline",
    "UnspacedWarning",
    "assemble",
    "fit",
    "load",
    "save",
]

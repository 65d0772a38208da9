"""Documents kept elsewhere than in one array, or summed by several workers.

Each class is a :class:`~topicprism.corpus.Documents`: it has ``n_words`` and
``total``.  The mathematics never learns which one it was given.
"""

from topicprism.engines.disk import OnDisk
from topicprism.engines.threads import Threaded

__all__ = ["OnDisk", "Threaded"]

"""Documents, wherever they are kept, and some of them.

::

    corpus   word counts and responses in memory      Corpus, Documents
    subsets  folds and samples                        Subset
    sums     what adds up over them                   Additive
    threads  one corpus, several threads              Threaded
    disk     shards in files                          OnDisk

Each keeper of documents has ``n_words`` and ``total``, and the mathematics never learns which
one it was given.
"""

from topicprism.documents.corpus import Corpus, Documents
from topicprism.documents.disk import OnDisk
from topicprism.documents.threads import Threaded

__all__ = ["Corpus", "Documents", "OnDisk", "Threaded"]

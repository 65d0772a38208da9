"""How reproducible topics and their effects are: fits to half samples beside one to the whole.

All documents are fitted once: the reference.  Then they are split at random into two halves, and
each half is fitted with as many topics; and so on for other splits.  The topics of each run are
matched one to one to those of the reference, and those of the two halves of a split, which have no
document in common, to each other.

::

    comparing  when a topic is found again                     Comparison
    runs       the splits and the fits                         stability, Resampling
    result     how often each topic is found                  Stability
"""

from topicprism.resampling.comparing import Comparison
from topicprism.resampling.result import Stability
from topicprism.resampling.runs import Resampling, stability

__all__ = ["Comparison", "Resampling", "Stability", "stability"]

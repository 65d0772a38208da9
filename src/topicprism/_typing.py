"""Array types.  The letters are the sizes used everywhere.

======  ===================================================================
letter  size
======  ===================================================================
D       documents
V       words of the vocabulary
k       topics
K       word coordinates of a basis, K >= k
R       sketch coordinates: K for the words and one for the response
======  ===================================================================
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = Annotated[csr_array[Any, tuple[int, int]], "D V"]

Doc = Annotated[Array, "D"]  # one number per document
Word = Annotated[Array, "V"]  # one number per word
Topic = Annotated[Array, "k"]  # one number per topic
DocTopic = Annotated[Array, "D k"]
WordTopic = Annotated[Array, "V k"]
WordCoord = Annotated[Array, "V K"]
Coord = Annotated[Array, "R"]
Square = Annotated[Array, "r r"]  # symmetric
Cube = Annotated[Array, "r r r"]  # symmetric in all three

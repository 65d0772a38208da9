"""Other methods, to compare with: variational, by anchor words, discriminative."""

N_PARTS = 16  # of the documents, for threads; their sums are added in one order

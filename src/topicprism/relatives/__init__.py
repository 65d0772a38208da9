"""Other methods, to compare with: variational, by anchor words, discriminative."""

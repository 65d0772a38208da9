"""What the experiments on real text share: one module for each question.

folder    where files of them are
corpora   which documents, counted how, to learn from and to test on
rivals    every method, its settings chosen on the documents it learns from
scores    the same measures of every topic model
records   rows of a CSV file that is added to and never computed twice
tables    means over folds, as a page shows them
targets   which of them are as good as they should be
"""

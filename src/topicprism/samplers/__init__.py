"""Another way to a Model: Gibbs sampling.

``gibbs`` has the sweep over documents and parameters, ``families`` the responses it
can follow: Gaussian (sLDA), epsilon-insensitive and hinge (MedLDA).  A sampler is
``init``, ``sweep`` and ``to_model`` with an explicit state; the caller owns the loop.
"""

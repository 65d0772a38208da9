"""Where the time goes: numba kernels, serial and without the interpreter's lock.

::

    cpu        passes over documents        fold_in   proportions of documents
    keys       what is in a document        gradient  gradients of predictions
    gibbs      sweeps of a sampler          random    streams of random numbers
    compiling  how they are compiled        blas      one thread for BLAS
"""

"""Where the time goes: numba kernels, serial and without the interpreter's lock.

::

    cpu        passes over documents        propagation  proportions of documents
    keys       what is in a document        fold_in      topics of words
    gibbs      sweeps of a sampler          gradient     gradients of predictions
    compiling  how they are compiled        random       streams of random numbers
    faces      sets of topics, fitted       face_sampling  and integrated over
                                            blas         one thread for BLAS
"""

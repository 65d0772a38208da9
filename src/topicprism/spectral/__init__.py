"""The spectral algorithms, from sums over documents to the parameters of the model.

::

    moments     sums over documents                       WordSums, SketchSums
    basis       a few coordinates for words               Basis
    sketch      moments in these coordinates              Sketch
    centred     alpha0 and sigma taken into account       Centred
    whitening   the k-dimensional topic space             Whitening
    tensor      orthogonal tensor eigenpairs              Eigenpairs
    diagonalise the same from slices of the tensor
    recovery    back to words: alpha, mu, eta, sigma
    decompose   the whole walk on one page                Solution, Model
    printed     Algorithms 1 to 3 as printed, with V words
    settings    how to learn, apart from the data         Settings
    theory      how hard was it                           Diagnostics
"""

"""Where the arithmetic runs: the few verbs in which all the time goes.

``cpu`` holds them as numba kernels.  They are serial and let go of the
interpreter, so that threads (``engines.Threaded``) can run several at once.
"""

"""What touches files: written whole or not at all, and a sentence where that fails.

::

    failures  an exception as one sentence and an exit status
    atomic    a file that appears under its name when it is whole
    stale     temporaries that a killed process left behind
"""

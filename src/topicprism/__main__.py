"""``python -m topicprism`` is the command ``topicprism``."""

import sys

from topicprism.cli import main

if __name__ == "__main__":
    sys.exit(main())

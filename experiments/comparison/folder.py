"""Where corpora are: ``get_data.py`` writes to the folder that all experiments read.

It is the one that the variable TOPICPRISM_DATA names; else ``data`` in the repository, or where
that is not there ``shared/data`` beside the repository, for copies of it that share one.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "TOPICPRISM_DATA"


def data_folder(root: Path = ROOT) -> Path:
    if named := os.environ.get(VARIABLE):
        return Path(named)
    own, common = root / "data", root.parent / "shared" / "data"
    return common if common.is_dir() and not own.is_dir() else own


DATA = data_folder()

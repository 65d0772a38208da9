"""What was learnt, for a human reader.

    words       which words describe a topic                 top_words
    effects     coefficients, intervals, shares, their order and their digits    Effects
    citations   whose method an estimator is                                     sources_of
    markup      elements of HTML, escaped
    notebook    a fitted estimator as a table                topics_html
    plots       pictures by matplotlib                       plot_effects, plot_topics
    report      one HTML page                                summarise, write_page

``effects`` alone decides what an interval is and how a number is written: the page, the
notebook, the plots and the command all ask it.
"""

from importlib import import_module
from types import ModuleType

__all__ = ["citations", "effects", "markup", "notebook", "plots", "report", "words"]


def __getattr__(name: str) -> ModuleType:
    """A module of this package, without an import of its own."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

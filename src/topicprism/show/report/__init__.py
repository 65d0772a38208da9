"""A fitted model for a human reader: facts first, then a page of them.

    facts       plain values, ready for JSON                Summary
    fitted      a pipeline taken apart                      Fitted
    documents   examples, predictions beside responses      Example, Fit
    colouring   the topic of each word of a text            Piece
    summary     all of it together                          summarise
    prose       numbers and facts in words
    charts      SVG
    sections    effects, documents, the box
    explorer    the map, and words by relevance
    predictions scores, predicted against observed
    evidence    spectrum, trials, how to cite
    packing     numbers and tables for the page's script
    page        one file                                    render, write_page

Elements of HTML are ``show.markup``'s; intervals and digits are ``show.effects``'.

``page.html`` is filled in; ``page.css`` is its style.  Of its script, ``reader.js`` infers, with
``faces.js`` for sparse priors, and ``page.js`` shows.
"""

from topicprism.show.report.facts import Summary
from topicprism.show.report.page import render, write_page
from topicprism.show.report.summary import summarise

__all__ = ["Summary", "render", "summarise", "write_page"]

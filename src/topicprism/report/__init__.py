"""A fitted model for a human reader: facts first, then a page of them.

    facts       plain values, ready for JSON                Summary
    fitted      a pipeline taken apart                      Fitted
    documents   examples, predictions beside responses      Example, Fit
    colouring   the topic of each word of a text            Piece
    summary     all of it together                          summarise
    prose       numbers and facts in words
    markup      elements of HTML, escaped
    charts      SVG
    sections    effects, documents, the box
    explorer    the map, and words by relevance
    predictions scores, predicted against observed
    evidence    spectrum, trials, how to cite
    packing     numbers and tables for the page's script
    page        one file                                    render, write_page

``page.html`` is filled in; ``page.css`` is its style.  Of its script, ``reader.js`` infers and
``page.js`` shows.
"""

from topicprism.report.facts import Summary
from topicprism.report.page import render, write_page
from topicprism.report.summary import summarise

__all__ = ["Summary", "render", "summarise", "write_page"]

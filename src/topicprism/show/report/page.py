"""The page: one HTML file with everything in it, which opens from disk and asks for nothing."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import topicprism
from topicprism.inference import BURST_WORDS
from topicprism.io.atomic import write_bytes
from topicprism.kernels.faces import FACES
from topicprism.kernels.many import MAX_DECREASE
from topicprism.kernels.propagation import PROPAGATION
from topicprism.show.markup import Html, isolated, join, tag
from topicprism.show.report.evidence import about, choice
from topicprism.show.report.explorer import topics
from topicprism.show.report.facts import Summary
from topicprism.show.report.packing import characters, embedded
from topicprism.show.report.predictions import fit
from topicprism.show.report.prose import fixed
from topicprism.show.report.sections import box, documents, effects, looks
from topicprism.show.words import DECIMALS, WEIGHT

SCRIPTS = ("faces.js", "reader.js", "page.js")
GAP = re.compile(r"\{\{(\w+)\}\}")


def write_page(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write the page; an existing file is replaced only when the new one is complete."""
    write_bytes(Path(path), render(summary).encode("utf-8"))


def render(summary: Summary) -> str:
    """The page as text."""
    style, script = _resource("page.css"), "".join(_resource(name) for name in SCRIPTS)
    parts = _sections(summary)
    filled = {
        "title": join([summary.title]),
        "heading": tag("bdi", summary.title),
        "lead": isolated(" ".join(summary.sentences)),
        "figures": _figures(summary),
        "links": join(tag("a", name, href=f"#{key}") for key, name, _ in parts),
        "sections": join(part for _, _, part in parts),
        "footer": join(["Made by topicprism. This page sends no data anywhere."]),
        "version": Html(topicprism.__version__),
        "facts": embedded(_for_script(summary)),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }
    return GAP.sub(lambda gap: filled[gap.group(1)], _resource("page.html"))


def _sections(s: Summary) -> list[tuple[str, str, Html]]:
    """Key, short name and content of each section that is not empty."""
    parts = [
        ("effects", "Effects", effects(s) if s.response is not None else None),
        ("topics", "Topics", topics(s)),
        ("documents", "Documents", documents(s)),
        ("try", "Try it", box(s)),
        ("fit", "Fit", fit(s)),
        ("choice", "Number of topics", choice(s)),
        ("about", "About", about(s)),
    ]
    return [(key, name, part) for key, name, part in parts if part is not None]


def _figures(s: Summary) -> Html:
    """The main figures."""
    shown = [("documents", f"{s.n_documents:,}")] if s.n_documents else []
    shown += [("words", f"{len(s.parameters.words):,}"), ("topics", str(len(s.topics)))]
    if s.fit is not None:
        shown.append((f"pR\u00b2 on {s.fit.n:,} documents", fixed(s.fit.pr2, 2)))
    return tag(
        "dl", *(tag("div", tag("dt", name), tag("dd", n)) for name, n in shown), class_="figures"
    )


def _for_script(s: Summary) -> dict[str, Any]:
    """What the slider and the box need."""
    return {
        **asdict(s.parameters),
        **PROPAGATION._asdict(),
        "max_decrease": MAX_DECREASE,
        "faces": FACES._asdict(),
        "burst_words": BURST_WORDS,
        "reading": None if s.reading is None else asdict(s.reading),
        "characters": None if s.reading is None else characters(),
        "response": s.response,
        "scale": s.scale,
        "mean_of": s.mean_of,
        "decimals": s.decimals,
        "weight": WEIGHT,
        "relevance_decimals": DECIMALS,
        "share": [t.share for t in s.topics],
        "effects": [t.effect for t in s.topics],
        "common": s.common,
        "names": [t.name for t in s.topics],
        "classes": looks(s),
    }


def _resource(name: str) -> str:
    return files("topicprism.show.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """As a Content-Security-Policy names a script or a style."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")

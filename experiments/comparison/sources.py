"""Reviews with a rating as their authors publish them, read one by one from what was downloaded.

=============  ====================================================================================
snap           SNAP's ``movies.txt.gz``: blocks of lines ``review/score: 5.0``, one for each review
trip_advisor   ``TripAdvisorJson.tar.bz2``: a JSON file for each hotel
large_movie    ``aclImdb_v1.tar.gz``: a file for each review, the rating in its name
scale          ``scale_data.tar.gz``: for each critic a file of reviews and one of ratings, by line
=============  ====================================================================================
"""

import gzip
import html
import json
import math
import re
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

TAG = re.compile(r"<[a-zA-Z/][^<>]{0,40}>")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
FIELDS = ("product/productId", "review/userId", "review/profileName", "review/helpfulness",
          "review/score", "review/time", "review/summary", "review/text")  # fmt: skip
LARGE_MOVIE = re.compile(r"aclImdb/(train|test)/(?:pos|neg)/\d+_(\d+)\.txt")
SCALE = re.compile(r"(?:.*/)?(subj|rating)\.([^/]+)")


@dataclass(frozen=True)
class Review:
    text: str
    rating: float
    split: str = ""  # "train" or "test", where the authors have one


def snap(path: Path) -> Iterator[Review]:
    """Streamed: the file has 9 GB.  A line that begins with no field goes on the last one, since
    some names have a line break in them; a block without a text is left out."""
    block: dict[str, str] = {}
    field = ""
    with gzip.open(path, "rb") as file:
        for line in file:
            name, mark, value = decoded(line).rstrip("\r\n").partition(": ")
            if mark and name in FIELDS:
                if name == FIELDS[0]:
                    yield from _of_block(block)
                    block = {}
                field = name
                block[field] = value
            elif field:
                block[field] += " " + name + mark + value
    yield from _of_block(block)


def _of_block(block: dict[str, str]) -> Iterator[Review]:
    if "review/text" in block:
        yield Review(block["review/text"], number(block.get("review/score")))


def trip_advisor(path: Path) -> Iterator[Review]:
    """The body of each review with its overall rating, nan where it has none."""
    for name, file in _members(path):
        if not name.endswith(".json"):
            continue
        try:
            found = json.loads(decoded(file.read()))
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{name} of {path.name} is no JSON ({error}), but a hotel was expected; remove "
                "the download and fetch it again"
            ) from None
        for review in found["Reviews"]:
            rating = (review.get("Ratings") or {}).get("Overall")
            yield Review(review.get("Content") or "", number(rating))


def large_movie(path: Path) -> Iterator[Review]:
    """The labelled reviews."""
    for name, file in _members(path):
        known = LARGE_MOVIE.fullmatch(name.removeprefix("./"))
        if known:
            yield Review(decoded(file.read()), float(known[2]), known[1])


def scale(path: Path) -> Iterator[Review]:
    """Subjective extracts, English stop words left out."""
    lines: dict[tuple[str, str], list[str]] = {}
    for name, file in _members(path):
        known = SCALE.fullmatch(name)
        if known:
            lines[known[2], known[1]] = decoded(file.read()).rstrip("\n").split("\n")
    for critic in dict.fromkeys(critic for critic, _ in lines):
        texts, ratings = lines[critic, "subj"], lines[critic, "rating"]
        if len(texts) != len(ratings):
            raise ValueError(
                f"{path.name} has {len(texts)} reviews by {critic} and {len(ratings)} ratings, but "
                "as many were expected; remove the download and fetch it again"
            )
        for text, rating in zip(texts, ratings, strict=True):
            words = (word for word in text.split() if word.lower() not in ENGLISH_STOP_WORDS)
            yield Review(" ".join(words), number(rating))


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Files of an archive in its order, none of it unpacked on the disk."""
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name, file


def decoded(line: bytes) -> str:
    """UTF-8; where it is not, Latin-1 as Windows has it, which SNAP's file is a mixture with."""
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            return line.decode(encoding)
    return line.decode("latin-1")


def clean(text: str) -> str:
    """Mojibake repaired, entities and quotes resolved, tags and control characters left out."""
    text = html.unescape(text)
    for encoding in ("cp1252", "latin-1"):
        if not text.isascii():
            with suppress(UnicodeError):
                text = text.encode(encoding).decode("utf-8")  # it was read as what it is not
    text = TAG.sub(" ", text.translate(QUOTES))
    return " ".join(CONTROL.sub(" ", text).split())


def number(value: Any) -> float:
    """nan where there is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan

"""Fetch public corpora of reviews, and convert them to the files that experiments read.

    python experiments/get_data.py imdb hotel_reviews
    python experiments/paper/hotel.py
    python experiments/get_data.py --list     # addresses, checksums, and what is there

The folder is the one that experiments read: that of the variable TOPICPRISM_DATA, else ``data`` in
the repository (``comparison/folder.py``); or that of ``--folder``.  Downloads (``pip install
pooch``) go to its subfolder ``downloads`` and are checked.  Of
aclImdb_v1.tar.gz the checksum is published by many who use it; of the others none is known to us:
the one of the first download is printed, kept in ``checksums.json`` and expected from then on.
``movies.txt.gz`` has 3.3 GB.  Terms are those of the authors, who ask to be cited; assume research
use.

Reviews are cleaned; those with no rating in range, with fewer than MIN_WORDS words or with the text
of another are dropped; rows are in random order, so that the first n are a sample.  They are not
the very rows that results of this repository were measured on: those lack 15 % that were set
aside, and of hotel reviews another 150,000 were drawn.  ``movie_scale`` is not stemmed here.
``amazon_products``, ``amazon_devices``, ``we8there`` and ``poliblog`` are not fetched: the first is
put together from three sets, the second asks for an account, the others are files of R packages.
Experiments leave out what is absent.
"""

import argparse
import heapq
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from comparison import sources
from comparison.folder import DATA
from comparison.sources import Review

MIN_WORDS = 10
SEED = 0
CORNELL, STANFORD = "https://www.cs.cornell.edu/people/pabo", "https://ai.stanford.edu/~amaas"


@dataclass(frozen=True)
class Corpus:
    """Where it is, how it is read, and what is kept of it."""

    address: str
    read: Callable[[Path], Iterable[Review]]
    ratings: tuple[float, float]
    checksum: str | None = None
    rows: int | None = None  # drawn at random; None: all

    @property
    def file(self) -> str:
        return self.address.rsplit("/", 1)[1]


CORPORA = {
    "imdb": Corpus(
        f"{STANFORD}/data/sentiment/aclImdb_v1.tar.gz", sources.large_movie, (1, 10),
        "md5:7c2ac02c03563afcf9b574c7e56c153a",
    ),
    "hotel_reviews": Corpus(
        "https://www.cs.virginia.edu/~hw5x/Data/LARA/TripAdvisor/TripAdvisorJson.tar.bz2",
        sources.trip_advisor, (1, 5), rows=150_000,
    ),
    "movie_scale": Corpus(
        f"{CORNELL}/movie-review-data/scale_data.tar.gz", sources.scale, (0, 1)
    ),
    "amazon_movies": Corpus(
        "https://snap.stanford.edu/data/movies.txt.gz", sources.snap, (1, 5), rows=200_000,
    ),
}  # fmt: skip


def fetch(corpus: Corpus, folder: Path) -> Path:
    """The download, checked: by its checksum, or by that of the first time."""
    try:
        import pooch
    except ImportError:
        sys.exit("pooch, which fetches and checks files, is not installed: pip install pooch")
    downloads, known = folder / "downloads", folder / "checksums.json"
    kept = json.loads(known.read_text()) if known.exists() else {}
    expected = corpus.checksum or kept.get(corpus.file)
    path = Path(pooch.retrieve(corpus.address, expected, corpus.file, downloads))
    if expected is None:
        kept[corpus.file] = f"sha256:{pooch.file_hash(str(path))}"
        known.write_text(json.dumps(kept, indent=2) + "\n")
        print(f"{corpus.file}: {kept[corpus.file]}, the first one seen, is expected from now on")
    return path


def kept(reviews: Iterable[Review], ratings: tuple[float, float], why: Counter) -> Iterator[Review]:
    """Clean ones; those that are dropped are counted by the reason."""
    seen: set[bytes] = set()
    for review in reviews:
        text = sources.clean(review.text)
        key = blake2b(text.encode(), digest_size=8).digest()
        if not ratings[0] <= review.rating <= ratings[1]:
            why["without a rating in range"] += 1
        elif len(text.split()) < MIN_WORDS:
            why[f"of fewer than {MIN_WORDS} words"] += 1
        elif key in seen:
            why["with the text of another"] += 1
        else:
            seen.add(key)
            why["kept"] += 1
            yield Review(text, review.rating, review.split)


def drawn(reviews: Iterable[Review], n: int | None) -> list[Review]:
    """n of them in random order, or all, none but these n in memory."""
    rng = np.random.default_rng(SEED)
    keyed = ((rng.random(), i, review) for i, review in enumerate(reviews))
    return [review for *_, review in heapq.nsmallest(n or sys.maxsize, keyed)]


def convert(corpus: Corpus, download: Path, out: Path, n: int | None) -> Counter:
    """Columns text and rating, and split where there is one; how many were dropped, and why."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    why: Counter = Counter()
    reviews = drawn(kept(corpus.read(download), corpus.ratings, why), n)
    if not reviews:
        raise ValueError(
            f"{download.name} has no review to keep ({dict(why)}), but reviews with a rating from "
            f"{corpus.ratings[0]:g} to {corpus.ratings[1]:g} were expected; fetch it again"
        )
    columns = {"text": [r.text for r in reviews], "rating": [float(r.rating) for r in reviews]}
    if reviews[0].split:
        columns["split"] = [r.split for r in reviews]
    part = out.with_suffix(".part")
    pq.write_table(pa.table(columns), part, compression="zstd")
    part.replace(out)  # never half a file under the name that experiments read
    why["written"] = len(reviews)
    return why


def get(name: str, folder: Path, rows: int | None = None) -> None:
    corpus, out = CORPORA[name], folder / f"{name}.parquet"
    if out.exists():
        print(f"{out} is there; remove it to convert anew")
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "downloads" / corpus.file
    try:
        download = fetch(corpus, folder)
    except (OSError, ValueError) as error:  # no network, or another checksum
        sys.exit(
            f"{corpus.address} could not be fetched ({error}); put the file at {path} by other "
            "means and run this again"
        )
    why = convert(corpus, download, out, rows or corpus.rows)
    print(f"{out}: " + ", ".join(f"{n:,} {reason}" for reason, n in why.items()))


def show(folder: Path) -> None:
    print(f"folder {folder}")
    for name, corpus in CORPORA.items():
        there = "there" if (folder / f"{name}.parquet").exists() else "absent"
        check = corpus.checksum or "checksum of the first download"
        print(f"{name:14s}  {there:6s}  {corpus.address}  {check}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", metavar="corpus", help=", ".join(CORPORA))
    parser.add_argument("--folder", type=Path, default=DATA, help="default: %(default)s")
    parser.add_argument("--rows", type=int, help="reviews at most, drawn at random")
    parser.add_argument("--list", "--quick", action="store_true", help="fetch nothing")
    asked = parser.parse_args()
    for name in asked.corpora:
        if name not in CORPORA:
            parser.error(f"got {name!r}, but expected some of {', '.join(CORPORA)}")
    if asked.rows is not None and asked.rows < 1:
        parser.error(f"got --rows {asked.rows}, but expected a whole number from 1 up")
    if asked.list or not asked.corpora:
        show(asked.folder)
    for name in () if asked.list else asked.corpora:
        get(name, asked.folder, asked.rows)


if __name__ == "__main__":
    main()

"""``--dask``: the files of a table are read by the workers of a cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from topicprism.cli.reading import TableSource
from topicprism.cli.session import Session
from topicprism.io.tables import Piece, TableError
from topicprism.pipeline.streaming import Counted
from topicprism.vectorizer import FastCountVectorizer

S = TypeVar("S")


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address; what it has asked for ends with it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)  # what goes wrong is said in one sentence
    try:
        try:
            from topicprism.engines.tasks import check_workers, connected
        except ImportError as error:
            raise TableError(str(error)) from None
        client = connected(address)
        try:
            check_workers(client)
            yield client
        finally:
            client.close()
    finally:
        logging.disable(before)


def fit_by_workers(
    session: Session, source: TableSource, counts: FastCountVectorizer, topics: Any, held_out: float
) -> tuple[dict[str, Any], Counted]:
    """What ``fit_chunks`` gives, of the files that workers read."""
    args = session.args
    if not hasattr(topics, "fit_documents"):
        raise TableError(
            f"--dask has no use with --model {args.model}, which needs all counts in memory; drop "
            "it, or use --model auto, spectral or lda"
        )
    sources = source.pieces()
    names = [each.called for each in sources]
    with cluster(args.dask) as client:
        from topicprism.pipeline.collections import Fit, fit_sources, texts_held_out

        asked = Fit(counts, topics, args.log, held_out, args.seed, source.check, session.progress)
        info, counted = fit_sources(sources, names, client, asked)
        if not args.report:
            return info, counted
        session.progress.stage("reading texts held out")
        texts = texts_held_out(client, sources, names, counted.drawn)
        return info, replace(counted, held_out=replace(counted.held_out, texts=texts))


def map_pieces(
    client: Any, function: Callable[[Any, Piece], S], shared: Any, pieces: Sequence[Piece]
) -> Iterator[S]:
    """``function(shared, piece)`` of each, in their order."""
    from topicprism.engines.tasks import in_order

    yield from in_order(client, function, shared, [(piece.called, piece) for piece in pieces])

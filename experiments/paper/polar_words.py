"""Tables 1 and 2: eta of both methods with 8 topics, and polar words in the most negative topic.

    python experiments/paper/polar_words.py            # minutes
    python experiments/paper/polar_words.py --draw     # tables and verdicts from the CSVs alone
    python experiments/paper/polar_words.py --draw --markdown    # the tables of docs/paper.md
    python experiments/paper/polar_words.py --quick    # seconds, on made-up reviews

The paper, of Amazon movie reviews with k = 8 and V = 5,000: the joint method has the wider range of
eta, nearer to that of the responses, and in its most negative topic negative words have a higher
rank on average, and positive words a lower one, than in that of the two-stage method.

Here on all of ``imdb.parquet`` and ``hotel_reviews.parquet``, which stand in for its corpus, and on
``amazon_movies.parquet`` where it is there; mean alpha 0.1, responses of variance 1.  Polar words
are the paper's, and for hotels our own.  As in the paper a word beyond rank LAST has none; averages
count it as LAST + 1.  Topics are shown by the words that are most their own, since their most
probable words are much the same.  A corpus that is in the CSVs is not measured again.
"""

import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from reviews import TOY, Claim, Documents, documents, options, verdict
from writing import known, measured, there, write

from topicprism import Model, ShortDocumentsWarning, SpectralSLDA
from topicprism.show.words import top_words

K, V, MEAN_ALPHA, LAST, N_TOP = 8, 5_000, 0.1, 200, 12
PAPER = (
    (-0.754, -0.385, -0.178, -0.022, 0.321, 0.522, 0.712, 0.833),
    (-1.998, -0.762, -0.212, -0.098, 0.437, 0.946, 1.122, 1.143),
)  # its Table 1, in order
CORPORA, METHODS = ("imdb", "hotel_reviews", "amazon_movies"), ("two-stage", "joint")
FILMS = {
    "negative": "bad boring stupid horrible terrible waste disappointed",
    "positive": "good great love funny enjoy awesome amazing",
}
HOTELS = {
    "negative": "bad dirty rude horrible terrible worst disappointed",
    "positive": "good great loved friendly excellent beautiful amazing",
}
TOYS = {"negative": "dirty rude", "positive": "lovely friendly"}
WORDS = {"imdb": FILMS, "amazon_movies": FILMS, "hotel_reviews": HOTELS, TOY: TOYS}


def fitted(docs: Documents, method: str, k: int) -> Model:
    model = SpectralSLDA(
        k, regime="paper", method=method, alpha0=MEAN_ALPHA * k, random_state=0, n_jobs=-1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortDocumentsWarning)
        return model.fit(docs.X, docs.y).model_


def topics(corpus: str, docs: Documents, models: dict[str, Model]) -> Iterator[dict[str, Any]]:
    """Each topic with its words, by eta; and the range of the responses."""
    for method, model in models.items():
        often = top_words(model, docs.words, N_TOP, by="probability")
        own = top_words(model, docs.words, N_TOP)
        for i, (eta, share) in enumerate(zip(model.eta, model.alpha, strict=True)):
            yield {
                "corpus": corpus, "method": method, "topic": i, "eta": float(eta),
                "share": float(share / model.alpha.sum()), "lowest y": float(docs.y.min()),
                "highest y": float(docs.y.max()), "most probable": " ".join(often[i]),
                "most its own": " ".join(own[i]),
            }  # fmt: skip


def words(corpus: str, docs: Documents, models: dict[str, Model]) -> Iterator[dict[str, Any]]:
    """Probability and rank of each polar word in the topic of the least eta."""
    at = {word: i for i, word in enumerate(docs.words)}
    for tone, those in WORDS[corpus].items():
        for word in those.split():
            row: dict[str, Any] = {"corpus": corpus, "tone": tone, "word": word}
            for method, model in models.items():
                mu = model.mu[:, model.eta.argmin()]
                i = at.get(word)
                row[method] = float(mu[i]) if i is not None else 0.0
                row[f"rank {method}"] = int((mu > mu[i]).sum()) + 1 if i is not None else V + 1
            yield row


def measure(quick: bool, out: Path) -> None:
    both: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    done = known(out / "polar_words.csv", "corpus")
    for corpus in (TOY,) if quick else CORPORA:
        if done(corpus):
            continue
        docs = documents(corpus, V, slice(None), 1)
        if docs is None:
            print(f"{corpus}.parquet is not there, left out: see experiments/get_data.py")
            continue
        models = {method: fitted(docs, method, 4 if quick else K) for method in METHODS}
        both[0].extend(topics(corpus, docs, models))
        both[1].extend(words(corpus, docs, models))
    write(out / "polar_topics.csv", both[0])
    write(out / "polar_words.csv", both[1])


# --- what the CSVs say ----------------------------------------------------------------


def tables(shown: list[dict[str, str]], polar: list[dict[str, str]]) -> None:
    for row in shown:
        print(f"{row['method']:10s} eta {float(row['eta']):6.2f}  {row['most its own']}")
    for row in polar:
        print(f"{row['tone']:9s} {row['word']:13s} ", *(f"{_cell(row, m):16s}" for m in METHODS))


def _cell(row: dict[str, str], method: str) -> str:
    rank = _rank(row, method)
    return f"{row[method]} ({rank})" if rank <= LAST else "N/A"


def markdown(shown: list[dict[str, str]], polar: list[dict[str, str]]) -> Iterator[str]:
    """Tables 1 and 2 as docs/paper.md has them, of all corpora."""
    corpora = list(dict.fromkeys(row["corpus"] for row in shown))
    pairs = list(product(corpora, METHODS))

    def topics(corpus: str, method: str) -> list[dict[str, str]]:
        return [r for r in shown if (r["corpus"], r["method"]) == (corpus, method)]

    yield _line("the paper: two-stage", "joint", *(f"{c}: {m}" for c, m in pairs))
    yield _line(*["--:"] * (2 + len(pairs)))
    eta = [[float(row["eta"]) for row in topics(*pair)] for pair in pairs]
    yield from (_line(*(f"{e:.3f}" for e in row)) for row in zip(*PAPER, *eta, strict=True))
    for corpus in corpora:
        yield ""
        yield _line(corpus, *METHODS)
        yield _line("---", "--:", "--:")
        own = (topics(corpus, m)[0] for m in METHODS)
        yield _line(
            "its own words", *(f"{t['most its own']} (η {float(t['eta']):.2f})" for t in own)
        )
        of = [row for row in polar if row["corpus"] == corpus]
        yield from (_line(row["word"], *(_cell(row, m) for m in METHODS)) for row in of)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rank(row: dict[str, str], method: str) -> int:
    return min(int(row[f"rank {method}"]), LAST + 1)


def claims(shown: list[dict[str, str]], polar: list[dict[str, str]]) -> list[Claim]:
    eta = {m: [float(r["eta"]) for r in shown if r["method"] == m] for m in METHODS}
    width = {m: max(eta[m]) - min(eta[m]) for m in METHODS}
    y = float(shown[0]["lowest y"]), float(shown[0]["highest y"])
    away = {m: abs(min(eta[m]) - y[0]) + abs(max(eta[m]) - y[1]) for m in METHODS}
    ranges = ", ".join(f"{m} {min(eta[m]):.2f} to {max(eta[m]):.2f}" for m in METHODS)
    ranges += f", responses {y[0]:.2f} to {y[1]:.2f}"
    ranks = {
        (tone, m): float(np.mean([_rank(r, m) for r in polar if r["tone"] == tone]))
        for tone in FILMS
        for m in METHODS
    }

    def told(tone: str) -> str:
        return ", ".join(f"mean rank {ranks[tone, m]:.0f} {m}" for m in METHODS)

    return [
        Claim("joint has the wider range", width["joint"], width["two-stage"], ranges),
        Claim("its range is nearer that of responses", away["two-stage"], away["joint"], ranges),
        Claim(
            "negative words have a higher rank in joint's most negative topic",
            ranks["negative", "two-stage"], ranks["negative", "joint"], told("negative"),
        ),
        Claim(
            "positive words have a lower rank there",
            ranks["positive", "joint"], ranks["positive", "two-stage"], told("positive"),
        ),
    ]  # fmt: skip


def main() -> None:
    asked = options(__doc__, lambda reader: reader.add_argument("--markdown", action="store_true"))
    if not asked.draw:
        measure(asked.quick, asked.out)
    shown, polar = (
        there(measured(asked.out / f"polar_{name}.csv")) for name in ("topics", "words")
    )
    if asked.markdown:
        print(*markdown(shown, polar), sep="\n")
        return
    for corpus in dict.fromkeys(row["corpus"] for row in shown):
        mine = tuple([r for r in rows if r["corpus"] == corpus] for rows in (shown, polar))
        print(f"\n{corpus}: topics; probability and rank in that of the least eta, {METHODS}")
        tables(*mine)
        found = claims(*mine)
        print(*found, sep="\n")
        print(f"VERDICT Tables 1 and 2, {corpus}: {verdict(found)}")


if __name__ == "__main__":
    main()

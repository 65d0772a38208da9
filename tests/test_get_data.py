"""Corpora as they are published, made up in the same form, and what experiments read of them."""

import gzip
import io
import json
import sys
import tarfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "experiments"))  # last: tests go first
import get_data
from comparison import corpora, sources
from comparison.folder import data_folder

pq = pytest.importorskip("pyarrow.parquet")
LONG = "a film that one may well see twice with all of the family"


def block(i, score, text, name="A. Viewer"):
    return (
        f"product/productId: B{i:04d}\nreview/userId: U{i}\nreview/profileName: {name}\n"
        f"review/helpfulness: 1/2\nreview/score: {score}\nreview/time: 1182729600\n"
        f"review/summary: so: so\nreview/text: {text}\n\n"
    )


def movies(path, n=30):
    """As SNAP has it: UTF-8 and Latin-1 mixed, entities, tags, a name with a line break."""
    odd = [
        block(0, "5.0", f"caf\u00e9 one {LONG}").encode("latin-1"),
        block(1, "4.0", f"caf\u00e9 two {LONG}").encode("utf-8"),
        block(
            2, "1.0", f"bad &amp; <br />long&#39;s {LONG}", name="two\nlines: of a name"
        ).encode(),
        block(3, "5.0", "too short").encode(),
        block(4, "5.0", f"caf\u00e9 two {LONG}").encode("utf-8"),  # again
        block(5, "9.0", f"no such score {LONG}").encode(),
        block(6, "none", f"no score {LONG}").encode(),
        b"product/productId: B0007\nreview/score: 3.0\n\n",  # no text
        block(8, "2.0", f"an end\x85 of file \x9d{LONG}").encode("latin-1"),
    ]
    many = [block(100 + i, f"{1 + i % 5}.0", f"number {i}: {LONG}").encode() for i in range(n)]
    path.write_bytes(gzip.compress(b"".join(odd + many).rstrip(b"\n")))
    return path


def archive(path, files):
    mode = "w:bz2" if path.suffix == ".bz2" else "w:gz"
    with tarfile.open(path, mode) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def test_reviews_of_snap_are_streamed_with_their_oddities(tmp_path):
    found = list(sources.snap(movies(tmp_path / "movies.txt.gz", 3)))
    assert len(found) == 8 + 3
    text = [sources.clean(review.text) for review in found]
    assert text[0] == f"caf\u00e9 one {LONG}"
    assert text[1] == f"caf\u00e9 two {LONG}"
    assert text[2] == f"bad & long's {LONG}"
    assert [review.rating for review in found[:4]] == [5, 4, 1, 5]
    assert text[7] == f"an end of file {LONG}"
    assert text[-1] == f"number 2: {LONG}"  # colons are the text's own


def test_a_text_that_was_decoded_wrongly_is_repaired_and_others_are_left_alone():
    right = "Amélie\u2019s caf\u00e9"
    for wrongly in ("cp1252", "latin-1"):
        assert sources.clean(right.encode().decode(wrongly)) == "Amélie's café"
    assert sources.clean("Amélie, naïve") == "Amélie, naïve"
    assert sources.clean("2 < 3 > 1 <i>so</i>") == "2 < 3 > 1 so"
    assert sources.decoded(b"\x81caf\xe9") == "\x81caf\u00e9"  # neither UTF-8 nor Windows


def test_what_is_converted_is_a_sample_without_copies(tmp_path):
    corpus = get_data.CORPORA["amazon_movies"]
    why = get_data.convert(corpus, movies(tmp_path / "m.gz"), tmp_path / "all.parquet", None)
    assert why == {"kept": 4 + 30, "of fewer than 10 words": 1, "with the text of another": 1,
                   "without a rating in range": 2, "written": 34}  # fmt: skip
    every = pq.read_table(tmp_path / "all.parquet").to_pydict()
    assert list(every) == ["text", "rating"]
    order = [int(t.split()[1][:-1]) for t in every["text"] if t.startswith("number")]
    assert sorted(order) == list(range(30)) != order  # in random order
    assert all(
        rating == 1 + int(text.split()[1][:-1]) % 5
        for text, rating in zip(every["text"], every["rating"], strict=True)
        if text.startswith("number")
    )
    get_data.convert(corpus, tmp_path / "m.gz", tmp_path / "some.parquet", 7)
    some = pq.read_table(tmp_path / "some.parquet").to_pydict()
    assert some["text"] == every["text"][:7]


def test_hotels_and_their_missing_ratings(tmp_path):
    reviews = [
        {"Ratings": {"Overall": "4.0", "Service": "1"}, "Content": f"hotel {LONG}", "Title": "x"},
        {"Ratings": {"Service": "1"}, "Content": f"none {LONG}"},
        {"Ratings": {"Overall": "-1"}, "Content": f"minus {LONG}"},
        {"Ratings": {"Overall": "2.0"}, "Content": None},
    ]
    files = {"json/1.json": json.dumps({"Reviews": reviews, "HotelInfo": {}}).encode(),
             "json/README": b"{", "json/2.json": b'{"Reviews": []}'}  # fmt: skip
    path = archive(tmp_path / "TripAdvisorJson.tar.bz2", files)
    out = tmp_path / "hotel_reviews.parquet"
    get_data.convert(get_data.CORPORA["hotel_reviews"], path, out, 150_000)
    assert pq.read_table(out).to_pydict() == {"text": [f"hotel {LONG}"], "rating": [4.0]}
    broken = archive(tmp_path / "b.tar.bz2", {"json/3.json": b"{"})
    with pytest.raises(ValueError, match=r"3.json of b.tar.bz2 is no JSON .* a hotel was expected"):
        list(sources.trip_advisor(broken))


def test_film_reviews_keep_the_split_of_their_authors(tmp_path):
    files = {
        "aclImdb/train/pos/0_9.txt": f"nine {LONG}".encode(),
        "aclImdb/test/neg/1_2.txt": f"two<br /><br />{LONG}".encode(),
        "aclImdb/train/unsup/2_0.txt": f"none {LONG}".encode(),
        "aclImdb/train/urls_pos.txt": b"http://",
    }
    path = archive(tmp_path / "aclImdb_v1.tar.gz", files)
    get_data.convert(get_data.CORPORA["imdb"], path, tmp_path / "imdb.parquet", None)
    found = pq.read_table(tmp_path / "imdb.parquet").to_pydict()
    rows = set(zip(*found.values(), strict=True))
    assert rows == {(f"nine {LONG}", 9.0, "train"), (f"two {LONG}", 2.0, "test")}


def test_critics_have_as_many_ratings_as_reviews(tmp_path):
    texts = (
        "\n".join(f"the film of word{i} was {LONG} good old times here" for i in range(3)) + "\n"
    )
    files = {
        "scaledata/A+B/subj.A+B": texts.encode(),
        "scaledata/A+B/rating.A+B": b"0.1\n0.5\n0.9\n",
        "scaledata/A+B/id.A+B": b"1\n2\n3\n",
        "scaledata/A+B/label.3class.A+B": b"0\n1\n2\n",
    }
    found = list(sources.scale(archive(tmp_path / "s.tar.gz", files)))
    assert [r.rating for r in found] == [0.1, 0.5, 0.9]
    assert found[1].text.startswith("film word1 ")  # no stop words
    files["scaledata/A+B/rating.A+B"] = b"0.1\n0.5\n"
    with pytest.raises(ValueError, match=r"has 3 reviews by A\+B and 2 ratings"):
        list(sources.scale(archive(tmp_path / "t.tar.gz", files)))


def test_a_file_without_reviews_is_refused_and_leaves_nothing(tmp_path):
    path = archive(tmp_path / "x.tar.gz", {"README": b"moved"})
    with pytest.raises(ValueError, match=r"has no review to keep .* from 1 to 10 were expected"):
        get_data.convert(get_data.CORPORA["imdb"], path, tmp_path / "imdb.parquet", None)
    assert not (tmp_path / "imdb.parquet").exists()


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A corpus at an address of this machine, its file and a folder to fetch to."""
    pytest.importorskip("pooch")
    (tmp_path / "web").mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = partial(Quiet, directory=tmp_path / "web")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/movies.txt.gz"
        corpus = replace(get_data.CORPORA["amazon_movies"], address=address)
        monkeypatch.setitem(get_data.CORPORA, "amazon_movies", corpus)
        yield movies(tmp_path / "web" / "movies.txt.gz"), tmp_path / "data"
        server.shutdown()


def test_the_first_checksum_is_kept_and_expected(served, capsys):
    source, folder = served
    get_data.get("amazon_movies", folder, 20)
    out = capsys.readouterr().out
    kept = json.loads((folder / "checksums.json").read_text())["movies.txt.gz"]
    assert f"{kept}, the first one seen" in out
    assert "20 written" in out
    assert pq.read_table(folder / "amazon_movies.parquet").num_rows == 20
    get_data.get("amazon_movies", folder)
    assert "is there" in capsys.readouterr().out

    (folder / "amazon_movies.parquet").unlink()
    (folder / "downloads" / "movies.txt.gz").unlink()
    movies(source, 31)  # another file at the same address
    with pytest.raises(SystemExit, match=r"could not be fetched .*hash.* by other means"):
        get_data.get("amazon_movies", folder)
    assert not (folder / "amazon_movies.parquet").exists()


def test_a_published_checksum_is_expected_at_once(served, monkeypatch):
    _, folder = served
    corpus = replace(get_data.CORPORA["amazon_movies"], checksum="md5:" + "0" * 32)
    monkeypatch.setitem(get_data.CORPORA, "amazon_movies", corpus)
    with pytest.raises(SystemExit, match="could not be fetched"):
        get_data.get("amazon_movies", folder)
    assert not (folder / "checksums.json").exists()


def test_what_is_fetched_is_where_experiments_look(tmp_path, monkeypatch):
    monkeypatch.delenv("TOPICPRISM_DATA", raising=False)
    root = tmp_path / "copy"
    assert data_folder(root) == root / "data"
    (tmp_path / "shared" / "data").mkdir(parents=True)
    assert data_folder(root) == tmp_path / "shared" / "data"
    (root / "data").mkdir(parents=True)
    assert data_folder(root) == root / "data"
    monkeypatch.setenv("TOPICPRISM_DATA", "elsewhere")
    assert data_folder(root) == Path("elsewhere")
    assert get_data.DATA == corpora.DATA


def test_other_corpora_are_refused_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["get_data.py", "yelp"])
    with pytest.raises(SystemExit):
        get_data.main()
    assert "got 'yelp', but expected some of imdb, hotel_reviews" in capsys.readouterr().err

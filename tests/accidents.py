"""Files with something gone wrong: by chance, or by someone who knows the checksum."""

import json
from hashlib import blake2b

import numpy as np

from topicprism.io.files.container import ALIGNMENT, DIGEST, START


def sealed(data):
    """The same bytes with the length and the checksum that belong to them."""
    data = bytearray(data)
    data[16:24] = len(data).to_bytes(8, "little")
    return bytes(data[:-DIGEST]) + blake2b(data[:-DIGEST], digest_size=DIGEST).digest()


def with_header(good, header, arrays=b""):
    raw = (
        header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    )
    start = good[:12] + len(raw).to_bytes(4, "little") + bytes(8)
    gap = bytes(-(START + len(raw)) % ALIGNMENT) if arrays else b""
    return sealed(start + raw + gap + arrays + bytes(DIGEST))


def accident(data, rng):
    """The file with one thing gone wrong."""
    at, to = sorted(rng.integers(0, len(data), size=2).tolist())
    match rng.integers(6):
        case 0:
            mutant = bytearray(data)
            mutant[at] ^= 1 << int(rng.integers(8))
        case 1:
            mutant = data[:at]
        case 2:
            mutant = data[:at] + rng.bytes(int(rng.integers(1, 20))) + data[at:]
        case 3:
            mutant = bytearray(data)
            mutant[at], mutant[to] = mutant[to], mutant[at]
        case 4:
            mutant = data[:at] + data[to:]
        case _:
            mutant = data[:at] + data[at : at + 64] + data[at:]
    return bytes(mutant)


ODDITIES = [None, True, -1, 0, 3, 10**30, 1e308, "", "x", [], {}, [1, 2], {"$array": 0}]
ODDITIES += [{"$float": "nan"}, {"$tuple": []}, {"$strings": [0, 1, "O"]}, {"$record": ["Model"]}]
CHANGES = [
    lambda a: a.T.copy(),
    lambda a: np.asfortranarray(a),
    lambda a: a[:-1].copy(),
    lambda a: np.concatenate([a, a]),
    lambda a: a.ravel(),
    lambda a: a[None],
    lambda a: a.astype("f4"),
    lambda a: a.astype("i8"),
    lambda a: a.astype("f8"),
    lambda a: a * 0,
    lambda a: a[:0],
    lambda a: np.full(a.shape, np.nan),
    lambda a: np.full(a.shape, np.inf),
    lambda a: -a.astype("f8"),
]


def inner_accident(body, arrays, rng):
    """Some value or array of the file replaced, added, taken away or put elsewhere."""
    if rng.random() < 0.4:
        i = rng.integers(len(arrays))
        arrays[i] = CHANGES[rng.integers(len(CHANGES))](arrays[i])
        return
    places = [(body, key) for key in body]
    for inside, key in places:
        if isinstance(inside[key], dict):
            places += [(inside[key], k) for k in inside[key]]
        elif isinstance(inside[key], list):
            places += [(inside[key], k) for k in range(len(inside[key]))]
    (inside, key), (other, elsewhere) = (places[i] for i in rng.integers(len(places), size=2))
    match rng.integers(4):
        case 0:
            del inside[key]
        case 1:
            inside[key] = json.loads(json.dumps(other[elsewhere]))
        case _:
            inside[key] = json.loads(json.dumps(ODDITIES[rng.integers(len(ODDITIES))]))

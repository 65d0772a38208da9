"""What ``info`` may contain: facts of any name, but those that are read must have their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from topicprism.io.files.container import wrong
from topicprism.io.files.rules import MAX_NUMBER
from topicprism.scales import SCALES

Rule = Callable[[Any], bool]


def check_facts(info: dict[str, Any]) -> None:
    """Refuse facts that would be taken for something else than they are."""
    for name, value in info.items():
        if name in FACTS and not FACTS[name](value):
            raise wrong(f"its info has {name!r} = {value!r:.40}")


def _unless_none(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < MAX_NUMBER


def _whole(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _list(rule: Rule) -> Rule:
    return lambda value: isinstance(value, list) and all(map(rule, value))


def _named(rule: Rule) -> Rule:
    return lambda value: isinstance(value, dict) and all(map(rule, value.values()))


def _response(value: Any) -> bool:
    match value:
        case {"classes": classes, **rest} if not rest:
            return _list(_text)(classes)
        case dict():
            known = all(name in ("mean", "std", "min", "max") for name in value)
            return known and all(map(_unless_none(_number), value.values()))
    return False


def _parts(value: Any) -> bool:
    """Facts of each sketch that was added."""
    if not _list(lambda part: isinstance(part, dict))(value) or not value:
        return False
    for part in value:
        check_facts(part)
    return True


FACTS: dict[str, Rule] = {
    **dict.fromkeys(["n_documents", "n_words", "n_topics"], _whole),
    **dict.fromkeys(["n_rows", "n_held_out", "n_baseline"], _whole),
    **dict.fromkeys(["estimator", "created", "version"], _unless_none(_text)),
    **dict.fromkeys(["fingerprint", "text", "target"], _unless_none(_text)),
    **dict.fromkeys(["files", "too_common"], _list(_text)),
    "seconds": _unless_none(_number),
    "shares": _list(_number),
    "n_left_out": _named(_whole),
    "scores": _named(_unless_none(_number)),
    "response": _unless_none(_response),
    "log": lambda value: value in (None, *SCALES),
    "merged": _parts,
}

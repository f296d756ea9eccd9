r"""Texts of a file that are not whole Unicode: bytes that are no UTF-8, and halves of a pair.

Node 24 reads a byte that is no UTF-8 as U+FFFD, so that the line still parses and its text is
damaged. Half of a surrogate pair is legal in JSON as an escape: JavaScript cuts a text in the
middle of a character so, and `JSON.stringify` writes the half that is left as `\ud83d`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from diagnose.sessions.javascript import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.sessions.reading import Session

Kind = Literal["not UTF-8", "half a pair"]

# Lines are looked at no further than this many, and named for each kind so many.
LOOKED_AT: Final = 2_000
KEPT: Final = 5
# In a text decoded with `surrogateescape`, which takes byte 0x80 + n as U+DC80 + n.
_BYTES: Final = re.compile("[\udc80-\udcff]+")
_HALF: Final = re.compile("[\ud800-\udfff]")
# An escape of either half, and of a backslash, after which `u` begins no escape.
_ESCAPE: Final = re.compile(rb"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)


class Broken(msgspec.Struct):
    """One kind of character that is none, and the first lines that hold it."""

    kind: Kind
    # The place in the first entry: `message.content.0.text`.
    place: str
    # The byte of the file at which it begins; None for half a pair, which is an escape.
    offset: int | None = None
    count: int = 0
    lines: list[int] = msgspec.field(default_factory=list)


def broken(session: Session) -> list[Broken]:
    """Return the characters that are none in lines that Pi reads, each kind once.

    Raise UnreadableError where the file cannot be read again.
    """
    found: dict[Kind, Broken] = {}
    for number, offset, length in session.inexact[:LOOKED_AT]:
        line = session.raw(offset, length)
        for one in _in_line(line, offset):
            first = found.setdefault(one.kind, one)
            first.count += 1
            if len(first.lines) < KEPT:
                first.lines.append(number)
    return list(found.values())


def _in_line(line: bytes, offset: int) -> Iterator[Broken]:
    try:
        try:
            line.decode()
        except UnicodeDecodeError as error:
            # Without escapes of halves, which look the same once they are decoded.
            text = _ESCAPE.sub(_without_halves, line).decode("utf-8", "surrogateescape")
            place = _place(parse(text), _BYTES)
            if place is not None:
                yield Broken("not UTF-8", place, offset + error.start)
        place = _place(parse(line.decode("utf-8", "replace")), _HALF)
    except ValueError:
        return  # it changed since it was read
    if place is not None:
        yield Broken("half a pair", place)


def _without_halves(found: re.Match[bytes]) -> bytes:
    return rb"\ufffd" if found[0][1:2] == b"u" else found[0]


def _place(value: Any, wanted: re.Pattern[str]) -> str | None:
    """Return the first place whose text or name holds what is wanted, in the order of the line."""
    # No recursion: V8 has no limit of depth.
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        place, one = stack.pop()
        if isinstance(one, str) and wanted.search(one):
            return place
        inside: list[tuple[str, Any]] = []
        if isinstance(one, dict):
            for name, item in one.items():
                if wanted.search(name):
                    return _below(place, wanted.sub("\ufffd", name))
                inside.append((_below(place, name), item))
        elif isinstance(one, list):
            inside = [(_below(place, str(number)), item) for number, item in enumerate(one)]
        stack.extend(reversed(inside))
    return None


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name

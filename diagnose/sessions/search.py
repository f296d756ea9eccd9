"""Where words stand in a file, whatever entry holds them: texts, arguments, results, summaries.

Looked at are the lines as they are stored, damaged ones too, since the question is whether
anything was recorded at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.evidence import open_evidence
from diagnose.sessions.entry import parse_time
from diagnose.sessions.javascript import parse_line
from diagnose.sessions.reading import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


class Hit(msgspec.Struct, frozen=True):
    """A line that holds all the words."""

    line: int
    # None in a line that does not parse, or where the entry has none.
    entry: str | None
    # Milliseconds since the epoch, UTC; None where the entry does not show it.
    time: float | None


def lines_with(path: Path, words: list[str]) -> Iterator[Hit]:
    """Give the lines of a file, headers left out, that hold all words, in any case and order.

    Raise UnreadableError where it cannot be opened, and OSError where it cannot be read on.
    """
    folded = [word.casefold() for word in words]
    with open_evidence(path) as file:
        for number, (_, line, _) in enumerate(split_lines(file), start=1):
            text = line.decode("utf-8", "replace")
            if "\\u" in text:
                # Other writers than Pi escape letters; a line that is cut off is no JSON to read.
                text = _ESCAPE.sub(_letter, text)
            text = text.casefold()
            if not all(word in text for word in folded):
                continue
            try:
                value = parse_line(line)
            except ValueError:
                value = None
            if not isinstance(value, dict):
                yield Hit(number, None, None)
            elif value.get("type") != "session":
                own = value.get("id")
                time = parse_time(value.get("timestamp"))
                yield Hit(number, own if isinstance(own, str) else None, time)


def _letter(found: re.Match[str]) -> str:
    return chr(int(found[1], 16))

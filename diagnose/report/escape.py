"""Text of a stranger made safe to show: no control, direction or invisible sign gets through."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

# Categories whose characters act on a terminal, change the order of what is read, or hide.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters and marks that nothing is drawn for: fillers, joiners, and the selectors of variants in
# which a text can be hidden.
_HIDDEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | {
    chr(code) for code in range(0xE0100, 0xE01F0)
}
# Runs of all but what is known to be safe, so that few characters have to be looked up. Chinese is
# not among that: to make a pattern that names its signs takes 3 ms, at each start.
SUSPECT: Final = re.compile(r"[^\n\x20-\x7e\xa1-\xac\xae-\xff]+")


@cache
def is_unsafe(character: str) -> bool:
    """Tell whether a character acts on a terminal, turns the order of reading, or hides."""
    return unicodedata.category(character) in _UNSAFE or character in _HIDDEN


@cache
def _shown(character: str) -> str:
    if not is_unsafe(character):
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 (one byte)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


def visible(text: str) -> str:
    """Return a text in which every unsafe character is written out by its number."""
    shown = SUSPECT.sub(lambda found: "".join(map(_shown, found[0])), text)
    return shown.replace("\n", "\\x0a")


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, white space folded, cut to a number of characters."""
    # What is beyond four times the limit cannot be reached, and a text may be very long.
    shown = visible(" ".join(text[: 4 * limit].split()))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def fitted(text: str, columns: int) -> str:
    """Return a safe text cut to a number of columns; a Chinese sign takes two."""
    taken = kept = 0
    for place, character in enumerate(text):
        taken += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if taken > columns:
            return text[:kept] + "…"
        if taken < columns:
            kept = place + 1
    return text

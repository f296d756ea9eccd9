"""Text of a stranger made safe to show: no control, direction or invisible sign gets through."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

# Categories whose characters act on a terminal, change the order of what is read, or hide.
_UNSAFE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_SUSPECT: Final = re.compile(r"[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u3001-\u9fff\uff01-\uff5e]")


@cache
def _shown(character: str) -> str:
    if unicodedata.category(character) not in _UNSAFE:
        return character
    code = ord(character)
    if code <= 0xFF:  # noqa: PLR2004 (one byte)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


def visible(text: str) -> str:
    """Return a text in which every unsafe character is written out by its number."""
    return _SUSPECT.sub(lambda found: _shown(found[0]), text)


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, white space folded, cut to a number of characters."""
    # What is beyond four times the limit cannot be reached, and a text may be very long.
    shown = visible(" ".join(text[: 4 * limit].split()))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"

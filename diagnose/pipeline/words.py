"""Words of people and what they stand for; the lists themselves are data (schemas/words.json)."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module
from typing import Any


def words(name: str) -> Any:
    """Return one of the lists by its name."""
    return _lists()[name]


@cache
def _lists() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(import_module("diagnose.schemas").raw("words"))
    return value


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of phrases, longest first; only in English do words end at a boundary."""
    parts = []
    for phrase in sorted(phrases, key=len, reverse=True):
        escaped = re.escape(phrase).replace(r"\ ", r"\s+")
        if phrase.isascii() and phrase[:1].isalnum():
            escaped = rf"(?<![A-Za-z0-9_]){escaped}"
        if phrase.isascii() and phrase[-1:].isalnum():
            escaped = rf"{escaped}(?![A-Za-z0-9_])"
        parts.append(escaped)
    return re.compile("|".join(parts), re.IGNORECASE)


def find(text: str, phrases: list[str]) -> re.Match[str] | None:
    """Return the first of the phrases in a text, whatever its case."""
    # A search for a text is many times as fast as one for a pattern, and most texts hold none.
    folded = text.casefold()
    there = tuple(
        phrase
        for part, telling in _telling(tuple(phrases))
        if part in folded
        for phrase, word in telling
        if word in folded
    )
    return _pattern(there).search(text) if there else None


def is_overflow(error: str) -> bool:
    """Tell whether an error says that a request was too long for the model."""
    return bool(find(error, words("overflow_errors"))) and not find(
        error, words("no_overflow_errors")
    )


@cache
def _telling(phrases: tuple[str, ...]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """Return each phrase with its longest word, without which it cannot stand in a text.

    They are grouped by a part that several such words have: "check" of "checked" and "unchecked",
    in Chinese the first sign.
    """
    words_of = {phrase: max(phrase.casefold().split(), key=len) for phrase in phrases}
    parts = sorted({w if w.isascii() else w[0] for w in words_of.values()}, key=len)
    found: dict[str, list[tuple[str, str]]] = {}
    for phrase, word in words_of.items():
        found.setdefault(next(part for part in parts if part in word), []).append((phrase, word))
    return tuple((part, tuple(telling)) for part, telling in found.items())


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 entry, 10 entries, 2 messages."""
    if number == 1:
        return f"1 {one}"
    # A day makes days, an entry entries.
    ends = one.endswith("y") and one[-2:-1] not in "aeiou"
    return f"{number} {many or (one[:-1] + 'ies' if ends else one + 's')}"


def shortened(text: str, limit: int = 60) -> str:
    """Return a text on one line, cut to a number of characters."""
    line = " ".join(text[: 8 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"

"""What a summary carries of the entries that it stands for, and what it leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from diagnose.pipeline.words import find, words
from diagnose.sessions.calls import arguments, pair
from diagnose.sessions.files import details_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session

_ITEM: Final = re.compile(r"^\s*(?:[-*•·]|\d+[.)、])\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]{2,}|[\u4e00-\u9fff]{2,}")
# The share of a statement's own words that must stand in a summary for it to be carried.
_CARRIED: Final = 0.6
# Prompts and replies longer than this (characters) are searched no further.
_SEARCHED: Final = 200_000


@dataclass(slots=True, frozen=True)
class Statement:
    """A statement of a limit ("Not checked: call sites") and the entry that makes it."""

    entry: Entry
    text: str


def statements_of_limits(text: str) -> Iterator[str]:
    """Give each statement in a text of what was not done: in sentences, lists and tables."""
    limits = words("limits")
    lines = text[:_SEARCHED].splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if find(line, limits) is None:
            continue
        if line.lstrip().startswith("|"):
            yield from _table(lines, number - 1, limits)
            continue
        if line.rstrip().rstrip("*_").endswith((":", "：")):
            # A heading of a list: the items are what it speaks of.
            items = []
            while number < len(lines) and (_ITEM.match(lines[number]) or not lines[number].strip()):
                items.append(_ITEM.sub("", lines[number]).strip())
                number += 1
            yield _plain(f"{line.strip()} {', '.join(filter(None, items))}")
            continue
        for sentence in _SENTENCE.split(line):
            if find(sentence, limits):
                yield _plain(_ITEM.sub("", sentence))


def _table(lines: list[str], number: int, limits: list[str]) -> Iterator[str]:
    """Give what a table's row says or, where the phrase heads a column, that column's cells."""
    cells = _cells(lines[number])
    is_head = number + 1 < len(lines) and re.fullmatch(r"[\s|:-]+", lines[number + 1] or "x")
    if not is_head:
        yield _plain(" | ".join(cells))
        return
    column = next((i for i, cell in enumerate(cells) if find(cell, limits)), 0)
    below = []
    for line in lines[number + 2 :]:
        if not line.lstrip().startswith("|"):
            break
        row = _cells(line)
        if column < len(row) and row[column]:
            below.append(row[column])
    yield _plain(f"{cells[column]}: {', '.join(below)}")


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _plain(text: str) -> str:
    return re.sub(r"[*_`]{1,3}", "", text).strip()


def carries(summary: str, statement: str) -> bool:
    """Tell whether a summary still says what a statement of limits says."""
    limits = words("limits")
    folded = summary.casefold()
    if statement.casefold() in folded:
        return True
    if find(summary, limits) is None:
        return False
    phrase = find(statement, limits)
    rest = statement.replace(phrase[0], " ") if phrase else statement
    own = {word.casefold() for word in _WORD.findall(rest)}
    return not own or sum(word in folded for word in own) >= _CARRIED * len(own)


def dropped_statements(entries: list[Entry], texts: list[str], summary: str) -> list[Statement]:
    """Return the statements of limits in entries that a summary does not carry; each once."""
    found: dict[str, Statement] = {}
    for entry, text in zip(entries, texts, strict=True):
        if not entry.is_activity:
            continue
        for statement in statements_of_limits(text):
            if not carries(summary, statement):
                found.setdefault(statement.casefold(), Statement(entry, statement))
    return list(found.values())


@dataclass(slots=True, frozen=True)
class Named:
    """A file or command of a tool call, and the entry that holds the call."""

    entry: Entry
    text: str


def dropped_files(
    session: Session, entries: list[Entry], value: object, summary: str
) -> list[Named]:
    """Return the files that calls in entries read or changed and that a summary does not name."""
    read, modified = details_files(value)
    named = {*read, *modified}
    found: dict[str, Named] = {}
    for call in pair(entries).calls:
        if call.call.name not in ("read", "edit", "write"):
            continue
        path = arguments(session, call).get("path")
        if isinstance(path, str) and path and path not in named and path not in summary:
            found.setdefault(path, Named(call.entry, path))
    return list(found.values())


def dropped_commands(session: Session, entries: list[Entry], summary: str) -> list[Named]:
    """Return the shell commands in entries whose program a summary does not name."""
    found: dict[str, Named] = {}
    folded = summary.casefold()
    for call in pair(entries).calls:
        if call.call.name != "bash":
            continue
        command = arguments(session, call).get("command")
        if not isinstance(command, str) or not command.strip():
            continue
        program = command.split()[0].rsplit("/", 1)[-1]
        if program.casefold() not in folded and command.casefold() not in folded:
            found.setdefault(command, Named(call.entry, command))
    return list(found.values())

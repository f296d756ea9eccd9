"""What a summary carries of the entries that it stands for, and what it leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from diagnose.pipeline.words import find, shortened, words
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


_HEADING: Final = re.compile(r"^\s*(?:#{1,6}\s*|\*\*)(.+?)(?:\*\*)?\s*:?\s*$", re.MULTILINE)
_SPLIT_TURN: Final = "**Turn Context (split turn):**"
_NO_HISTORY: Final = "No prior history."
# What Pi's form has between brackets is an instruction to the model, not an answer.
_TEMPLATE: Final = re.compile(r"\[[^\]]*\]\Z")


def thin_sections(summary: str) -> tuple[list[str], list[str]]:
    """Return the sections of Pi's form that a summary lacks, and those that say nothing.

    A summary of a split turn has a second part with sections of its own; where it had nothing
    before the turn, that part alone is looked at (Pi 1.6.0, core/compaction/compaction.js).
    """
    history, _, turn = summary.partition(_SPLIT_TURN)
    bare = history.strip().rstrip("-").strip() == _NO_HISTORY
    forms = [words("summary_sections")]
    if turn:
        # The model is asked for one form and now and then gives the other.
        forms = [words("turn_prefix_sections"), *forms] if bare else forms
    bodies = _bodies(turn if bare else summary)
    results = [_thin(form, bodies) for form in forms]
    return min(results, key=lambda result: len(result[0]) + len(result[1]))


def _bodies(text: str) -> dict[str, str]:
    """Return what stands under each heading, the heading folded; lesser headings count inside."""
    found: dict[str, str] = {}
    top = None
    for line in (
        text.split("<read-files>", maxsplit=1)[0]
        .split("<modified-files>", maxsplit=1)[0]
        .splitlines()
    ):
        heading = _HEADING.match(line)
        if heading and not line.lstrip().startswith(("###", "- ")):
            top = heading[1].strip(" *:：").casefold()
            found.setdefault(top, "")
        elif top is not None:
            found[top] += line + "\n"
    return found


def _thin(form: dict[str, list[str]], bodies: dict[str, str]) -> tuple[list[str], list[str]]:
    missing, hollow = [], []
    for section, names in form.items():
        body = next((bodies[name] for name in names if name in bodies), None)
        if body is None:
            missing.append(section)
        elif section not in words("sections_that_may_be_none") and not _says(body):
            hollow.append(section)
    return missing, hollow


def _says(body: str) -> bool:
    """Tell whether any line says more than a placeholder does."""
    placeholders = set(words("placeholders"))
    for line in body.splitlines():
        if line.lstrip().startswith("#") or set(line.strip()) <= {"-", "*"}:
            continue
        plain = re.sub(r"^\s*(?:[-*•]|\d+[.)])?\s*(?:\[[ xX]\])?\s*", "", line).strip()
        bare = plain.strip("()（）.。*_ ").casefold()
        if bare and bare not in placeholders and not _TEMPLATE.match(plain):
            return True
    return False


_PATH: Final = re.compile(r"(?<![\w/])(?:[\w.-]+/)+[\w.-]+|(?<![\w/])[\w-]+\.[A-Za-z]{1,5}\b")


def three_answers(summary: str) -> dict[str, str]:
    """Return what a summary answers to the three questions, "" where it does not."""
    path = _PATH.search(summary)
    code = re.search(r"`[^`\n]+`", summary)
    source = path or code
    scope = find(summary, words("scope"))
    limit = find(summary, words("limits"))
    bodies = _bodies(summary)
    steps = next(
        (bodies[name] for name in words("summary_sections")["Next Steps"] if name in bodies), ""
    )
    unfinished = limit[0] if limit else _first_item(steps)
    return {
        "its sources": source[0] if source else "",
        "its scope": _around(summary, scope),
        "what is unfinished": unfinished,
    }


def _around(text: str, found: re.Match[str] | None) -> str:
    """Return a few words around a match, so that a person sees what it was taken from."""
    if found is None:
        return ""
    line_start = text.rfind("\n", 0, found.start()) + 1
    line_end = text.find("\n", found.end())
    return shortened(text[line_start : line_end if line_end >= 0 else len(text)].strip(" -*#"))


def _first_item(body: str) -> str:
    items = [_ITEM.sub("", line).strip() for line in body.splitlines() if line.strip()]
    return shortened(items[0]) if items and _says(body) else ""

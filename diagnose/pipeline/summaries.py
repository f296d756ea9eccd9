"""What a summary carries of the entries that it stands for, and what it leaves out."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.pipeline.effects import lasting, parts
from diagnose.pipeline.words import find, shortened, words
from diagnose.sessions.calls import each_arguments, pair
from diagnose.sessions.files import details_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.sessions.calls import PairedCall
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session

_ITEM: Final = re.compile(r"^\s*(?:[-*•·]|\d+[.)、])\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")
_WORD: Final = re.compile(r"[a-z_][a-z0-9_./-]{2,}|[\u4e00-\u9fff]{2,}")
_CHINESE: Final = "\u4e00"
# A question is no statement: "What was not checked?"
_QUESTION: Final = ("?", "？")
# The share of a statement's own words that must stand in a summary for it to be carried.
_CARRIED: Final = 0.6
# What is said in fewer words than this, or of which less than this share is in a summary, is taken
# for carried, and for lost.
_FEW: Final = 8
_SPOKEN: Final = 0.15
# The words of a sentence together are so long (letters) that it is told by them.
_TELLING: Final = 12
# The share of its words that must stand in a summary for it to be repeated there.
_REPEATED: Final = 0.75
# Prompts and replies longer than this (characters) are searched no further.
_SEARCHED: Final = 200_000


class Statement(msgspec.Struct, frozen=True):
    """A statement of a limit ("Not checked: call sites") and the entry that makes it."""

    entry: Entry
    text: str


def statements_of_limits(text: str) -> Iterator[str]:
    """Give each statement in a text of what was not done: in sentences, lists and tables."""
    limits = words("limits")
    searched = text[:_SEARCHED]
    # Most texts state none, which one look at all of it tells.
    lines = searched.splitlines() if find(searched, limits) else []
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
            if find(sentence, limits) and not sentence.rstrip().endswith(_QUESTION):
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


class _Said(msgspec.Struct, dict=True):
    """The words of a summary, made ready for many look-ups when the first is made."""

    summary: str

    @cached_property
    def folded(self) -> str:
        """The summary in lower case."""
        return self.summary[:_SEARCHED].casefold()

    @cached_property
    def limited(self) -> bool:
        """Whether it states any limit at all."""
        return find(self.folded, words("limits")) is not None

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its words and the parts of its paths, in the singular."""
        stems: set[str] = set()
        for word in set(_WORD.findall(self.folded)):
            stems.add(_stem(word))
            stems.update(_stem(piece) for piece in word.split("/"))
            stems.update(_stem(piece) for piece in re.split(r"[/._-]", word))
        return frozenset(stems)

    def names(self, word: str) -> bool:
        """Tell whether a folded word stands in the summary, in the plural or not."""
        if word[0] < _CHINESE:
            return _stem(word) in self.stems
        # Chinese is written without spaces: most pairs of characters must be there.
        pairs = [word[i : i + 2] for i in range(len(word) - 1)]
        return sum(pair in self.folded for pair in pairs) >= _CARRIED * len(pairs)


def _stem(word: str) -> str:
    bare = word.strip("./-_")
    return bare[:-1] if len(bare) > 3 and bare.endswith("s") else bare  # noqa: PLR2004 (is, us)


def _own_words(text: str) -> set[str]:
    """Return the words of a text that are its own, folded; the full stop of a sentence is none."""
    weak = words("fillers")
    found = {word.strip("./-_") for word in _WORD.findall(text.casefold())}
    return {word for word in found if len(word) > 1 and word not in weak}


@lru_cache(maxsize=4)
def _said(summary: str) -> _Said:
    return _Said(summary)


def _carries(said: _Said, statement: str) -> bool:
    """Tell whether a summary still says what a statement of limits says.

    It does where the statement itself stands there, or all of its own words, or most of them where
    the summary states a limit at all.
    """
    if statement.casefold().rstrip(" .。") in said.folded:
        return True
    phrase = find(statement, words("limits"))
    rest = statement.replace(phrase[0], " ") if phrase else statement
    own = _own_words(rest)
    if not own:
        return said.limited
    there = sum(said.names(word) for word in own)
    return there == len(own) or (said.limited and there >= _CARRIED * len(own))


def dropped_statements(entries: list[Entry], texts: list[str], summary: str) -> list[Statement]:
    """Return the statements of limits in entries that a summary does not carry; each once."""
    found: dict[str, Statement] = {}
    said = _said(summary)
    for entry, text in zip(entries, texts, strict=True):
        if not entry.is_activity:
            continue
        for statement in statements_of_limits(text):
            if statement.casefold() not in found and not _carries(said, statement):
                found[statement.casefold()] = Statement(entry, statement)
    return list(found.values())


def repeats(summary: str, text: str) -> str | None:
    """Return a sentence of a text most of whose words a summary has, None where there is none.

    Sentences of few words of their own say too little to tell.
    """
    said = _said(summary)
    for line in text[:_SEARCHED].splitlines():
        for sentence in _SENTENCE.split(line):
            own = _own_words(sentence)
            there = sum(map(said.names, own))
            if sum(map(len, own)) >= _TELLING and there >= _REPEATED * len(own):
                return sentence.strip()
    return None


def speaks_of(summary: str, texts: list[str]) -> bool:
    """Tell whether a summary has some of the words of what was said; so too of very few words."""
    said = _said(summary)
    own = set().union(*(_own_words(text[:_SEARCHED]) for text in texts))
    return len(own) < _FEW or sum(said.names(word) for word in own) >= _SPOKEN * len(own)


class Named(msgspec.Struct, frozen=True):
    """A file or command of a tool call, and the entry that holds the call."""

    entry: Entry
    text: str


def dropped_files(
    session: Session, entries: list[Entry], value: object, summary: str
) -> list[Named]:
    """Return the files that calls in entries read or changed and that a summary does not name.

    A file that a shell command wrote is in none of Pi's own lists; failed calls touch no file.
    """
    read, modified = details_files(value)
    listed = {*read, *modified}
    said = _said(summary)
    found: dict[str, Named] = {}
    calls = _not_failed(entries)
    written: dict[int, list[str | None]] = {}
    # Commands alone are read again: the path that a file's tool was given is at hand.
    for call, command in _commands(session, calls):
        if ">" in command:
            redirections = [part for part in parts(command) if part.words[:1] == (">",)]
            written[id(call)] = [part.words[1] for part in redirections]
    for call in calls:
        given_path = call.call.path if call.call.name in ("read", "edit", "write") else None
        for path in written.get(id(call), [given_path]):
            if path and path not in listed and path not in found and not _names_file(said, path):
                found[path] = Named(call.entry, path)
    return list(found.values())


def _not_failed(entries: list[Entry]) -> list[PairedCall]:
    """Return the calls in entries that no result says to have failed."""
    return [
        call
        for call in pair(entries).calls
        if call.result is None or call.result.message is None or not call.result.message.is_error
    ]


def _commands(session: Session, calls: list[PairedCall]) -> Iterator[tuple[PairedCall, str]]:
    """Give each call of the shell with its command; no other reply is read again."""
    for call, given in each_arguments(session, [c for c in calls if c.call.name == "bash"]):
        command = given.get("command")
        if isinstance(command, str):
            yield call, command


def _names_file(said: _Said, path: str) -> bool:
    """Tell whether a summary names a file by its path, or by its name where that tells it apart."""
    name = path.rstrip("/").rsplit("/", 1)[-1].casefold()
    return path.casefold() in said.folded or ("." in name.strip(".") and _stem(name) in said.stems)


def dropped_commands(session: Session, entries: list[Entry], summary: str) -> list[Named]:
    """Return the shell commands in entries whose program a summary does not name."""
    found: dict[str, Named] = {}
    folded = summary.casefold()
    for call, command in _commands(session, pair(entries).calls):
        if not command.strip():
            continue
        program = command.split()[0].rsplit("/", 1)[-1]
        if program.casefold() not in folded and command.casefold() not in folded:
            found.setdefault(command, Named(call.entry, command))
    return list(found.values())


def dropped_effects(session: Session, entries: list[Entry], summary: str) -> list[Named]:
    """Return the commands of lasting effect, and runs of tests, that a summary does not name.

    Failed ones are left out. A command counts as named by its verb (`push` in "pushed to origin"),
    or by a path that it was given.
    """
    found: dict[str, Named] = {}
    said = _said(summary)
    for call, command in _commands(session, _not_failed(entries)):
        for part in lasting(command):
            if part.text not in found and not _names_command(said, part.words):
                found[part.text] = Named(call.entry, part.text)
    return list(found.values())


def _names_command(said: _Said, command: tuple[str | None, ...]) -> bool:
    plain = [word.casefold() for word in command if word and word[:1] != "-"]
    if not plain:
        return False
    verb = plain[1] if len(plain) > 1 and plain[0] in words("programs_with_verbs") else plain[0]
    # A short verb stands in many words: `rm` in "form".
    named = verb in said.folded if len(verb) > 3 else verb in said.stems  # noqa: PLR2004
    return named or any(_names_file(said, word) for word in plain[1:] if "/" in word or "." in word)


class Place(msgspec.Struct, frozen=True):
    """Where a text stands in an entry: what part of it, at which character, and what is around.

    Blocks of the content are counted from 1; a content that is a text is its own first block.
    """

    entry: Entry
    # "text", "thinking", "tool result" or "arguments"
    part: str
    block: int
    offset: int
    around: str


def places(entry: Entry, value: object, wanted: str) -> Place | None:
    """Return the first place of an entry where a folded text stands, None where it does not."""
    for part, block, text in _texts(entry, value):
        offset = text.casefold().find(wanted)
        if offset >= 0:
            start = max(0, offset - 60)
            return Place(entry, part, block, offset, shortened(text[start : offset + 180], 200))
    return None


def _texts(entry: Entry, value: object) -> Iterator[tuple[str, int, str]]:
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    usual = "tool result" if entry.role == "toolResult" else "text"
    if isinstance(content, str):
        yield usual, 1, content
    for number, block in enumerate(content if isinstance(content, list) else (), start=1):
        if not isinstance(block, dict):
            continue
        if isinstance(block.get("text"), str):
            yield usual, number, block["text"]
        if isinstance(block.get("thinking"), str):
            yield "thinking", number, block["thinking"]
        if block.get("type") == "toolCall" and isinstance(block.get("arguments"), dict):
            for one in block["arguments"].values():
                if isinstance(one, str):
                    yield "arguments", number, one


# "## 1. Goal", "**Goal:** check it", "Goal:": marks, name, and what follows on the same line.
_HEADING: Final = re.compile(r"\s*(#{1,6}|\*\*|__|)\s*(?:\d+[.)]\s*)?([^:：*#]{1,60})(.*)")
_TOP: Final = ("#", "##")
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
    known = {
        name
        for form in (words("summary_sections"), words("turn_prefix_sections"))
        for names in form.values()
        for name in names
    }
    found: dict[str, list[str]] = {}
    top: str | None = None
    body = text.split("<read-files>", maxsplit=1)[0].split("<modified-files>", maxsplit=1)[0]
    for line in body.splitlines():
        marks, name, rest = "", "", ""
        if heading := _HEADING.match(line):
            marks, name, rest = heading.groups()
        name = name.strip(" _").casefold()
        follows = rest.strip(" *_:：")
        # Without marks only a line that is no more than the name is a heading; marks other than
        # those of a section head one only where the name is a section's.
        if marks in _TOP or (
            name in known and (marks or (rest[:1] in (":", "：") and not follows))
        ):
            top = name
            found.setdefault(top, []).append(follows)
        elif top is not None:
            found[top].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def _thin(form: dict[str, list[str]], bodies: dict[str, str]) -> tuple[list[str], list[str]]:
    missing, hollow = [], []
    for section, names in form.items():
        body = next((bodies[name] for name in names if name in bodies), None)
        if body is None:
            missing.append(section)
        elif not _says(body) and not (
            section in words("sections_that_may_be_none") and _says_none(body)
        ):
            hollow.append(section)
    return missing, hollow


def _says(body: str) -> bool:
    """Tell whether any line says more than a placeholder does."""
    placeholders = set(words("placeholders"))
    return any(
        bare and bare not in placeholders and not _TEMPLATE.match(plain)
        for plain, bare in _items(body)
    )


def _says_none(body: str) -> bool:
    """Tell whether a section says that there is nothing to say, as Pi's form asks for."""
    return any(bare in words("words_for_none") for _, bare in _items(body))


def _items(body: str) -> Iterator[tuple[str, str]]:
    """Give each line without its list mark and box, and that without brackets and full stops."""
    for line in body.splitlines():
        if line.lstrip().startswith("#") or set(line.strip()) <= {"-", "*"}:
            continue
        plain = re.sub(r"^\s*(?:[-*•]|\d+[.)])?\s*(?:\[[ xX]\])?\s*", "", line).strip()
        yield plain, plain.strip("()（）.。*_ ").casefold()


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

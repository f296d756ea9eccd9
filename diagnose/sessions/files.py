"""What a session recorded about files: read, written and edited, as its tool results have it.

Pi 1.6.0, core/tools: a `read` result holds the text that was read, whole unless `offset` or `limit`
was given or it was cut, which a bracketed last line says; `write` arguments hold the whole new
content; an `edit` result carries a unified diff in `details.patch`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from diagnose.sessions.calls import PairedCall, arguments, result_text
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session

# What the read tool appends to a text that is not the whole file.
_CUT: Final = re.compile(
    r"\n\n\[(?:Showing lines \d+-\d+ of \d+.*"
    r"|\d+ more lines in file\. Use offset=\d+ to continue\.)\]\Z"
)
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
# Pi normalises these in a path argument before it resolves it (utils/paths.js).
_SPACES: Final = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


@dataclass(slots=True, frozen=True)
class Lines:
    """A run of lines that was seen; `start` counts from 1."""

    start: int
    lines: tuple[str, ...]


@dataclass(slots=True, frozen=True)
class Observation:
    """The last that a branch knows of one file: all of its text, or runs of its lines."""

    # As the call named it, and as Pi resolves it against the session's working directory.
    given: str
    path: str
    # "read", "write" or "edit": what gave the knowledge last
    method: str
    entry: Entry
    result: Entry
    text: str | None
    runs: tuple[Lines, ...] = ()
    # Whether the session itself changed the file, so that the state is its own doing.
    changed_by_session: bool = False
    # Why the text cannot be compared, where it cannot: an image, say.
    obstacle: str | None = None


def resolve(given: str, cwd: str, home: str | None) -> str:
    """Return the path that Pi's tools open for an argument; nothing is looked up on disk.

    `home` stands for `~`; None leaves the sign as it is.
    """
    path = _SPACES.sub(" ", given)
    path = path.removeprefix("@")
    if home is not None and (path == "~" or path.startswith("~/")):
        path = home + path[1:]
    parts: list[str] = []
    absolute = path if path.startswith("/") else f"{cwd}/{path}"
    for part in absolute.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def observations(
    session: Session, calls: Iterable[PairedCall], home: str | None
) -> dict[str, Observation]:
    """Return the last state of each file, by resolved path, that the calls' results establish.

    Calls without a result, and failed ones, establish nothing.
    """
    known: dict[str, Observation] = {}
    for call in calls:
        if call.call.name not in ("read", "write", "edit") or call.result is None:
            continue
        if call.result.message is None or call.result.message.is_error:
            continue
        given = arguments(session, call).get("path")
        if not isinstance(given, str) or not given or "\0" in given:
            continue
        path = resolve(given, session.cwd or "/", home)
        observe = {"read": _read, "write": _write, "edit": _edit}[call.call.name]
        base = Observation(given, path, call.call.name, call.entry, call.result, None)
        known[path] = observe(session, call, base, known.get(path))
    return known


def _read(
    session: Session, call: PairedCall, base: Observation, before: Observation | None
) -> Observation:
    changed = before is not None and before.changed_by_session
    base = replace(base, changed_by_session=changed)
    value = get(session.value(base.result), "message")
    content = value.get("content")
    if isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "image" for block in content
    ):
        return replace(base, obstacle="an image: what was seen is not its bytes")
    text = result_text(session, base.result)
    asked = arguments(session, call)
    start = asked.get("offset")
    start = int(start) if isinstance(start, int | float) and start >= 1 else 1
    cut = _CUT.search(text)
    if cut is None and start == 1 and not asked.get("limit"):
        return replace(base, text=text)
    body = text[: cut.start()] if cut else text
    if cut is None and start == 1:
        # A limit that reached the end of the file: the text is whole after all.
        return replace(base, text=body)
    run = Lines(start, tuple(body.split("\n")))
    if before is not None and before.text is not None and _holds(before.text, run):
        # The part agrees with the whole that was seen before, so the whole still stands.
        return replace(base, text=before.text)
    earlier = before.runs if before is not None and before.text is None else ()
    return replace(base, runs=(*(r for r in earlier if not _overlap(r, run)), run))


def _holds(text: str, run: Lines) -> bool:
    return tuple(text.split("\n")[run.start - 1 : run.start - 1 + len(run.lines)]) == run.lines


def _overlap(one: Lines, other: Lines) -> bool:
    return one.start < other.start + len(other.lines) and other.start < one.start + len(one.lines)


def _write(
    session: Session, call: PairedCall, base: Observation, _before: Observation | None
) -> Observation:
    content = arguments(session, call).get("content")
    base = replace(base, changed_by_session=True)
    if not isinstance(content, str):
        return replace(base, obstacle="the written content is not in the call")
    return replace(base, text=content)


def _edit(
    session: Session, _call: PairedCall, base: Observation, before: Observation | None
) -> Observation:
    base = replace(base, changed_by_session=True)
    details = get(get(session.value(base.result), "message"), "details")
    patch = details.get("patch") if isinstance(details, dict) else None
    if not isinstance(patch, str):
        return replace(base, obstacle="the edit's result carries no diff")
    hunks = list(_hunks(patch))
    if before is not None and before.text is not None:
        text = _applied(before.text, hunks)
        if text is not None:
            return replace(base, text=text)
    runs = tuple(Lines(start, new) for start, _, new in hunks)
    return replace(base, runs=runs)


def _hunks(patch: str) -> Iterable[tuple[int, tuple[str, ...], tuple[str, ...]]]:
    """Give each hunk of a unified diff as (first line in the new text, old lines, new lines)."""
    old: list[str] = []
    new: list[str] = []
    start = 0
    for line in patch.split("\n"):
        if found := _HUNK.match(line):
            if start:
                yield start, tuple(old), tuple(new)
            start, old, new = int(found[3]) or 1, [], []
        elif start and line[:1] in (" ", "-", "+"):
            if line[0] != "+":
                old.append(line[1:])
            if line[0] != "-":
                new.append(line[1:])
    if start:
        yield start, tuple(old), tuple(new)


def _applied(
    text: str, hunks: Iterable[tuple[int, tuple[str, ...], tuple[str, ...]]]
) -> str | None:
    """Return the text after the hunks; None where one does not fit what was known."""
    lines = text.split("\n")
    # The diff ignores CR; so does the comparison here, and each old line keeps its own.
    for start, old, new in hunks:
        place = start - 1
        if tuple(line.removesuffix("\r") for line in lines[place : place + len(old)]) != tuple(
            line.removesuffix("\r") for line in old
        ):
            return None
        ending = "\r" if lines[place : place + 1] and lines[place].endswith("\r") else ""
        lines[place : place + len(old)] = [line.removesuffix("\r") + ending for line in new]
    return "\n".join(lines)


def mentioned(text: str) -> list[str]:
    """Return the paths that a person named with `@` in a prompt; Pi leaves them as text."""
    return [match.rstrip(".,;:!?)，。；：！？）") for match in _MENTION.findall(text)]


_MENTION: Final = re.compile(r"(?:^|(?<=[\s(（,，]))@([^\s@，。；：！？]+)")
_ATTACHED: Final = re.compile(r'<file name="([^"\n]+)">')


def attached(text: str) -> list[str]:
    """Return the paths of files that `pi @path` put into a prompt, content and all."""
    return _ATTACHED.findall(text)


def details_files(value: Any) -> tuple[list[str], list[str]]:
    """Return (read, modified) files of a compaction's or branch summary's `details`."""
    details = get(value, "details")
    if not isinstance(details, dict):
        return [], []

    def texts(name: str) -> list[str]:
        found = details.get(name)
        return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []

    return texts("readFiles"), texts("modifiedFiles")

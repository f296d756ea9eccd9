"""What a session recorded about files: read, written and edited, as its tool results have it.

Pi 1.6.0, core/tools: a `read` result holds the text that was read, whole unless `offset` or `limit`
was given or it was cut, which a bracketed last line says; `write` arguments hold the whole new
content; an `edit` result carries a unified diff in `details.patch`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from diagnose.sessions.calls import arguments
from diagnose.sessions.context import content_text
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diagnose.sessions.calls import PairedCall
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


class Lines(msgspec.Struct, frozen=True):
    """A run of lines that was seen; `start` counts from 1."""

    start: int
    lines: tuple[str, ...]


class Contents(msgspec.Struct, frozen=True):
    """What is known of a file's text: all of it, or runs of its lines, or why neither."""

    text: str | None
    runs: tuple[Lines, ...] = ()
    # Why the text cannot be compared, where it cannot: an image, say.
    obstacle: str | None = None


_NOTHING: Final = Contents(None)


class Observation(msgspec.Struct, frozen=True):
    """The last that a branch knows of one file; its text is read again when it is asked for."""

    # As the call named it, and as Pi resolves it against the session's working directory.
    given: str
    path: str
    # "read", "write" or "edit": what gave the knowledge last
    method: str
    entry: Entry
    result: Entry
    # The calls that establish it, in order.
    calls: tuple[PairedCall, ...]

    @property
    def changed_by_session(self) -> bool:
        """Whether the session itself changed the file, so that the state is its own doing."""
        return any(call.call.name != "read" for call in self.calls)

    def contents(self, session: Session) -> Contents:
        """Work the text out from the session's tool results."""
        # What has all of the file tells what came before it: the rest is not read again.
        for place in reversed(range(len(self.calls))):
            call = self.calls[place]
            if call.call.name == "write" or (call.call.name == "read" and call.call.is_whole):
                known = _STEPS[call.call.name](session, call, _NOTHING)
                if known.text is not None or known.obstacle is not None:
                    return self._after(session, place + 1, known)
        return self._after(session, 0, _NOTHING)

    def text_before_changes(self, session: Session) -> str | None:
        """Return the whole text before the session's first change, None where it is not known.

        A file that the session wrote without having seen it is taken for a new one: "".
        """
        known = _NOTHING
        for call in self.calls:
            if call.call.name == "write" and known == _NOTHING:
                return ""
            if call.call.name != "read":
                return known.text
            known = _STEPS[call.call.name](session, call, known)
        return known.text

    def _after(self, session: Session, place: int, known: Contents) -> Contents:
        for call in self.calls[place:]:
            known = _STEPS[call.call.name](session, call, known)
        return known


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
    known: dict[str, list[PairedCall]] = {}
    cwd = session.cwd or "/"
    # A session names one file hundreds of times.
    resolved: dict[str, str] = {}
    for call in calls:
        result, given = call.result, call.call.path
        if call.call.name not in _STEPS or result is None or not given or "\0" in given:
            continue
        if result.message is not None and not result.message.is_error:
            if given not in resolved:
                resolved[given] = resolve(given, cwd, home)
            known.setdefault(resolved[given], []).append(call)
    found = {}
    for path, made in known.items():
        last = made[-1]
        if last.result is not None and last.call.path is not None:
            found[path] = Observation(
                last.call.path, path, last.call.name, last.entry, last.result, tuple(made)
            )
    return found


def _content(session: Session, call: PairedCall, name: str) -> Any:
    """Return a field of the message of a call's result."""
    return get(get(session.value(call.result), "message"), name) if call.result else None


def _read(session: Session, call: PairedCall, before: Contents) -> Contents:
    content = _content(session, call, "content")
    if isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type") == "image" for block in content
    ):
        return Contents(None, obstacle="an image: what was seen is not its bytes")
    text = content_text(content)
    # It is the last line, after an empty one.
    cut = _CUT.match(text, max(text.rfind("\n") - 1, 0))
    if cut is None and call.call.is_whole:
        return Contents(text)
    start = arguments(session, call).get("offset")
    start = int(start) if isinstance(start, int | float) and start >= 1 else 1
    body = text[: cut.start()] if cut else text
    if cut is None and start == 1:
        # A limit that reached the end of the file: the text is whole after all.
        return Contents(body)
    run = Lines(start, tuple(body.split("\n")))
    if before.text is not None and _holds(before.text, run):
        # The part agrees with the whole that was seen before, so the whole still stands.
        return before
    earlier = before.runs if before.text is None else ()
    runs = (*(r for r in earlier if not _overlap(r, run)), run)
    return Contents(None, runs)


def _holds(text: str, run: Lines) -> bool:
    return tuple(text.split("\n")[run.start - 1 : run.start - 1 + len(run.lines)]) == run.lines


def _overlap(one: Lines, other: Lines) -> bool:
    return one.start < other.start + len(other.lines) and other.start < one.start + len(one.lines)


def _write(session: Session, call: PairedCall, before: Contents) -> Contents:
    del before  # it is gone, whatever it was
    content = arguments(session, call).get("content")
    if not isinstance(content, str):
        return Contents(None, obstacle="the written content is not in the call")
    return Contents(content)


def _edit(session: Session, call: PairedCall, before: Contents) -> Contents:
    details = _content(session, call, "details")
    patch = details.get("patch") if isinstance(details, dict) else None
    if not isinstance(patch, str):
        return Contents(None, obstacle="the edit's result carries no diff")
    hunks = list(_hunks(patch))
    text = _applied(before.text, hunks) if before.text is not None else None
    if text is not None:
        return Contents(text)
    runs = tuple(Lines(start, new) for start, _, new in hunks)
    return Contents(None, runs)


_STEPS: Final = {"read": _read, "write": _write, "edit": _edit}


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
        if not isinstance(found, list):
            return []
        # Each compaction lists all that was read before, and it is all texts.
        if set(map(type, found)) == {str}:
            return found
        return [item for item in found if isinstance(item, str)]

    return texts("readFiles"), texts("modifiedFiles")

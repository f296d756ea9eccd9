"""One entry of a session, kept small: what the tree and the pairing need, and where its text is.

The names of fields and types are those of Pi 1.6.0, docs/session-format.md and message-types.md.
"""

from __future__ import annotations

from datetime import UTC, datetime
from sys import intern
from typing import Any, Final, TypeGuard

# Its structs are made several times as fast as dataclasses, and there is one for every line; the
# collector of garbage passes them over, since nothing in them leads back. Elsewhere they stand for
# dataclasses since the class itself, at each start, takes 20 µs and not 800.
import msgspec

from diagnose.sessions.javascript import (
    UNDEFINED,
    identity,
    is_nullish,
    is_truthy,
)


class Call(msgspec.Struct, frozen=True, gc=False):
    """A tool call inside an assistant message; `id` is what its result names."""

    id: Any
    name: str
    # The `path` of a call that reads or changes a file, as it is given, and whether it asks for
    # all of it: enough to know what a session observed without reading every call again.
    path: str | None = None
    is_whole: bool = True


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens and cost (US dollars) of one request, as Pi adds them up for `/session`."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cost: float

    @property
    def tokens(self) -> float:
        """All tokens: input, output, cache read and cache write."""
        return self.input + self.output + self.cache_read + self.cache_write


class Message(msgspec.Struct, gc=False, eq=False):
    """What is kept of a `message` entry's message."""

    # Unix milliseconds; None where the message carries no number.
    timestamp: float | None = None
    # assistant
    stop_reason: str | None = None
    provider: Any = UNDEFINED
    model: Any = UNDEFINED
    calls: tuple[Call, ...] = ()
    # toolResult
    call_id: Any = UNDEFINED
    tool_name: str | None = None
    is_error: bool = False
    # `durationMs` stands there only where the tool really ran.
    ran: bool = False
    # bashExecution
    excluded: bool = False


class Boundary(msgspec.Struct, gc=False, eq=False):
    """What is kept of a `compaction` or `branch_summary` entry."""

    # The compaction's `firstKeptEntryId`, or the branch summary's `fromId`.
    target: Any
    has_summary: bool
    has_system: bool
    from_hook: bool
    tokens_before: float | None


class Edit(msgspec.Struct, gc=False, eq=False):
    """What is kept of a `context_edit` entry."""

    target: Any
    # "removes" (null), "replaces" (anything else), "lacks" (no such field: Pi throws)
    effect: str


# By identity: two entries are one only where they are the same line.
class Entry(msgspec.Struct, gc=False, eq=False):
    """One entry; `line` counts from 1, `offset` and `length` are bytes of the line in the file."""

    line: int
    offset: int
    length: int
    type: str | None
    # Keys as a JavaScript Map holds them equal; a string stands for itself.
    id: Any
    parent: Any
    # Milliseconds since the epoch, UTC; None where the entry has no readable time.
    time: float | None
    # The role of the message, None where this entry is none. It stands here and not in the message:
    # every rule asks it of every entry.
    role: str | None = None
    message: Message | None = None
    boundary: Boundary | None = None
    edit: Edit | None = None
    usage: Usage | None = None
    # True where a field has a type that Pi's own code does not expect: then the tree and the
    # context are built from the whole value, as JavaScript would take it.
    odd: bool = False
    # False for a line such as `42` or `[]`, which Pi takes into its list all the same.
    is_object: bool = True

    @property
    def entry_id(self) -> str | None:
        """The id as a report shows it; None where there is none (version 1)."""
        return self.id if isinstance(self.id, str) else None

    @property
    def is_activity(self) -> bool:
        """Whether Pi's picker counts it as activity: a user or assistant message."""
        return self.role in ("user", "assistant")


_NUMBERS: Final = frozenset({int, float})
# Asked for by its class, it takes twice as long, for every line.
_from_iso: Final = datetime.fromisoformat
# The years 1 to 9999 (milliseconds), less a day at either end.
_FIRST: Final = -62_135_510_400_000
_LAST: Final = 253_402_214_400_000


def parse_time(value: Any) -> float | None:
    """Return an ISO 8601 time as milliseconds since the epoch, None where it is none."""
    if not isinstance(value, str):
        return None
    try:
        moment = _from_iso(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        # JavaScript: a date alone is UTC, a date with a time is local. Pi writes `Z` always.
        moment = moment.replace(tzinfo=UTC) if len(value) <= len("2026-10-20") else moment
    try:
        time = moment.timestamp() * 1000
    except (OverflowError, OSError, ValueError):
        return None
    return time if _FIRST <= time <= _LAST else None


def on_calendar(time: float | None) -> float | None:
    """Return a moment (milliseconds) that a date can be given to in every time zone, else None."""
    return time if time is not None and _FIRST <= time <= _LAST else None


def _number(value: Any) -> TypeGuard[int | float]:
    # By type and not by isinstance: a truth value is no number, and this runs for every message.
    return type(value) in _NUMBERS


# No system opens a longer one (characters).
_LONGEST_PATH: Final = 4096


def _usage(value: Any) -> Usage | None:
    """Return the usage where all that Pi adds up is a number, else None."""
    try:
        numbers = (
            value["input"],
            value["output"],
            value["cacheRead"],
            value["cacheWrite"],
            value["cost"]["total"],
        )
    except (TypeError, KeyError, IndexError):
        return None
    return Usage(*numbers) if _NUMBERS.issuperset(map(type, numbers)) else None


def _text(value: Any) -> str | None:
    return intern(value) if isinstance(value, str) else None


def _call(block: dict[str, Any]) -> Call:
    call_id, name = identity(block.get("id", UNDEFINED)), _text(block.get("name")) or "?"
    given = block.get("arguments")
    if not isinstance(given, dict):
        return Call(call_id, name)
    path = given.get("path")
    if not isinstance(path, str) or len(path) > _LONGEST_PATH:
        return Call(call_id, name)
    is_whole = given.get("offset") in (None, 1) and not given.get("limit")
    return Call(call_id, name, intern(path), is_whole)


def _shared(value: Any) -> Any:
    """Return a value whose text, where it is one, is kept once however often it occurs."""
    return intern(value) if isinstance(value, str) else value


def _message(raw: dict[str, Any], entry: Entry) -> Message:
    role = entry.role = _text(raw.get("role"))
    stamp = raw.get("timestamp")
    message = Message(float(stamp) if _number(stamp) else None)
    content: Any = raw.get("content")
    is_list = isinstance(content, list)
    blocks = content if is_list else []
    if role == "assistant":
        message.stop_reason = _text(raw.get("stopReason"))
        message.provider = _shared(raw.get("provider", UNDEFINED))
        message.model = _shared(raw.get("model", UNDEFINED))
        message.calls = tuple(
            [
                _call(block)
                for block in blocks
                if type(block) is dict and block.get("type") == "toolCall"
            ]
        )
        entry.usage = _usage(raw.get("usage"))
        entry.odd = entry.usage is None or not (is_list or content is None)
    elif role == "toolResult":
        message.call_id = identity(raw.get("toolCallId", UNDEFINED))
        message.tool_name = _text(raw.get("toolName"))
        message.is_error = raw.get("isError") is True
        message.ran = _number(raw.get("durationMs"))
        if is_truthy(raw.get("usage")):
            entry.usage = _usage(raw.get("usage"))
            entry.odd = entry.usage is None
        entry.odd = entry.odd or not (is_list or content is None or isinstance(content, str))
    elif role == "bashExecution":
        message.excluded = is_truthy(raw.get("excludeFromContext"))
    # By type: a line's objects are dicts and nothing else, and this runs for every block.
    for block in blocks:
        if type(block) is not dict:
            entry.odd = True
    return message


def read_entry(value: Any, line: int, offset: int, length: int) -> Entry:
    """Return the small form of a parsed line; `value` is any JSON value that Pi keeps."""
    if not isinstance(value, dict):
        return Entry(
            line, offset, length, None, UNDEFINED, UNDEFINED, None, odd=True, is_object=False
        )
    kind = value.get("type")
    entry = Entry(
        line,
        offset,
        length,
        _text(kind),
        identity(value.get("id", UNDEFINED)),
        identity(value.get("parentId", UNDEFINED)),
        parse_time(value.get("timestamp")),
    )
    if kind == "message":
        raw = value.get("message")
        if isinstance(raw, dict):
            entry.message = _message(raw, entry)
            if entry.time is None:
                entry.time = on_calendar(entry.message.timestamp)
        else:
            entry.odd = True
    elif kind in ("compaction", "branch_summary"):
        before = value.get("tokensBefore")
        target = value.get("firstKeptEntryId" if kind == "compaction" else "fromId", UNDEFINED)
        entry.boundary = Boundary(
            identity(target),
            is_truthy(value.get("summary")),
            is_truthy(value.get("systemMessage")),
            is_truthy(value.get("fromHook")),
            float(before) if _number(before) else None,
        )
        if is_truthy(value.get("usage")):
            entry.usage = _usage(value.get("usage"))
            entry.odd = entry.usage is None
        system = value.get("systemMessage")
        if is_truthy(system) and not isinstance(system, dict):
            entry.odd = True
    elif kind == "context_edit":
        replacement = value.get("replacement", UNDEFINED)
        effect = (
            "removes" if replacement is None else "lacks" if is_nullish(replacement) else "replaces"
        )
        entry.edit = Edit(identity(value.get("targetId", UNDEFINED)), effect)
        entry.odd = not (replacement is None or isinstance(replacement, dict))
    elif kind == "usage":
        entry.usage = _usage(value.get("usage"))
        entry.odd = entry.usage is None
    elif kind == "session_info":
        entry.odd = not isinstance(value.get("name"), str | None)
    return entry

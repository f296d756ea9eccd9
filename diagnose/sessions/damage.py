"""The lines that Pi passes over: what befell each, and what can still be read in it.

A write that is cut off leaves a torn line; the next append then goes on the same physical line and
is lost with it. Pi 1.6.0 mends a missing line end on loading alone (core/session-manager.js
`loadEntriesFromFile`), so a process that goes on after a failed write does not.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from diagnose.sessions.entry import parse_time
from diagnose.sessions.javascript import parse, parse_line

if TYPE_CHECKING:
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session, Skipped

Kind = Literal["torn", "garbled", "two records", "split", "NUL", "header", "falsy", "no record"]

# More lines than this are counted and not looked at one by one.
LOOKED_AT: Final = 50
# Fields stand at the beginning of a record; further in (characters) nothing is looked for.
_READ: Final = 65_536
# A second record is tried for at this many places, and in this many times the line's bytes.
_TRIES: Final = 8
_WORK: Final = 4
# A record that runs over several lines is followed no further than this (bytes).
_JOINED: Final = 262_144
# A text that is shorter than this (bytes) does not show that two records are the same.
_TELLING: Final = 40
# The beginning of an entry or a header as Pi writes it; blocks inside one have no parent.
_RECORD: Final = re.compile(
    rb'\{"type":"(?:session"|[^"\\]*","id":(?:"[^"\\]*"|[0-9]+),"parentId":)'
)
_PIECE: Final = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*)"\s*(:)?|([{}\[\]])|,|(-?[0-9][0-9.eE+-]*|true|false|null))',
    re.DOTALL,
)
# What `surrogateescape` makes of a byte that is no UTF-8.
_BYTE: Final = re.compile("[\udc80-\udcff]")
_MARKS: Final = re.compile(rb'["\\{}\[\]\n]')


class Record(msgspec.Struct, frozen=True):
    """What can be read of a record, be it cut off or whole."""

    type: str | None = None
    id: str | None = None
    parent: str | None = None
    # Milliseconds since the epoch, UTC.
    time: float | None = None
    role: str | None = None
    call_id: str | None = None
    tool: str | None = None


class Damage(msgspec.Struct, frozen=True):
    """A line that Pi passes over; `last_line` differs from its own where a record runs on."""

    skipped: Skipped
    kind: Kind
    last_line: int
    # Whether it is the end of the file, and whether the line itself was ended.
    is_last: bool
    is_ended: bool
    # The record that was cut off, where its beginning is there; or the one that is garbled.
    torn: Record | None = None
    # Of one that is garbled, the byte of the file at which it is no JSON any more, and whether
    # bytes that are no UTF-8 stand there.
    garbled_offset: int | None = None
    is_not_utf8: bool = False
    # A record that stands whole in the line, and the byte of the file at which it begins.
    whole: Record | None = None
    whole_offset: int | None = None
    # The entry in which the same record stands whole.
    copy: Entry | None = None
    # The entries of the file around it.
    before: Entry | None = None
    after: Entry | None = None

    @property
    def line(self) -> int:
        """Its physical line in the file, from 1."""
        return self.skipped.line

    @property
    def lost(self) -> list[Record]:
        """The records that are in the line and nowhere else."""
        found = [self.torn if self.copy is None else None, self.whole]
        return [record for record in found if record is not None]

    def loses(self, key: Any) -> bool:
        """Tell whether the line holds the record of an id."""
        return any(isinstance(key, str) and record.id == key for record in self.lost)


def read_record(text: str) -> Record:
    """Read the fields of a record as far as it goes; what is not there stays None."""
    fields: dict[str, str] = {}
    keys: dict[int, str] = {}
    depth = position = 0
    text = text[:_READ]
    while found := _PIECE.match(text, position):
        position = found.end()
        word, colon, bracket, plain = found.groups()
        if bracket:
            depth += 1 if bracket in "{[" else -1
            keys.pop(depth, None)
            if depth <= 0:
                break
        elif colon:
            keys[depth] = word
        elif word is not None or plain:
            name = ".".join(keys.get(level, "") for level in range(1, min(depth, 3) + 1))
            fields.setdefault(name, _unescaped(word) if word is not None else "")
    time = parse_time(fields.get("timestamp"))
    return Record(
        fields.get("type"),
        fields.get("id"),
        fields.get("parentId") or None,
        time,
        fields.get("message.role"),
        fields.get("message.toolCallId"),
        fields.get("message.toolName"),
    )


def _unescaped(word: str) -> str:
    try:
        value = json.loads(f'"{word}"')
    except ValueError:
        return word
    return value if isinstance(value, str) else word


def damages(session: Session) -> list[Damage]:
    """Return what befell the first lines that Pi passes over, in the order of the file.

    No more than LOOKED_AT lines are looked at; each is read again from the file.
    """
    if not session.skipped:
        return []
    by_id = {entry.id: entry for entry in session.entries}
    lines = [entry.line for entry in session.entries]
    found: list[Damage] = []
    covered = 0
    for number, skipped in enumerate(session.skipped[:LOOKED_AT]):
        if skipped.line <= covered:
            continue
        place = bisect_left(lines, skipped.line)
        before = session.entries[place - 1] if place else None
        after = session.entries[place] if place < len(lines) else None
        is_last = skipped.line == session.lines
        ended = not is_last or session.ends_with_newline
        one = _look(session, number, by_id, (before, after), (is_last, ended))
        covered = one.last_line
        found.append(one)
    return found


def _look(
    session: Session,
    number: int,
    by_id: dict[Any, Entry],
    around: tuple[Entry | None, Entry | None],
    end: tuple[bool, bool],
) -> Damage:
    skipped = session.skipped[number]
    raw = session.raw(skipped.offset, skipped.length)

    def damage(kind: Kind, **fields: Any) -> Damage:
        place = {"last_line": skipped.line, "before": around[0], "after": around[1]}
        return Damage(skipped, kind, is_last=end[0], is_ended=end[1], **{**place, **fields})

    if skipped.why == "falsy":
        return damage("falsy")
    if b"\0" in raw:
        return damage("NUL", **_among_nul(raw, skipped.offset))
    begins = re.match(rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"|$)', raw) is not None
    first = _read(raw)
    if first.type == "session" and (session.header is None or skipped.line < session.header.line):
        return damage("header", torn=first)
    if (second := _two_records(raw, skipped.offset)) is not None:
        torn = second.get("torn")
        copy = by_id.get(torn.id) if torn is not None and torn.id is not None else None
        return damage("two records", copy=copy, **second)
    if begins and (last := _split_over(session, number)) is not None:
        return damage("split", whole=first, whole_offset=skipped.offset, last_line=last)
    if begins and _end_of_value(raw) == len(raw.rstrip()):
        # Nothing was cut off: it ends as it began.
        place, is_not_utf8 = _fault(raw)
        return damage(
            "garbled",
            torn=first,
            copy=by_id.get(first.id) if first.id is not None else None,
            garbled_offset=skipped.offset + place if place is not None else None,
            is_not_utf8=is_not_utf8,
        )
    if begins and (first.type is not None or first.id is not None or _end_of_value(raw) is None):
        copy = by_id.get(first.id) if first.id is not None else None
        return damage("torn", torn=first, copy=copy or _copy_below(session, raw, first, around[1]))
    if not begins and raw.rstrip().endswith(b"}") and b'":' in raw:
        # Its end is there and its beginning is not.
        return damage("torn", torn=Record())
    return damage("no record")


def _fault(raw: bytes) -> tuple[int | None, bool]:
    """Return the byte of a line at which it is no JSON, and whether it is no UTF-8 there.

    None is one that is nested too deeply, or has a number that is none, and no place is told.
    """
    # Each byte that is no UTF-8 is one character, so that the place can be told in bytes.
    text = raw.decode("utf-8", "surrogateescape")
    try:
        parse(text)
    except json.JSONDecodeError as error:
        place = len(text[: error.pos].encode("utf-8", "surrogateescape"))
        return place, _BYTE.match(text, error.pos) is not None
    except ValueError:
        pass
    return None, False


def _among_nul(raw: bytes, offset: int) -> dict[str, Any]:
    """Return the record that stands among zero bytes, where there is one."""
    text = raw.strip(b"\0\r ")
    if not text.startswith(b"{"):
        return {}
    record = _read(text)
    try:
        parse_line(text)
    except ValueError:
        return {"torn": record}
    return {"whole": record, "whole_offset": offset + raw.index(text)}


def _two_records(raw: bytes, offset: int) -> dict[str, Any] | None:
    """Return what stands in a line beside a whole record; None where it holds no whole one."""
    place = _second_record(raw)
    end = None if place is not None else _first_record_end(raw)
    if place is None and end is None:
        return None
    start, rest = (place, raw[:place]) if place is not None else (0, raw[end:])
    whole = _read(raw[start:end])
    torn = _read(rest) if rest.lstrip().startswith(b"{") else None
    return {"torn": torn, "whole": whole, "whole_offset": offset + start}


def _read(raw: bytes) -> Record:
    return read_record(raw[: 4 * _READ].decode("utf-8", "replace").lstrip("\ufeff \t\r"))


def _first_record_end(raw: bytes) -> int | None:
    """Return where a whole record ends that the line begins with."""
    end = _end_of_value(raw)
    return end if end is not None and _is_record(raw[:end]) else None


def _second_record(raw: bytes) -> int | None:
    """Return where in a line a record begins that runs to the line's end."""
    work = _WORK * len(raw)
    for found in list(_RECORD.finditer(raw))[: -_TRIES - 1 : -1]:
        place = found.start()
        work -= len(raw) - place
        if work < 0 or place == 0:
            break
        if _is_record(raw[place:]):
            return place
    return None


def _is_record(raw: bytes) -> bool:
    """Tell whether bytes are an entry or a header: a block inside one has a type, and no parent."""
    try:
        value = parse_line(raw)
    except ValueError:
        return False
    return (
        isinstance(value, dict)
        and "id" in value
        and ("parentId" in value or value.get("type") == "session")
    )


def _split_over(session: Session, number: int) -> int | None:
    """Return the last line of a record whose texts hold line ends that should be escaped."""
    first = session.skipped[number]
    raw = session.raw(first.offset, _JOINED)
    end = _end_of_value(raw)
    if end is None or b"\n" not in raw[:end] or raw[end:].split(b"\n", 1)[0].strip():
        return None
    lines = raw[:end].split(b"\n")
    # In a text each quote is escaped: a line that begins so is a record, and this one was torn.
    if any(line.startswith(b'{"') for line in lines[1:]):
        return None
    try:
        parse(_escaped(raw[:end]).decode("utf-8", "replace"))
    except ValueError:
        return None
    return first.line + len(lines) - 1


def _end_of_value(raw: bytes) -> int | None:
    """Return where the value that the bytes begin with ends, line ends in texts allowed."""
    depth = 0
    in_text = False
    escaped_at = -1
    for found in _MARKS.finditer(raw):
        mark, place = found[0], found.start()
        if in_text:
            if place == escaped_at:
                continue
            if mark == b"\\":
                escaped_at = place + 1
            elif mark == b'"':
                in_text = False
        elif mark == b'"':
            in_text = True
        elif mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return place + 1
    return None


def _escaped(raw: bytes) -> bytes:
    return raw.replace(b"\r\n", b"\\r\\n").replace(b"\n", b"\\n")


def _copy_below(session: Session, raw: bytes, record: Record, after: Entry | None) -> Entry | None:
    """Return the next entry where it says what the torn record began to say."""
    place = raw.find(b'"message":')
    if after is None or place < 0 or record.parent is None or record.parent != after.parent:
        return None
    said = raw[place:].rstrip(b"\r")
    other = session.raw(after.offset, after.length)
    start = other.find(b'"message":')
    same = start >= 0 and other[start : start + len(said)] == said
    return after if same and len(said) >= _TELLING else None

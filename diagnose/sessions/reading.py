"""One session file in a single pass over its bytes: each line that Pi reads, and no other.

Pi 1.6.0, core/session-manager.js `loadEntriesFromFile`: lines end at LF alone, blank lines and
lines that do not parse are passed over, and so are lines whose value is falsy. The first value
that is left must be a header, else Pi refuses the file. Nothing is written: Pi itself would add a
missing newline and rewrite files of versions 1 and 2.
"""

from __future__ import annotations

import gc
import hashlib
import os
import weakref
from contextlib import contextmanager, nullcontext
from queue import Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from diagnose.evidence import UnreadableError, open_evidence, reason_of
from diagnose.sessions.entry import Entry, read_entry
from diagnose.sessions.javascript import (
    UNDEFINED,
    WHITESPACE,
    depth,
    get,
    is_truthy,
    parse_line,
    to_number,
)
from diagnose.sessions.skimming import skim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# Small enough to stay in the processor's cache, which is worth a third of the time.
_BUFFER: Final = 256 * 1024
# Where as many bytes at a block's beginning hold more lines than this, its lines are short.
_SAMPLE: Final = 4096
_FEW: Final = 4
# The digest is worked out over so many of them at a time.
_HANDED: Final = 8
CURRENT_VERSION: Final = 3
# A type of a stranger is named by so many characters.
_NAME: Final = 80
# Node 24 parses any depth, but writes no deeper than this with the stack that it has (levels);
# Pi writes a file of an older version anew when it opens it, and throws there.
_REWRITTEN_DEPTH: Final = 4400
# `--continue` and a look-up by id read no further than this for the header (bytes).
HEADER_SCAN_LIMIT: Final = 1024 * 1024


class Skipped(msgspec.Struct, frozen=True):
    """A line that Pi passes over without a word; `why` is `falsy` or `not JSON`."""

    line: int
    offset: int
    length: int
    why: str


class Header(msgspec.Struct, frozen=True):
    """The first entry of the file: metadata, not part of the tree."""

    value: dict[str, Any]
    line: int

    def text(self, name: str) -> str | None:
        """Return a field that is a string, else None."""
        value = self.value.get(name)
        return value if isinstance(value, str) else None


class Refusal(msgspec.Struct, frozen=True):
    """Why Pi does not open the file, and the line that decides it (None in an empty file)."""

    reason: str
    line: int | None


class Session(msgspec.Struct, weakref=True):
    """A session file as it was read; entries in the order of the file, headers left out."""

    path: Path
    size: int = 0
    mtime_ns: int = 0
    lines: int = 0
    header: Header | None = None
    refusal: Refusal | None = None
    entries: list[Entry] = msgspec.field(default_factory=list)
    # Lines of further headers, which Pi keeps but does not use, each with its (offset, length).
    extra_headers: dict[int, tuple[int, int]] = msgspec.field(default_factory=dict)
    skipped: list[Skipped] = msgspec.field(default_factory=list)
    # The lines that V8 alone takes as they are: bytes that are no UTF-8, halves of a pair, numbers
    # out of range, a great depth; (line, offset, length).
    inexact: list[tuple[int, int, int]] = msgspec.field(default_factory=list)
    ends_with_newline: bool = True
    changed_while_read: bool = False
    # The lines, headers too, that do not fit the schema: (line, offset, length). None where they
    # were not held against it while they were read.
    misfits: list[tuple[int, int, int]] | None = None
    # `is_linear`, worked out once: it is asked for every line.
    without_ids: bool = False
    _file: BinaryIO | None = None
    _sha256: str = ""

    @property
    def sha256(self) -> str:
        """The digest of the bytes that were read, worked out now where it was not done then.

        Raise UnreadableError where the file no longer has as many.
        """
        if not self._sha256:
            digest, left = hashlib.sha256(), self.size
            file = self._reopened()
            file.seek(0)
            while block := file.read(min(_BUFFER, left)):
                digest.update(block)
                left -= len(block)
            if left:
                raise UnreadableError(self.path, "it changed while it was examined")
            self._sha256 = digest.hexdigest()
        return self._sha256

    @property
    def id(self) -> str | None:
        """The session id of the header."""
        return self.header.text("id") if self.header else None

    @property
    def cwd(self) -> str | None:
        """The working directory that the header records."""
        return self.header.text("cwd") if self.header else None

    @property
    def version(self) -> Any:
        """The version as the header has it; 1 where it has none, as Pi takes it."""
        if self.header is None:
            return None
        value = self.header.value.get("version", UNDEFINED)
        return 1 if value is None or value is UNDEFINED else value

    @property
    def is_linear(self) -> bool:
        """Whether the file is of version 1: no ids, a list; Pi makes ids up on opening."""
        return self.header is not None and to_number(self.version) < 2  # noqa: PLR2004 (version 2)

    def value(self, entry: Entry) -> Any:
        """Read an entry again; raise UnreadableError where the file no longer holds it."""
        return self._value(self._reopened(), entry)

    def values(self, entries: list[Entry]) -> list[Any]:
        """Read several entries again."""
        return [self._value(self._reopened(), entry) for entry in entries]

    def _reopened(self) -> BinaryIO:
        """Return the file opened again, once for all that is read again from it."""
        if self._file is None:
            self._file = open_evidence(self.path)
            weakref.finalize(self, self._file.close)
        return self._file

    def _value(self, file: BinaryIO, entry: Entry) -> Any:
        file.seek(entry.offset)
        try:
            return parse_line(file.read(entry.length))
        except ValueError as error:
            raise UnreadableError(
                self.path, f"line {entry.line} changed while the file was examined"
            ) from error

    def raw(self, offset: int, length: int) -> bytes:
        """Read bytes of the file again, whatever they hold."""
        file = self._reopened()
        file.seek(offset)
        return file.read(length)


def split_lines(
    file: BinaryIO, seen: Callable[[bytes], object] | None = None
) -> Iterator[tuple[int, bytes, bool]]:
    """Give each physical line as (offset, bytes without its LF, whether an LF ended it).

    `seen` is given each block of bytes as it is read. A final empty piece is no line.
    """
    pieces: list[bytes] = []  # of a line longer than the buffer; joined once, not at each block
    offset = 0
    while block := file.read(_BUFFER):
        if seen is not None:
            seen(block)
        *ended, rest = _cut(block)
        for piece in ended:
            if pieces:
                pieces.append(piece)
                line = b"".join(pieces)
                pieces = []
            else:
                line = piece
            yield offset, line, True
            offset += len(line) + 1
        if rest:
            pieces.append(rest)
    if pieces:
        yield offset, b"".join(pieces), False


def _cut(block: bytes) -> list[bytes]:
    """Return the pieces between the line feeds, as `split` does: long ones in half of its time."""
    if block.count(b"\n", 0, _SAMPLE) > _FEW:
        return block.split(b"\n")
    # `find` looks at many bytes at once and `split` at each, but it costs more for every piece.
    pieces = []
    start = 0
    while (end := block.find(b"\n", start)) >= 0:
        pieces.append(block[start:end])
        start = end + 1
    pieces.append(block[start:])
    return pieces


def is_blank(line: bytes) -> bool:
    """Tell whether Pi's `trim` leaves nothing of the line."""
    return not line or not line.decode("utf-8", "replace").strip(WHITESPACE)


def read_session(
    path: Path, fits: Callable[[Any, bool], bool] | None = None, *, digested: bool = False
) -> Session:
    """Read a session file; raise UnreadableError where it is no regular file or cannot be opened.

    A file that Pi would refuse is read all the same: `refusal` says why. `fits` is asked
    of each value, and whether the file is of version 1, while the value is there: to parse a large
    file once more for it takes as long as all else. `digested` says that the digest will be asked
    for: it is worked out while the bytes are there, of the very ones that were read.
    """
    session = Session(path, misfits=None if fits is None else [])
    hashed = _hashing() if digested else nullcontext()
    with open_evidence(path) as file, _uncollected(), hashed as hashing:
        before = os.fstat(file.fileno())
        try:
            for offset, line, ended in split_lines(file, hashing.take if hashing else None):
                session.lines += 1
                session.size = offset + len(line) + ended
                session.ends_with_newline = ended
                _take(session, offset, line, fits)
        except OSError as error:
            raise UnreadableError(path, reason_of(error)) from error
        after = os.fstat(file.fileno())
    if hashing is not None:
        session._sha256 = hashing.digest.hexdigest()  # noqa: SLF001 (this makes the session)
    session.mtime_ns = before.st_mtime_ns
    session.changed_while_read = (before.st_size, before.st_mtime_ns) != (
        after.st_size,
        after.st_mtime_ns,
    ) or session.size != after.st_size
    if session.header is None and session.refusal is None:
        reason = "the file is empty" if session.size == 0 else "no line of it is a session header"
        session.refusal = Refusal(reason, 1 if session.lines else None)
    # Not by `<`: a version that is no number is not migrated, and is written anew all the same.
    if session.refusal is None and not to_number(session.version) >= CURRENT_VERSION:
        _migrate(session)
    return session


class _Hashing:
    """A digest that is worked out beside the parsing: hashlib lets go of Python's lock."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._waiting: list[bytes] = []
        self._handed: Queue[list[bytes] | None] = Queue(maxsize=1)

    def take(self, block: bytes) -> None:
        """Take the next block of the file."""
        # Many at a time: with each hand over, the two threads wait for the lock.
        self._waiting.append(block)
        if len(self._waiting) == _HANDED:
            self.hand_over()

    def hand_over(self) -> None:
        """Give what waits to the other thread."""
        self._handed.put(self._waiting)
        self._waiting = []

    def end(self) -> None:
        """Tell the other thread that there is no more."""
        self._handed.put(None)

    def run(self) -> None:
        """Take blocks until there are no more."""
        while (blocks := self._handed.get()) is not None:
            # Not joined: to copy them holds the lock, under which the lines are parsed.
            for block in blocks:
                self.digest.update(block)


@contextmanager
def _hashing() -> Iterator[_Hashing]:
    """Run a digest in a thread of its own; it is complete when the block is left."""
    hashing = _Hashing()
    thread = Thread(target=hashing.run, daemon=True)
    thread.start()
    try:
        yield hashing
        hashing.hand_over()
    finally:
        hashing.end()
        thread.join()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for cycles among entries, which have none, over and over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _take(
    session: Session, offset: int, line: bytes, fits: Callable[[Any, bool], bool] | None
) -> None:
    """Take one physical line into the session as Pi would."""
    try:
        value, is_exact = skim(line)
    except ValueError:
        if not is_blank(line):
            session.skipped.append(Skipped(session.lines, offset, len(line), "not JSON"))
        return
    if not is_exact:
        session.inexact.append((session.lines, offset, len(line)))
    if not (value or is_truthy(value)):
        session.skipped.append(Skipped(session.lines, offset, len(line), "falsy"))
        return
    is_header = isinstance(value, dict) and value.get("type") == "session"
    if fits is not None and session.misfits is not None and not fits(value, session.without_ids):
        session.misfits.append((session.lines, offset, len(line)))
    if session.header is None and session.refusal is None:
        if is_header and isinstance(value.get("id"), str):
            session.header = Header(value, session.lines)
            session.without_ids = session.is_linear
            return
        what = "a header without a string id" if is_header else _what(value)
        session.refusal = Refusal(f"the first entry is {what}, not a session header", session.lines)
    if is_header:
        session.extra_headers[session.lines] = (offset, len(line))
        return
    session.entries.append(read_entry(value, session.lines, offset, len(line)))


def _what(value: Any) -> str:
    if isinstance(value, dict):
        kind = value.get("type")
        return f"of type {kind[:_NAME]}" if isinstance(kind, str) else "an object without a type"
    return "an array" if isinstance(value, list) else "no object"


def _migrate(session: Session) -> None:
    """Take entries of versions 1 and 2 as Pi's `migrateToCurrentVersion` leaves them."""
    if session.is_linear:
        _chain(session)
    for entry in session.entries:
        if entry.length > 2 * _REWRITTEN_DEPTH and depth(session.value(entry)) > _REWRITTEN_DEPTH:
            reason = f"line {entry.line} is nested too deeply for Pi to write the file anew"
            session.refusal = session.refusal or Refusal(reason, entry.line)
    if not to_number(session.version) < CURRENT_VERSION:
        return
    for entry in session.entries:
        if entry.role == "hookMessage":
            entry.role = "custom"


def _chain(session: Session) -> None:
    """Chain the entries of a version 1 file, which have no ids and no parents.

    Pi gives each a random id; here an id that no file can name stands for it. A boundary given as
    `firstKeptEntryIndex` counts every entry, headers included.
    """
    places: dict[int | float, Entry] | None = None
    previous: Any = None
    for entry in session.entries:
        value = None
        if not entry.is_object:
            value = session.value(entry)
            if not isinstance(value, list):
                reason = (
                    f"Pi cannot give an id to the value in line {entry.line}, which is no object"
                )
                session.refusal = Refusal(reason, entry.line)
                return
        entry.id = ("made up", entry.line)
        entry.parent, previous = previous, entry.id
        if entry.type == "compaction" and entry.boundary is not None:
            index = get(session.value(entry), "firstKeptEntryIndex")
            if isinstance(index, bool) or not isinstance(index, int | float):
                continue
            places = _places(session) if places is None else places
            kept = places.get(index)
            if kept is not None:
                # One that comes later has no id yet when Pi copies it: the boundary leads nowhere.
                entry.boundary.target = kept.id if kept.line <= entry.line else UNDEFINED


def _places(session: Session) -> dict[int | float, Entry]:
    """Return each entry by its place in Pi's list, in which headers have places too."""
    headers = [session.header.line] if session.header else []
    by_line = {entry.line: entry for entry in session.entries}
    lines = sorted([*headers, *session.extra_headers, *by_line])
    return {place: by_line[line] for place, line in enumerate(lines) if line in by_line}

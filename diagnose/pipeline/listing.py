"""The sessions of a project or of all, as Pi's picker orders them, and what is wrong with each.

Pi 1.6.0, core/session-manager.js `buildSessionInfo` and `sortSessionInfos`: by the last user or
assistant message, else by the header's time; `--continue` goes by the file's time of
change instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from diagnose.evidence import UnreadableError
from diagnose.pipeline.case import title
from diagnose.pipeline.question import local
from diagnose.sessions.branches import left_branches
from diagnose.sessions.entry import on_calendar, parse_time
from diagnose.sessions.folder import (
    Folder,
    continued_session,
    project_folders,
    same_path,
    session_files,
)
from diagnose.sessions.reading import read_session
from diagnose.sessions.tree import CycleError, Tree

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from pathlib import Path

    from diagnose.sessions.reading import Session


class Listed(msgspec.Struct, frozen=True):
    """One session of the list; `modified` is in milliseconds since the epoch, UTC."""

    path: Path
    id: str | None
    cwd: str | None
    title: str
    modified: float
    days: tuple[str, ...]
    entries: int
    # Tips that hold a conversation, the active one included.
    branches: int
    compactions: int
    bytes: int
    is_continued: bool
    trouble: tuple[str, ...]

    def to_dict(self, zone: tzinfo | None) -> dict[str, Any]:
        """Return it as a value that can be written as JSON."""
        return {
            "path": str(self.path),
            "id": self.id,
            "cwd": self.cwd,
            "title": self.title,
            "modified": local(self.modified, zone).isoformat(timespec="seconds"),
            "days": list(self.days),
            "entries": self.entries,
            "branches": self.branches,
            "compactions": self.compactions,
            "bytes": self.bytes,
            "continued": self.is_continued,
            "trouble": list(self.trouble),
        }


def list_sessions(
    folder: Folder,
    cwd: str,
    zone: tzinfo | None,
    *,
    everywhere: bool = False,
    told: Callable[[str], None] | None = None,
) -> list[Listed]:
    """Return the sessions of a working directory, or of all, the latest activity first.

    `told` is given the name of each file before it is read.
    """
    folders = [folder.path]
    if everywhere:
        folders = list(dict.fromkeys([*folders, *project_folders(folder.agent_dir)]))
    continued = continued_session(folder, cwd)
    found = []
    for place in folders:
        for path in session_files(place):
            if told is not None:
                told(path.name)
            listed = _listed(path, zone, is_continued=path == continued)
            # In a folder of one's own, Pi shows the sessions of this working directory alone.
            if everywhere or folder.is_default or listed.cwd is None or same_path(listed.cwd, cwd):
                found.append(listed)
    return sorted(found, key=lambda one: -one.modified)


def _listed(path: Path, zone: tzinfo | None, *, is_continued: bool) -> Listed:
    try:
        session = read_session(path)
    except UnreadableError as error:
        return Listed(path, None, None, "", 0.0, (), 0, 0, 0, 0, is_continued, (error.reason,))
    branches, trouble = _branches(session)
    compactions = sum(entry.type == "compaction" for entry in session.entries)
    times = _times(session)
    return Listed(
        path,
        session.id,
        session.cwd,
        title(session),
        max(times, default=_begun(session)),
        tuple(sorted({local(time, zone).date().isoformat() for time in times})),
        len(session.entries),
        branches,
        compactions,
        session.size,
        is_continued,
        tuple(trouble),
    )


def _times(session: Session) -> list[float]:
    """Return the times of the user and assistant messages, the message's own where it has one."""
    found = []
    for entry in session.entries:
        if entry.is_activity and entry.message is not None:
            # A moment without a date is no place in an order of days.
            said = on_calendar(entry.message.timestamp)
            time = said if said is not None else entry.time
            if time is not None:
                found.append(time)
    return found


def _begun(session: Session) -> float:
    stamp = parse_time(session.header.value.get("timestamp")) if session.header else None
    return session.mtime_ns / 1e6 if stamp is None else stamp


def _branches(session: Session) -> tuple[int, list[str]]:
    """Return how many branches hold a conversation, and what is wrong with the file."""
    trouble = []
    if session.refusal is not None:
        trouble.append(f"Pi refuses it: {session.refusal.reason}")
    if session.skipped:
        trouble.append(f"{len(session.skipped)} lines are skipped")
    tree = Tree(session)
    try:
        left = left_branches(tree)
        branch = tree.branch
    except CycleError:
        return 0, [*trouble, "Pi hangs on it: a parent cycle"]
    if branch and tree.lacks_parent(branch[0]):
        trouble.append("the branch ends at a missing parent")
    if any(one.is_hidden_by_bookkeeping and one.conversation for one in left):
        trouble.append("the leaf hides a conversation")
    if any(one.is_interleaved for one in left):
        trouble.append("two processes wrote it")
    active = any(entry.is_activity for entry in branch)
    return sum(bool(one.conversation) for one in left) + active, trouble

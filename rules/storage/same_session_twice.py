"""Two files hold the session of one id, or a file holds another session than its name says.

What it finds
    Another file of Pi's whose header has the id of the session under examination: a copy, an
    import, a sync conflict. And a file whose name carries one id and whose header has another.
Why it matters
    `--session ID` and `--continue` open one of them, and each goes on by itself from then on. Where
    name and header differ, another session was written over the one that the name belongs to.
What proves it
    Both headers, and the entries that only one of the two holds.
What it cannot tell
    Which of the two is the original. Files of other folders are found by the id in their names.
What to do
    Compare the two, keep the one that is whole, and put the other out of Pi's session folders.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from diagnose.evidence import UnreadableError
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted
from diagnose.sessions.folder import discovered_header, named_id, project_folders, session_files
from diagnose.sessions.reading import Session, read_session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from diagnose.pipeline.case import Case

# Copies beyond these are not compared.
_SHOWN = 5


@rule("PI118", "same-session-twice", layer="storage", levels=("warning",))
def same_session_twice(case: Case) -> Iterator[Finding]:
    """Find other files of the session's id, and a name of another id."""
    session = case.subject
    if session.header is None or session.id is None:
        return
    named = named_id(session.path)
    if named is not None and named != session.id and not _was_version_1(session):
        yield Finding(
            f"the file is named after session {named} and holds session {session.id}, recorded in"
            f" {session.cwd}: another session was written over it, or it was renamed",
            (Evidence(str(session.path), session.header.line, quote=session.id),),
            remedy=(Remedy(f"Look for session {named} in a backup."),),
        )
    for path in list(_copies(case, session, session.id))[:_SHOWN]:
        try:
            other = read_session(path)
        except UnreadableError as error:
            case.unreadable[str(path)] = error.reason
            continue
        line = other.header.line if other.header else None
        yield Finding(
            f"{path.name} in {path.parent.name} is of the same session:"
            f" {_difference(session, other)}",
            (
                Evidence(str(path), line),
                Evidence(str(session.path), session.header.line, quote=session.id),
            ),
            remedy=(Remedy("Compare the two, and keep one of them in Pi's session folders."),),
        )


def _copies(case: Case, session: Session, session_id: str) -> Iterator[Path]:
    own = os.path.realpath(session.path)
    for one in case.neighbours:
        if one.header.get("id") == session_id and os.path.realpath(one.path) != own:
            yield one.path
    for folder in project_folders(case.folder.agent_dir):
        if folder == case.folder.path:
            continue
        for path in session_files(folder):
            if named_id(path) == session_id and os.path.realpath(path) != own:
                header = discovered_header(path)
                if header is not None and header.get("id") == session_id:
                    yield path


def _difference(session: Session, other: Session) -> str:
    if session.size == other.size and session.sha256 == other.sha256:
        return "the two are the same byte for byte"
    own = {entry.entry_id for entry in session.entries}
    theirs = {entry.entry_id for entry in other.entries}
    here = sum(entry.entry_id not in theirs for entry in session.entries)
    there = sum(entry.entry_id not in own for entry in other.entries)
    return (
        f"{counted(here, 'entry')} stand only in the examined one, {counted(there, 'entry')} only"
        " in the other"
    )


def _was_version_1(session: Session) -> bool:
    """Tell whether the file was begun in version 1: Pi 0.30 gave name and header an id each.

    A later Pi writes such a file anew, and puts the version behind all that stood in the header.
    """
    names = list(session.header.value) if session.header else []
    return "version" not in names or names[-1] == "version"

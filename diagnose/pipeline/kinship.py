"""Whether another working directory is this project: by place, repository or record."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from diagnose.evidence import UnreadableError
from diagnose.project.git import GitError, Repository
from diagnose.project.paths import below
from diagnose.sessions.calls import pair
from diagnose.sessions.context import content_text
from diagnose.sessions.entry import parse_time
from diagnose.sessions.files import observations
from diagnose.sessions.folder import same_path
from diagnose.sessions.tree import CycleError, Tree

if TYPE_CHECKING:
    from diagnose.pipeline.question import Question
    from diagnose.project.freshness import Project
    from diagnose.sessions.reading import Session

# A text shorter than this (characters) says nothing of where it comes from: many projects have it.
_TELLING = 24
# System messages of a session beyond these are not read for their directory.
_READ = 50
# Where a system message names the working directory: Pi 1.6.0 writes a section; before, the prompt
# ended in a line.
_SECTION = re.compile(r"<cwd>\s*(.+?)\s*</cwd>", re.DOTALL)
_LINE = re.compile(r"^Current working directory: (.+?)\s*$", re.MULTILINE)


class Kinship(msgspec.Struct, frozen=True):
    """How the kinship is known; `path`, `commit` and `line` name what shows it, where it does."""

    how: str
    path: str | None = None
    commit: str | None = None
    line: int | None = None


def by_place(cwd: str, root: Path, other: str) -> Kinship | None:
    """Compare two working directories by their paths and what the disk says of them."""
    if _form(other) == _form(cwd):
        return Kinship("the same path in another spelling")
    # Asked first: of a path that no system can have, such as one with half a surrogate pair, the
    # other question would fail.
    if os.path.isdir(other) and os.path.realpath(root) == os.path.realpath(other):  # noqa: PTH112 (a text is at hand)
        there = os.path.realpath(other)
        return Kinship(f"the same folder by another path ({there})", there)
    if below(other, cwd) is not None:
        return Kinship(f"a folder inside {cwd}")
    return None


def _form(path: str) -> str:
    return unicodedata.normalize("NFC", os.path.normpath(path)).casefold()


def by_repository(project: Project, other: str) -> Kinship | None:
    """Compare the repositories of two working directories, where the other one still exists."""
    mine = project.repository
    if mine is None or not os.path.isdir(other):  # noqa: PTH112
        return None
    try:
        theirs = Repository(Path(other))
        if theirs.common_dir == mine.common_dir:
            if theirs.top == mine.top:
                return Kinship(f"the same repository, {mine.top}", str(mine.top))
            return Kinship("a worktree of the same repository", str(theirs.top))
        shared = mine.root_commits() & theirs.root_commits()
        if shared:
            root = min(shared)
            return Kinship("a repository with the same first commit", str(theirs.top), root)
        same = mine.remote_urls & theirs.remote_urls
        if same:
            return Kinship("a repository with the same remote", str(theirs.top))
    except GitError:
        return None
    return None


def by_prompt(cwd: str, session: Session, question: Question) -> Kinship | None:
    """Look for a system message of the day by which a session's tools ran in this directory.

    `--continue` runs them in the folder of the shell, whatever the header says.
    """
    begun = parse_time(session.header.value.get("timestamp")) if session.header else None
    messages = [
        entry
        for entry in session.entries
        if entry.role == "system"
        and question.includes(entry.time)
        # A fork has what stands before its header from its original.
        and (begun is None or entry.time is None or entry.time >= begun)
    ]
    for entry in messages[:_READ]:
        try:
            ran = tools_directory(session.value(entry))
        except UnreadableError:
            return None
        if ran is not None and same_path(ran, cwd):
            how = f"by the system message in line {entry.line} its tools ran in {cwd}"
            return Kinship(how, str(session.path), line=entry.line)
    return None


def tools_directory(value: object) -> str | None:
    """Return the working directory that a system message tells the model, None without one."""
    message = value.get("message") if isinstance(value, dict) else None
    if not isinstance(message, dict):
        return None
    sections = message.get("sections")
    section = sections.get("cwd") if isinstance(sections, dict) else None
    text = content_text(message.get("content"))
    found = (_SECTION.search(section) if isinstance(section, str) else None) or _LINE.search(text)
    return found[1] if found else None


def is_versioned(folder: str) -> bool:
    """Tell whether a folder is there and in a repository."""
    if not os.path.isdir(folder):  # noqa: PTH112 (a text is at hand)
        return False
    path = Path(folder)
    return any((above / ".git").exists() for above in (path, *path.parents))


def by_record(project: Project, session: Session, question: Question) -> Kinship | None:
    """Look for what a session's tool results recorded in this repository's history.

    A folder that is there, with a history of its own, has been asked itself (`by_repository`): two
    projects may well have a file in common. A session may also have been gone on with in another
    folder: what it recorded on another day speaks for it only where it recorded more of this
    project than of others.
    """
    repository = project.repository
    if repository is None or session.cwd is None or is_versioned(session.cwd):
        return None
    try:
        calls = pair(Tree(session).branch).calls
        recorded = observations(session, calls, None)
    except (CycleError, UnreadableError):
        return None
    inside = [(one, below(one.path, session.cwd)) for one in recorded.values()]
    paths = [(one, path) for one, path in inside if path is not None]
    known = [both for both in paths if project.in_repository(both[1]) in repository.by_path]
    foreign = len(paths) - len(known)
    same = 0
    for one, path in known:
        text = one.contents(session).text
        if text is None or len(text) < _TELLING:
            continue
        blob = repository.blob_id(text.encode("utf-8", "surrogatepass"))
        for commit, change in repository.by_path.get(project.in_repository(path), []):
            if blob not in (change.old, change.new):
                continue
            same += 1
            if same > foreign or question.includes(one.result.time):
                how = f"what it read in {path} is in this repository's history"
                return Kinship(how, project.in_repository(path), commit.id)
            break
    return None

"""Whether another working directory is this project: by place, repository or record."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from diagnose.evidence import UnreadableError
from diagnose.project.git import GitError, Repository
from diagnose.project.paths import below
from diagnose.sessions.calls import pair
from diagnose.sessions.files import observations
from diagnose.sessions.tree import CycleError, Tree

if TYPE_CHECKING:
    from diagnose.project.freshness import Project
    from diagnose.sessions.reading import Session

# A text shorter than this (characters) says nothing of where it comes from: many projects have it.
_TELLING = 24


@dataclass(slots=True, frozen=True)
class Kinship:
    """How the kinship is known; `path` and `commit` name what shows it, where something does."""

    how: str
    path: str | None = None
    commit: str | None = None


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


def _is_versioned(folder: str) -> bool:
    """Tell whether a folder is there and in a repository."""
    if not os.path.isdir(folder):  # noqa: PTH112 (a text is at hand)
        return False
    path = Path(folder)
    return any((above / ".git").exists() for above in (path, *path.parents))


def by_record(project: Project, session: Session) -> Kinship | None:
    """Look for what a session's tool results recorded in this repository's history.

    A folder that is there, with a history of its own, has been asked itself (`by_repository`): two
    projects may well have a file in common.
    """
    repository = project.repository
    if repository is None or session.cwd is None or _is_versioned(session.cwd):
        return None
    try:
        calls = pair(Tree(session).branch).calls
        recorded = observations(session, calls, None)
    except (CycleError, UnreadableError):
        return None
    for one in recorded.values():
        path = below(one.path, session.cwd)
        if path is None or project.in_repository(path) not in repository.by_path:
            continue
        text = one.contents(session).text
        if text is None or len(text) < _TELLING:
            continue
        blob = repository.blob_id(text.encode("utf-8", "surrogatepass"))
        for commit, change in repository.by_path.get(project.in_repository(path), []):
            if blob in (change.old, change.new):
                how = f"what it read in {path} is in this repository's history"
                return Kinship(how, project.in_repository(path), commit.id)
    return None

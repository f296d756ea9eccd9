"""Whether what was seen of a file still holds: against the file now, and against its history."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.project.files import read_file
from diagnose.project.git import Change, Commit, GitError, Repository

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from diagnose.project.files import FileNow

# Beyond this many lines a line by line comparison takes seconds; then only lines are counted.
_DIFF_LINES: Final = 20_000
# Git's own default: below half the lines in common, two files are not taken for one.
_ALIKE: Final = 0.5
# Files that a moved one is looked for among; more would make a diagnosis read a whole disk.
_CANDIDATES: Final = 500
_HOPS: Final = 20


class Seen(msgspec.Struct, frozen=True):
    """What was seen of a file: all of its text, or runs of lines, each from a line (from 1).

    `path` is below the project, with `/`; `time` is in milliseconds since the epoch, UTC.
    """

    path: str
    text: str | None
    runs: tuple[tuple[int, tuple[str, ...]], ...]
    time: float | None
    # Why there is neither, where there is not.
    obstacle: str | None = None


class Asked(msgspec.Struct, frozen=True):
    """A file that is asked about; what was seen of it is loaded when its turn comes."""

    path: str
    load: Callable[[], Seen]


class State(msgspec.Struct, frozen=True):
    """What has become of it.

    `status` is `unchanged`, `changed`, `renamed`, `deleted` or `unknown`.
    """

    status: str
    # Why it cannot be told, where it cannot; or what was compared instead of bytes.
    reason: str = ""
    # The commits that touched the path since, newest first, where history tells.
    commits: tuple[Commit, ...] = ()
    # Whether the last step of the change is only in the working tree.
    uncommitted: bool = False
    added: int | None = None
    removed: int | None = None
    # Blob ids of what is there now, and of what was seen where all of it was.
    blob: str | None = None
    seen_blob: str | None = None
    # Whether the text that was seen stands somewhere in the history of this path.
    in_history: bool = False
    moved_to: str | None = None
    # Share of what was seen that stands in the new file, and of the new file that it makes (%).
    kept: int | None = None
    share: int | None = None
    # For runs: how many lines they stand further down (up where negative), where all agree.
    shift: int | None = None


class Project(msgspec.Struct):
    """The project's folder as it is now, and its history where there is one."""

    root: Path
    repository: Repository | None = None
    # Why there is no history to ask.
    obstacle: str = ""

    @classmethod
    def at(cls, root: Path) -> Project:
        """Return the project in a folder; its history is left out where git does not give it."""
        if not root.is_dir():
            return cls(root, obstacle="there is no such folder")
        try:
            repository = Repository(root)
            # Asked at once: a history with objects missing is none, whatever is compared with it.
            _ = repository.commits, repository.tracked
        except GitError as error:
            return cls(root, obstacle=str(error))
        return cls(root, repository)

    def file(self, path: str) -> FileNow:
        """Return a file by its path below the project."""
        # Read anew at each call: to keep them all would hold every observed file in memory.
        return read_file(self.root / path, self.root)

    def in_repository(self, path: str) -> str:
        """Return a path of the project as history names it."""
        return (self.repository.prefix if self.repository else "") + path

    def in_project(self, path: str) -> str | None:
        """Return a path of history as the project names it, None for one beside the project."""
        prefix = self.repository.prefix if self.repository else ""
        return path.removeprefix(prefix) if path.startswith(prefix) else None


def judge(project: Project, asked: list[Asked]) -> list[State]:
    """Say of each what has become of it; git is asked the same few questions for all of them.

    One text is held at a time, however many files there are.
    """
    missing = {one.path for one in asked if project.file(one.path).is_absent}
    moves = _Moves(project, sorted(missing)) if missing else None
    states = []
    for one in asked:
        seen = one.load()
        if seen.obstacle is not None:
            states.append(State("unknown", reason=seen.obstacle))
        elif moves is not None and one.path in missing:
            states.append(moves.state(seen))
        else:
            states.append(_here(project, seen))
    return states


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _seen_blob(project: Project, seen: Seen) -> str | None:
    if project.repository is None or seen.text is None:
        return None
    return project.repository.blob_id(seen.text.encode("utf-8", "surrogatepass"))


def _here(project: Project, seen: Seen) -> State:
    """Judge a file that is still under its name."""
    now = project.file(seen.path)
    if now.data is None:
        return State("unknown", reason=now.obstacle)
    repository = project.repository
    blob = repository.blob_id(now.data) if repository else None
    seen_blob = _seen_blob(project, seen)
    since, in_history = _since(project, seen, seen_blob)
    tracked = repository.tracked.get(project.in_repository(seen.path)) if repository else None
    facts = {"blob": blob, "seen_blob": seen_blob, "in_history": in_history}
    uncommitted = repository is not None and blob != tracked
    if seen.text is not None:
        if now.data == seen.text.encode("utf-8", "surrogatepass"):
            return State("unchanged", uncommitted=uncommitted, **facts)  # type: ignore[arg-type]
        text = _text(now.data)
        if text == seen.text:
            reason = "the text is the same; bytes that are no UTF-8 were not recorded"
            return State("unchanged", reason=reason, **facts)  # type: ignore[arg-type]
        added, removed = _counts(seen.text, text)
        reason = "only line ends differ" if _plain(text) == _plain(seen.text) else ""
        return State(
            "changed", reason, since, uncommitted, added, removed, blob, seen_blob, in_history
        )
    lines = _plain(_text(now.data)).split("\n")
    shifts = [_place(lines, start, run) for start, run in seen.runs]
    if all(shift is not None for shift in shifts):
        shift = next((int(shift) for shift in shifts if shift), 0)
        return State("unchanged", "only the lines that were seen", shift=shift, **facts)  # type: ignore[arg-type]
    lost = next(run for run, shift in zip(seen.runs, shifts, strict=True) if shift is None)
    added, removed = _counts("\n".join(lost[1]), "\n".join(lines[lost[0] - 1 :][: len(lost[1])]))
    return State(
        "changed", "only the lines that were seen", since, uncommitted, added, removed, blob
    )


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _place(lines: list[str], start: int, run: tuple[str, ...]) -> int | None:
    """Return by how many lines a run has moved, None where it stands nowhere any more."""
    wanted = [line.removesuffix("\r") for line in run]
    if wanted and not wanted[-1]:
        wanted.pop()  # the end of the file's last line, no line of its own
    size = len(wanted)
    places: list[int] = [start - 1, *range(len(lines) - size + 1)]
    for place in places:
        if lines[place : place + size] == wanted:
            return place - (start - 1)
    return None


def _counts(before: str, after: str) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) + len(new) > _DIFF_LINES:
        gone, come = set(old) - set(new), set(new) - set(old)
        return sum(line in come for line in new), sum(line in gone for line in old)
    added = removed = 0
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind != "equal":
            removed += i2 - i1
            added += j2 - j1
    return added, removed


def _since(project: Project, seen: Seen, seen_blob: str | None) -> tuple[tuple[Commit, ...], bool]:
    """Return the commits that touched the path since, and whether history has what was seen."""
    if project.repository is None:
        return (), False
    touched = project.repository.by_path.get(project.in_repository(seen.path), [])
    later: list[Commit] = []
    for commit, change in touched:
        if seen_blob is not None and change.new == seen_blob:
            return tuple(later), True
        later.append(commit)
    # What was seen never was in history; then time is the only measure.
    moment = seen.time
    return tuple(c for c in later if moment is None or c.time * 1000 > moment), False


class _Moves:
    """Files that are gone from under their names, and where their text went."""

    def __init__(self, project: Project, missing: list[str]) -> None:
        self.project = project
        self.repository = project.repository
        # Why it was not looked for everywhere that it may have moved to.
        self.obstacle = ""
        blobs: set[str] = set()
        for path in missing:
            for _, change in self._candidates(path):
                if change.new is not None and len(blobs) < _CANDIDATES:
                    blobs.add(change.new)
        self.contents: dict[str, bytes] = {}
        if self.repository is not None:
            try:
                self.contents = self.repository.contents(sorted(blobs))
            except GitError as error:
                self.obstacle = f"what it may have become cannot be read: {error}"

    def _deletion(self, path: str) -> tuple[Commit, Change] | None:
        """Return the commit that took a path away, None where history still has it."""
        assert self.repository is not None  # noqa: S101 (asked only with a repository)
        touched = self.repository.by_path.get(path, [])
        if path in self.repository.tracked or not touched:
            return None
        return next(((c, change) for c, change in touched if change.new is None), None)

    def _candidates(self, gone: str) -> Iterator[tuple[Commit, Change]]:
        """Give what the deleting commit added, and what was added where that went on to move."""
        if self.repository is None:
            return
        waiting = [self.project.in_repository(gone)]
        visited = set(waiting)
        for _ in range(_HOPS):
            following: list[str] = []
            for path in waiting:
                deletion = self._deletion(path)
                if deletion is None:
                    continue
                commit = deletion[0]
                for change in commit.changes:
                    if change.old is None and change.path not in visited:
                        visited.add(change.path)
                        following.append(change.path)
                        yield commit, change
            waiting = following
            if not waiting:
                return

    def state(self, seen: Seen) -> State:
        """Judge a file that is no longer under its name."""
        seen_blob = _seen_blob(self.project, seen)
        if self.repository is None:
            return State("deleted", reason=self.project.obstacle, seen_blob=seen_blob)
        path = self.project.in_repository(seen.path)
        since, in_history = _since(self.project, seen, seen_blob)
        deletion = self._deletion(path)
        best = self._best(seen)
        if best is not None:
            moving, moved_to, kept, text = best
            added, removed = (None, None) if seen.text is None else _counts(seen.text, text)
            whole = max(1, len(text.splitlines()))
            share = round(100 * min(whole, _size(seen) * kept) / whole)
            return State(
                "renamed",
                commits=(moving,) if moving else (),
                uncommitted=moving is None,
                added=added,
                removed=removed,
                blob=self.repository.blob_id(self._now(moved_to, text)),
                seen_blob=seen_blob,
                in_history=in_history,
                moved_to=moved_to,
                kept=round(100 * kept),
                share=share,
            )
        if deletion is not None:
            since = (deletion[0], *(commit for commit in since if commit.id != deletion[0].id))
        cut_off = self.repository.is_shallow and not self.repository.by_path.get(path)
        return State(
            "deleted",
            "it is cut off here, in a shallow clone" if cut_off else self.obstacle,
            commits=since if deletion else (),
            uncommitted=deletion is None,
            seen_blob=seen_blob,
            in_history=in_history or bool(self.repository.by_path.get(path)),
        )

    def _now(self, path: str, text: str) -> bytes:
        data = self.project.file(path).data
        return text.encode("utf-8", "surrogatepass") if data is None else data

    def _best(self, seen: Seen) -> tuple[Commit | None, str, float, str] | None:
        """Return (commit, new path, share kept, its text) of the likeliest new home, if any."""
        assert self.repository is not None  # noqa: S101 (asked only with a repository)
        found: list[tuple[float, str, Commit | None, str]] = []
        for commit, change in self._candidates(seen.path):
            path = self.project.in_project(change.path)
            if path is None or change.path not in self.repository.tracked:
                continue
            data = self.project.file(path).data or self.contents.get(change.new or "")
            if data is not None:
                text = _text(data)
                found.append((_kept(seen, text), path, commit, text))
        if self._deletion(self.project.in_repository(seen.path)) is None:
            for path in self._new_paths():
                data = self.project.file(path).data
                if data is not None:
                    text = _text(data)
                    found.append((_kept(seen, text), path, None, text))
        found = [one for one in found if one[0] >= _ALIKE]
        if not found:
            return None
        kept, path, moving, text = max(found, key=lambda one: (one[0], -len(one[3]), one[1]))
        return moving, path, kept, text

    def _new_paths(self) -> list[str]:
        """Return the paths of the project that no commit has yet: untracked, or only staged."""
        assert self.repository is not None  # noqa: S101 (asked only with a repository)
        try:
            names = [*self.repository.untracked, *self.repository.staged]
        except GitError as error:
            self.obstacle = f"what is in no commit yet cannot be told: {error}"
            return []
        paths = (self.project.in_project(name) for name in names)
        return [path for path in paths if path is not None][:_CANDIDATES]


def _size(seen: Seen) -> int:
    if seen.text is not None:
        return max(1, len(seen.text.splitlines()))
    return max(1, sum(len(run) for _, run in seen.runs))


def _kept(seen: Seen, text: str) -> float:
    """Return the share of what was seen that stands in a text, from 0 to 1."""
    lines = _plain(text).split("\n")
    if seen.text is None:
        return float(all(_place(lines, start, run) is not None for start, run in seen.runs))
    wanted = _plain(seen.text).splitlines()
    if not any(line.strip() for line in wanted):
        return 0.0  # an empty file is like every other
    if _place(lines, 1, tuple(wanted)) is not None:
        return 1.0
    if len(wanted) + len(lines) > _DIFF_LINES:
        present = set(lines)
        return sum(line in present for line in wanted) / len(wanted)
    matcher = difflib.SequenceMatcher(None, wanted, lines, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / len(wanted)

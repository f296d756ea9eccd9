"""A stranger's repository, asked a fixed number of questions and never touched.

Git runs nothing of the repository's own: no hook, fsmonitor, pager, external diff, textconv,
signature check or lazy fetch; it takes no optional lock, and is never asked to look at the working
tree's bytes.
"""

from __future__ import annotations

import hashlib
import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.evidence import UnreadableError, open_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Each key is one by which a repository's own configuration could make git run a program or talk
# to another machine. (gitconfig(5); `protocol.*` is overruled by GIT_ALLOW_PROTOCOL below.)
_SAFE: Final = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=true",
    "diff.external=",
    "log.showSignature=false",
    "log.mailmap=false",
    "credential.helper=",
    "submodule.recurse=false",
    "maintenance.auto=false",
    "gc.auto=0",
)
_ENVIRONMENT: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "GIT_ATTR_NOSYSTEM": "1",
    # A replacement object would show another history than the one that is recorded.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
}
# What the person's shell may say of git without leading it to another repository.
_KEPT: Final = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
# A question that takes longer than this (seconds) is given up.
_PATIENCE: Final = 120

# So much of a reflog is read (bytes).
_REFLOG_LIMIT: Final = 16 * 1024 * 1024
_ZERO: Final = "0"


class GitError(Exception):
    """Why history cannot be asked; one line for a person."""


class Change(msgspec.Struct, frozen=True):
    """What one commit did to one path; `old` and `new` are blob ids, None where there was none."""

    path: str
    old: str | None
    new: str | None
    mode: str


class Commit(msgspec.Struct, frozen=True):
    """A commit; `time` is the committer's, in seconds since the epoch, UTC."""

    id: str
    parents: tuple[str, ...]
    time: int
    author: str
    subject: str
    changes: tuple[Change, ...] = msgspec.field(default=())


def _run(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    """Run one git command in a folder and return its output; raise GitError where it fails."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    # GitPython, since it is the design's choice and known to the people who will read this; only
    # its process handling is used, as its objects read files that a stranger wrote.
    import tempfile  # noqa: PLC0415

    import git  # noqa: PLC0415 (100 ms, and only where there is a repository)

    # GitPython adds to the process's environment and takes nothing away; a GIT_DIR of the
    # person's shell (in a hook, say) would lead to another repository.
    for name in [name for name in os.environ if name.startswith("GIT_") and name not in _KEPT]:
        if name != "GIT_PYTHON_REFRESH":
            del os.environ[name]
    command = ["git", "--no-pager"]
    for setting in _SAFE:
        command += ["-c", setting]
    try:
        with tempfile.TemporaryFile() as istream:
            if given is not None:
                istream.write(given)
                istream.seek(0)
            status, out, err = git.Git(folder).execute(
                [*command, *arguments],
                istream=istream,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=_PATIENCE,
                env=_ENVIRONMENT,
            )
    except git.GitCommandNotFound as error:
        raise GitError("git is not installed") from error
    except (git.GitError, OSError) as error:
        raise GitError(f"git could not be run: {type(error).__name__}") from error
    if status != 0:
        lines = str(err).strip().splitlines() or [f"git ended with status {status}"]
        said = next((line for line in lines if line.startswith("fatal:")), lines[0])
        raise GitError(said.removeprefix("fatal: "))
    return out if isinstance(out, bytes) else str(out).encode()


def _ancestors(path: str) -> list[str]:
    """Return a folder and all that it lies in."""
    return [path, *(str(parent) for parent in Path(path).parents)]


def _may_be_repository(folder: str) -> bool:
    """Tell whether git could take a folder for a repository, or for the working tree of one."""
    return any(os.path.lexists(os.path.join(folder, name)) for name in (".git", "HEAD"))  # noqa: PTH118 (asked for each ancestor)


def _name(data: bytes) -> str:
    return os.fsdecode(data)


class Repository:
    """The repository that holds a folder; raise GitError where there is none that git accepts."""

    def __init__(self, folder: Path) -> None:
        # Told without git, which takes 50 ms to load, where there is nothing for it to find.
        if not any(map(_may_be_repository, _ancestors(os.path.realpath(folder)))):
            raise GitError("not a git repository (or any of the parent directories): .git")
        lines = _run(
            folder,
            "rev-parse",
            "--is-bare-repository",
            "--is-shallow-repository",
            "--show-object-format",
            "--absolute-git-dir",
            "--git-common-dir",
        )
        bare, shallow, self.object_format, git_dir, common = lines.decode(
            "utf-8", "surrogateescape"
        ).split("\n")[:5]
        self.folder = folder
        self.is_shallow = shallow == "true"
        self.git_dir = Path(git_dir)
        # Relative to the folder where it is not absolute; two worktrees share it.
        self.common_dir = Path(os.path.realpath(folder / common))
        if bare == "true":
            raise GitError("the repository is bare: it has no working tree")
        answer = _run(folder, "rev-parse", "--show-toplevel", "--show-prefix")
        top, prefix = answer.decode("utf-8", "surrogateescape").split("\n")[:2]
        self.top = Path(top)
        # Its own `.git` may name any folder for its working tree, the whole disk too.
        if os.path.realpath(top) not in _ancestors(os.path.realpath(folder)) or not os.path.lexists(
            self.top / ".git"
        ):
            raise GitError(f"its working tree is set to another folder, {top}")
        # The folder's place inside the repository, with a slash at its end, empty at the top.
        self.prefix = prefix

    @cached_property
    def head(self) -> str:
        """The commit that is checked out; raise GitError where there is none yet."""
        try:
            return _run(self.folder, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()
        except GitError as error:
            # A branch that names a commit, and no commit to be read: it is not empty but broken.
            if self._names_a_commit():
                raise GitError("the commit that is checked out cannot be read") from error
            _ = self.refs  # which says so itself where no ref can be read
            raise GitError("the repository has no commit yet") from error

    def _names_a_commit(self) -> bool:
        try:
            ref = _run(self.folder, "symbolic-ref", "--quiet", "HEAD").decode().strip()
            # By its name alone: the object itself may be missing.
            return bool(_run(self.folder, "rev-parse", "--verify", "--quiet", ref).strip())
        except GitError:
            return False

    @cached_property
    def branch(self) -> str | None:
        """The branch that is checked out, None where HEAD is detached."""
        try:
            out = _run(self.folder, "symbolic-ref", "--quiet", "--short", "HEAD")
        except GitError:
            return None
        return out.decode("utf-8", "replace").strip() or None

    @cached_property
    def reflog(self) -> list[tuple[int, str, str]]:
        """What HEAD was: (seconds since the epoch, commit, what git was doing), oldest first."""
        found = []
        try:
            with open_evidence(self.git_dir / "logs" / "HEAD") as file:
                lines = file.read(_REFLOG_LIMIT).decode("utf-8", "replace").splitlines()
        except (UnreadableError, OSError):
            return []
        for line in lines:
            head, _, what = line.partition("\t")
            fields = head.split(" ")
            if len(fields) > 3 and fields[-2].isdigit():  # noqa: PLR2004 (old, new, name, time, zone)
                found.append((int(fields[-2]), fields[1], what))
        return found

    @cached_property
    def commits(self) -> list[Commit]:
        """Every commit that HEAD reaches, newest first, with what each changed."""
        out = _run(
            self.folder,
            "log",
            "--topo-order",
            "--raw",
            "-c",
            "-z",
            "--no-renames",
            "--no-abbrev",
            "--no-ext-diff",
            "--no-textconv",
            "--no-show-signature",
            "--root",
            "--format=%x01%H%x00%P%x00%ct%x00%an%x00%s",
            self.head,
            "--",
        )
        return list(_commits(out))

    @cached_property
    def tracked(self) -> dict[str, str]:
        """The blob id of each path in the checked-out commit, paths from the top."""
        out = _run(self.folder, "ls-tree", "-r", "-z", "--full-tree", self.head, "--")
        found = {}
        for record in out.split(b"\0"):
            head, _, path = record.partition(b"\t")
            fields = head.split()
            if len(fields) == 3 and fields[1] == b"blob":  # noqa: PLR2004 (mode, type, id)
                found[_name(path)] = fields[2].decode()
        return found

    @cached_property
    def untracked(self) -> list[str]:
        """The paths that are neither in the index nor ignored, from the top."""
        out = _run(self.top, "ls-files", "--others", "--exclude-standard", "-z", "--")
        return [_name(path) for path in out.split(b"\0") if path]

    @cached_property
    def staged(self) -> list[str]:
        """The paths that are in the index and in no commit yet, from the top."""
        out = _run(self.top, "ls-files", "--cached", "-z", "--")
        paths = [_name(path) for path in out.split(b"\0") if path]
        return [path for path in paths if path not in self.tracked]

    @cached_property
    def refs(self) -> dict[str, str]:
        """The object that each ref names."""
        out = _run(self.folder, "for-each-ref", "--format=%(objectname) %(refname)")
        pairs = (line.split(" ", 1) for line in out.decode("utf-8", "replace").splitlines())
        return {name: oid for oid, name in pairs}

    @cached_property
    def remote_urls(self) -> frozenset[str]:
        """The addresses of the remotes, as the configuration has them."""
        try:
            out = _run(self.folder, "config", "--local", "--get-regexp", r"^remote\..*\.url$")
        except GitError:
            return frozenset()  # status 1: there are none
        lines = out.decode("utf-8", "replace").splitlines()
        return frozenset(line.split(" ", 1)[1] for line in lines if " " in line)

    def root_commits(self) -> frozenset[str]:
        """Return the commits without parents that HEAD reaches."""
        return frozenset(commit.id for commit in self.commits if not commit.parents)

    def contents(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Return the bytes of blobs in one question; those that are not there are left out."""
        wanted = list(dict.fromkeys(blobs))
        if not wanted:
            return {}
        out = _run(
            self.folder, "cat-file", "--batch", given="".join(f"{b}\n" for b in wanted).encode()
        )
        found: dict[str, bytes] = {}
        position = 0
        while position < len(out):
            end = out.index(b"\n", position)
            fields = out[position:end].split()
            position = end + 1
            if len(fields) == 3 and fields[1] == b"blob":  # noqa: PLR2004 (id, type, size)
                size = int(fields[2])
                found[fields[0].decode()] = out[position : position + size]
                position += size + 1
        return found

    def blob_id(self, data: bytes) -> str:
        """Return the id that git would give these bytes, worked out here."""
        digest = hashlib.new("sha256" if self.object_format == "sha256" else "sha1")
        digest.update(b"blob %d\0" % len(data))
        digest.update(data)
        return digest.hexdigest()

    @cached_property
    def by_path(self) -> dict[str, list[tuple[Commit, Change]]]:
        """What became of each path, newest first."""
        found: dict[str, list[tuple[Commit, Change]]] = {}
        for commit in self.commits:
            for change in commit.changes:
                found.setdefault(change.path, []).append((commit, change))
        return found


def _commits(out: bytes) -> Iterator[Commit]:
    tokens = iter(out.split(b"\0"))
    head: list[bytes] = []
    changes: list[Change] = []
    for token in tokens:
        piece = token.removeprefix(b"\n")
        if piece.startswith(b"\x01"):
            if head:
                yield _commit(head, changes)
            head = [piece[1:], *(next(tokens, b"") for _ in range(4))]
            changes = []
        elif piece.startswith(b":"):
            change = _change(piece, next(tokens, b""))
            if change is not None:
                changes.append(change)
    if head:
        yield _commit(head, changes)


def _commit(head: list[bytes], changes: list[Change]) -> Commit:
    oid, parents, time, author, subject = (piece.decode("utf-8", "replace") for piece in head)
    return Commit(oid, tuple(parents.split()), int(time or 0), author, subject, tuple(changes))


def _change(piece: bytes, path: bytes) -> Change | None:
    """Read one line of raw output; a merge has a colon, a mode and an id for each parent."""
    parents = len(piece) - len(piece.lstrip(b":"))
    fields = piece[parents:].decode("ascii", "replace").split()
    if len(fields) < 2 * parents + 3:
        return None
    modes, ids = fields[: parents + 1], fields[parents + 1 : 2 * parents + 2]
    blob = [None if not oid.strip(_ZERO) else oid for oid in ids]
    return Change(_name(path), blob[0], blob[-1], modes[-1])

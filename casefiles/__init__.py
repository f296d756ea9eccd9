"""Recorded cases: what the real Pi wrote, the repository, the question, and the right answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path


class CaseError(Exception):
    """A case that is not there or cannot be unpacked; one line for a person."""


@dataclass(slots=True, frozen=True)
class Unpacked:
    """A case in a folder of its own, and what is asked of it."""

    agent_dir: Path
    # Where the project is now, and where it was when Pi ran in it.
    project: Path
    cwd: str
    now: str
    symptom: str
    session: str | None
    # A capture of `pi --mode json`, where the question brings one.
    events: Path | None = None


def _root() -> Traversable:
    return files("diagnose.casefiles")


def names() -> tuple[str, ...]:
    """Return the names of the cases, in order."""
    found = (entry.name for entry in _root().iterdir() if entry.joinpath("case.json").is_file())
    return tuple(sorted(found))


def load(name: str) -> dict[str, Any]:
    """Return a case, of the shape in schemas/case.schema.json; raise CaseError without one."""
    if name not in names():
        near = get_close_matches(name, names(), 1)
        hint = f"did you mean {near[0]}?" if near else "`pi-diagnose cases` lists them"
        raise CaseError(f"no case is called {name}; {hint}")
    value: dict[str, Any] = json.loads(_root().joinpath(name, "case.json").read_text("utf-8"))
    return value


def unpack(name: str, folder: Path, question: int = 0) -> Unpacked:
    """Unpack a case below a folder and return where it lies; raise CaseError where it cannot be.

    A copy loses the times of change by which Pi chooses a session: each session file is given the
    time of its last entry, as Pi would have left it. `question` chooses among the case's questions.
    """
    case = load(name)
    source = _root().joinpath(name)
    agent_dir, project = folder / "agent", folder / case["workdir"]
    _copy(source.joinpath("sessions"), agent_dir / "sessions")
    for session in sorted((agent_dir / "sessions").rglob("*.jsonl")):
        moment = _last_time(session)
        os.utime(session, (moment, moment))
    for capture in source.iterdir():
        if capture.name.endswith(".events.jsonl"):
            _copy(capture, folder / capture.name)
    _make_repository(source, project, folder)
    asked = case["questions"][question]
    events = folder / asked["events"] if "events" in asked else None
    return Unpacked(
        agent_dir,
        project,
        asked["cwd"],
        asked["now"],
        asked["symptom"],
        asked.get("session"),
        events,
    )


def _copy(source: Traversable, target: Path) -> None:
    """Copy what was recorded; Pi's own accounts stay behind, they are for the tests."""
    if source.is_dir():
        target.mkdir(parents=True)
        for entry in source.iterdir():
            if not entry.name.endswith(".pi-truth.json"):
                _copy(entry, target / entry.name)
    else:
        target.write_bytes(source.read_bytes())


def _last_time(session: Path) -> float:
    last = json.loads(session.read_bytes().rstrip(b"\n").rsplit(b"\n", 1)[-1])
    return datetime.fromisoformat(last["timestamp"]).timestamp()


def _make_repository(source: Traversable, project: Path, folder: Path) -> None:
    """Build the repository as it is now, from its bundle and the uncommitted changes."""
    project.mkdir()
    bundle = folder / "repo.bundle"
    _copy(source.joinpath("repo.bundle"), bundle)
    _git(project, folder, "init", "--quiet", "--initial-branch=main", "--template=", ".")
    fetch = ("fetch", "--quiet", "--update-head-ok", "--no-write-fetch-head")
    _git(project, folder, *fetch, str(bundle), "+refs/*:refs/*")
    _git(project, folder, "reset", "--quiet", "--hard")
    bundle.unlink()
    changes = source.joinpath("worktree.diff")
    if changes.is_file():
        diff = folder / "worktree.diff"
        _copy(changes, diff)
        _git(project, folder, "apply", "--whitespace=nowarn", str(diff))
        diff.unlink()


def _git(project: Path, folder: Path, *arguments: str) -> None:
    """Run git as on a machine where nothing was ever set."""
    git = shutil.which("git")
    if git is None:
        raise CaseError("git is not installed; a case's repository is built with it")
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    command = [git, "-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", *arguments]
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[0]
        raise CaseError(f"git {arguments[0]} failed while the case was unpacked: {said}")

"""Nothing is written to: sessions, repository and working tree are the same before and after."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest
from command import run
from diagnose.casefiles import names, unpack

if TYPE_CHECKING:
    from pathlib import Path

# Each would leave a mark if git ran it: `%s` is the file that the mark is left in.
TRAPS = {
    "core.fsmonitor": "touch %s",
    "core.pager": "touch %s; cat",
    "core.sshCommand": "touch %s",
    "core.editor": "touch %s",
    "core.askPass": "touch %s",
    "core.alternateRefsCommand": "touch %s",
    "diff.external": "touch %s",
    "diff.trap.command": "touch %s",
    "diff.trap.textconv": "touch %s; cat",
    "filter.trap.clean": "touch %s; cat",
    "filter.trap.smudge": "touch %s; cat",
    "filter.trap.process": "touch %s",
    "gpg.program": "touch %s",
    "credential.helper": "!touch %s",
    "alias.log": "!touch %s",
    "alias.rev-parse": "!touch %s",
    "interactive.diffFilter": "touch %s",
    "uploadpack.packObjectsHook": "touch %s",
    "protocol.ext.allow": "always",
    "remote.evil.url": "ext::sh -c 'touch %s'",
    "remote.evil.promisor": "true",
    "extensions.partialClone": "evil",
    "log.showSignature": "true",
}


def _snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return kind, mode, time of change and digest of all that a folder holds, and its own."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        digest = (
            hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
        )
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_mtime_ns, digest)
    return found


@pytest.mark.parametrize("name", names())
def test_a_diagnosis_leaves_all_evidence_as_it_was(tmp_path: Path, name: str) -> None:
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    case = unpack(name, evidence)
    marks = tmp_path / "marks"
    marks.mkdir()
    git = case.project / ".git"
    for key, value in TRAPS.items():
        command = value % (marks / key) if "%s" in value else value
        subprocess.run(["git", "config", "--file", git / "config", key, command], check=True)
    (git / "info").mkdir(exist_ok=True)
    (git / "info" / "attributes").write_text("* diff=trap filter=trap\n", "utf-8")
    hooks = git / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in (
        "post-index-change",
        "reference-transaction",
        "post-checkout",
        "fsmonitor-watchman",
    ):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {marks}/{hook}\n", "utf-8")
        (hooks / hook).chmod(0o755)
    before = _snapshot(evidence)

    outside = tmp_path / "outside"
    outside.mkdir()
    ran = run(
        *("forgot yesterday", "--agent-dir", case.agent_dir, "--project", case.project),
        *("--cwd", case.cwd, "--now", case.now, "-v"),
        cwd=outside,
    )
    assert ran.status in (0, 1), ran.err
    # The history was asked, so that the traps had their chance.
    assert "there is no history" not in ran.out
    assert _snapshot(evidence) == before
    assert list(marks.iterdir()) == []
    assert list(outside.iterdir()) == []


def test_the_access_time_is_left_alone(tmp_path: Path) -> None:
    """Where the system allows it: the owner of the file, on Linux."""
    if not hasattr(os, "O_NOATIME"):
        pytest.skip("this system has no O_NOATIME")
    case = unpack("continued", tmp_path)
    paths = list(case.agent_dir.rglob("*.jsonl"))
    assert paths
    for path in paths:
        os.utime(path, (1, path.stat().st_mtime))
    run(
        *("forgot yesterday", "--agent-dir", case.agent_dir, "--project", case.project),
        *("--cwd", case.cwd, "--now", case.now),
        cwd=tmp_path,
    )
    assert {path.stat().st_atime for path in paths} == {1}

"""A person's project with sessions of a stranger, and the command over it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from command import run
from entries import NOW, Json, yesterday

from diagnose.sessions.folder import encode

if TYPE_CHECKING:
    from pathlib import Path

    from command import Ran

# What acts on a terminal, turns the order of what is read, or is not seen.
INVISIBLE = frozenset(
    [
        *map(chr, (*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x180E, 0xFEFF)),
        *map(chr, (*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070))),
        *map(chr, (*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080))),
    ]
) - {"\n"}


@dataclass(frozen=True, slots=True)
class Scene:
    """Where everything is: Pi's agent folder, the project, and a folder to run in."""

    root: Path

    @property
    def agent_dir(self) -> Path:
        return self.root / "agent"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def sessions(self) -> Path:
        return self.agent_dir / "sessions" / encode(str(self.project))

    def header(self, **fields: Any) -> Json:
        """Return a header of this project."""
        return {
            "type": "session",
            "version": 3,
            "id": "0a1b",
            "timestamp": yesterday(),
            "cwd": str(self.project),
            **fields,
        }

    def write(self, *lines: Json | bytes, name: str = "2026-10-20T09-00-00-000Z_0a1b") -> Path:
        """Write a session file without a header of its own; bytes stand for themselves."""
        self.sessions.mkdir(parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        path = self.sessions / f"{name}.jsonl"
        path.write_bytes(b"".join(line(one) + b"\n" for one in lines))
        moment = 1792488000  # 2026-10-20T10:00:00Z
        os.utime(path, (moment, moment))
        return path

    def check(self, *arguments: str | Path, **environment: str) -> Ran:
        """Ask the question of the day; a traceback or a fault of its own is no answer."""
        ran = run(
            *("forgot yesterday", "--agent-dir", self.agent_dir, "--cwd", self.project),
            *("--now", NOW, *arguments),
            cwd=self.outside(),
            env=dict(environment),
        )
        assert_answered(ran)
        return ran

    def ask(self, *arguments: str | Path, **environment: str) -> Ran:
        """Run any command; a traceback or a fault of its own is no answer."""
        ran = run(*arguments, cwd=self.outside(), env=dict(environment))
        assert_answered(ran)
        return ran

    def outside(self) -> Path:
        folder = self.root / "outside"
        folder.mkdir(exist_ok=True)
        return folder


def line(entry: Json | bytes) -> bytes:
    """Return an entry as a line of a session, lone surrogates as their escapes."""
    if isinstance(entry, bytes):
        return entry
    try:
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(entry, separators=(",", ":")).encode()


def assert_answered(ran: Ran) -> None:
    """Whatever it was given, it found something or not, or says in a line that it cannot look."""
    assert ran.status in (0, 1, 3), ran.err
    assert "Traceback" not in ran.out + ran.err
    assert "a fault of its own" not in ran.err, ran.err
    assert " failed: " not in ran.err
    if ran.status == 3:
        assert len(ran.err.splitlines()) == 1

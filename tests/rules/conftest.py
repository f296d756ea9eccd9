"""A project with sessions in a temporary folder, and the walk of all rules over it."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from diagnosis import Diagnosis, Place
from entries import NOW, Json, yesterday

from diagnose.pipeline.opening import Request, open_case
from diagnose.pipeline.question import ask, parse_now
from diagnose.pipeline.registry import pipeline
from diagnose.pipeline.walk import walk

if TYPE_CHECKING:
    from pathlib import Path

    from diagnosis import Diagnose, Write


@pytest.fixture
def project(tmp_path: Path) -> Place:
    place = Place(tmp_path / "agent", tmp_path / "project")
    place.cwd.mkdir()
    return place


@pytest.fixture
def write_session(project: Place) -> Write:
    """Give a function that writes a session file as Pi would have left it, and returns its path.

    Each line is an entry, or bytes for what is no entry. The header comes first by itself, unless
    `header=None`; `header={…}` adds to it. The file's time of change is that of its last entry,
    unless `changed` gives another (ISO 8601).
    """
    written = 0

    def write(
        *lines: Json | bytes,
        id_: str | None = None,
        begun: str = yesterday(),
        cwd: str | Path | None = None,
        header: Json | None = {},  # noqa: B006 (never changed)
        changed: str | None = None,
        ending: bytes = b"\n",
        folder: Path | None = None,
    ) -> Path:
        nonlocal written
        written += 1
        id_ = id_ or f"01a159bd-0000-7000-8000-{written:012}"
        where = str(cwd or project.cwd)
        first = {"type": "session", "version": 3, "id": id_, "timestamp": begun, "cwd": where}
        everything = list(lines) if header is None else [{**first, **header}, *lines]
        data = b"\n".join(
            one
            if isinstance(one, bytes)
            else json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode()
            for one in everything
        )
        stamp = begun.replace(":", "-").replace(".", "-")
        path = (folder or project.folder(where)) / f"{stamp}_{id_}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data + ending)
        times = [one.get("timestamp") for one in lines if isinstance(one, dict)]
        last = changed or max((time for time in times if isinstance(time, str)), default=begun)
        moment = datetime.fromisoformat(last).timestamp()
        os.utime(path, (moment, moment))
        return path

    return write


@pytest.fixture
def diagnose(project: Place, tmp_path: Path) -> Diagnose:
    """Give a function that asks every rule; further options are those of a Request.

    No rule may fail: that is a fault of the rule, whatever the session holds.
    """

    def run(symptom: str = "forgot yesterday", now: str = NOW, **options: Any) -> Diagnosis:
        question = ask(symptom, parse_now(now, UTC), UTC, about=options.pop("about", None))
        options.setdefault("cwd", str(project.cwd))
        request = Request(question, agent_dir=str(project.agent_dir), **options)
        case = open_case(request, {"HOME": str(tmp_path / "home")})
        outcomes = walk(case, pipeline())
        failed = {one.rule.code: one.reason for one in outcomes if one.outcome == "failed"}
        assert failed == {}
        return Diagnosis(case, outcomes)

    return run

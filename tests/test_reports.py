"""What people reported in public, each played as a small session: the right answer, and why.

`tests/data/reports` holds one file a report, `tests/data/reports.schema.json` their shape.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from command import run
from diagnose.schemas import schema
from expectation import fulfil

DATA = Path(__file__).parent / "data"
SHAPE = json.loads((DATA / "reports.schema.json").read_text("utf-8"))
EXPECT = schema("case")["properties"]["questions"]["items"]["properties"]["expect"]
REPORTS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((DATA / "reports").glob("*.json"))
}
QUESTIONS = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name, report in REPORTS.items()
    for number in range(len(report["questions"]))
]


def _line(line: Any) -> bytes:
    if isinstance(line, str):
        return line.encode()
    if isinstance(line, dict) and "$bytes" in line:
        return base64.b64decode(line["$bytes"])
    if isinstance(line, dict) and "$entry" in line:
        return _line(line["$entry"]).replace(b"@@", b"x" * line["$fill"])
    # As Pi writes: no blanks. What this cannot hold, a lone surrogate, is given as text.
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    return text.encode()


def _write(path: Path, file: dict[str, Any], root: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if "link" in file:
        path.symlink_to(root / file["link"])
        return
    if "text" in file:
        path.write_text(file["text"], "utf-8")
        last = file.get("changed")
    else:
        lines = file["lines"]
        data = file.get("newline", "\n").encode().join(_line(line) for line in lines)
        ends = file.get("ends", file.get("newline", "\n")).encode()
        path.write_bytes(base64.b64decode(file.get("begins", "")) + data + ends)
        times = [line.get("timestamp") for line in lines if isinstance(line, dict)]
        written = [time for time in times if isinstance(time, str)]
        last = file.get("changed") or max(written, default=None)
    if last:
        moment = datetime.fromisoformat(last).timestamp()
        os.utime(path, (moment, moment))


def _commit(project: Path, commits: list[dict[str, Any]]) -> None:
    def git(*arguments: str, at: str) -> None:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(project),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": at,
            "GIT_COMMITTER_DATE": at,
        }
        who = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
        subprocess.run(
            ["git", *who, *arguments], cwd=project, env=environment, capture_output=True, check=True
        )

    for number, one in enumerate(commits):
        if number == 0:
            git("init", "-q", "-b", "main", at=one["at"])
        for name, text in one["files"].items():
            file = project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                file.unlink()
            else:
                file.write_text(text, "utf-8")
        for told in one.get("git", []):
            git(*told, at=one["at"])
        if "git" in one:
            continue
        git("add", "-A", at=one["at"])
        git("commit", "-q", "--allow-empty", "-m", one["message"], at=one["at"])


@pytest.mark.parametrize(("name", "number"), QUESTIONS)
def test_a_report_gets_the_right_answer(name: str, number: int, tmp_path: Path) -> None:
    report = REPORTS[name]
    question = report["questions"][number]
    root = tmp_path / "played"
    project = root / "project"
    project.mkdir(parents=True)
    _commit(project, report.get("commits", []))
    for path, file in report["files"].items():
        _write(root / path, file, root)
    options = [one.replace("{root}", str(root)) for one in question.get("options", [])]
    told = question.get("environment")
    # With an environment Pi finds its agent folder by itself.
    if told is None and not any(one == "--agent-dir" for one in options):
        options += ["--agent-dir", str(root / "agent")]
    environment = {name: value.replace("{root}", str(root)) for name, value in (told or {}).items()}
    ran = run(
        *(question["symptom"], "--project", project, "--cwd", question["cwd"]),
        *("--now", question["now"], "--format", "json", *options),
        cwd=tmp_path,
        env={"HOME": str(root / question.get("home", "home")), **environment},
    )
    fulfil(ran, question["expect"])
    stands = {one["layer"]: one["summary"] for one in ran.report["layers"]}
    for layer, words in question.get("stands", {}).items():
        assert [text for text in words if text not in stands[layer]] == [], stands


@pytest.mark.parametrize("name", REPORTS)
def test_reports_fit_their_shape(name: str) -> None:
    report = REPORTS[name]
    jsonschema_rs.validate(SHAPE, report)
    assert report["report"] == name
    for question in report["questions"]:
        jsonschema_rs.validate({**EXPECT, "$defs": schema("case")["$defs"]}, question["expect"])
        assert datetime.fromisoformat(question["now"]) < datetime(2030, 1, 1, tzinfo=UTC)

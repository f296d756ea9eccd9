"""Every recorded case comes out as its `case.json` says, from the installed command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jsonschema_rs
import pytest
from command import Ran, run
from diagnose.casefiles import load, names, unpack
from diagnose.schemas import schema
from expectation import fulfil

if TYPE_CHECKING:
    from pathlib import Path

QUESTIONS = [
    pytest.param(name, number, id=f"{name}-{number}")
    for name in names()
    for number in range(len(load(name)["questions"]))
]


def _diagnose(name: str, number: int, tmp_path: Path) -> Ran:
    case = unpack(name, tmp_path, number)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    given = (("--session", case.session), ("--events", case.events))
    options = [word for flag, value in given if value for word in (flag, value)]
    return run(
        *(case.symptom, "--agent-dir", case.agent_dir, "--project", case.project),
        *("--cwd", case.cwd, "--now", case.now, "--format", "json", *options),
        cwd=elsewhere,
    )


@pytest.mark.parametrize(("name", "number"), QUESTIONS)
def test_a_case_comes_out_as_it_is_written(name: str, number: int, tmp_path: Path) -> None:
    expected = load(name)["questions"][number]["expect"]
    ran = _diagnose(name, number, tmp_path)
    fulfil(ran, expected)


@pytest.mark.parametrize("name", names())
def test_case_files_fit_their_schema(name: str) -> None:
    case = load(name)
    jsonschema_rs.validate(schema("case"), case)
    assert case["name"] == name


def test_a_case_runs_by_its_name_alone(tmp_path: Path) -> None:
    """The way to see the tool work where Pi has never run; nothing is left behind."""
    ran = run("forgot yesterday", "--case", "stale-renamed", cwd=tmp_path)
    assert ran.status == 1
    assert ran.out.startswith("outdated: It is remembered wrong")
    assert "src/hello.ts" in ran.out
    assert list(tmp_path.iterdir()) == []


def test_cases_are_listed_with_what_happened(tmp_path: Path) -> None:
    out = run("cases", cwd=tmp_path).out
    for name in names():
        assert f"{name} " in out
        assert load(name)["title"] in out


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Tokyo"])
def test_another_time_zone_sees_the_same_day(zone: str, tmp_path: Path) -> None:
    """At 10:00 UTC, 14:35 UTC of the day before is yesterday in both, by different clocks."""
    case = unpack("new-session", tmp_path)
    ran = run(
        *("forgot yesterday", "--agent-dir", case.agent_dir, "--project", case.project),
        *("--cwd", case.cwd, "--now", case.now, "--format", "json"),
        cwd=tmp_path,
        env={"TZ": zone},
    )
    assert ran.report["verdict"]["kind"] == "elsewhere"
    clock = {"America/Los_Angeles": "07:35", "Asia/Tokyo": "23:35"}[zone]
    assert clock in ran.report["findings"][0]["message"]

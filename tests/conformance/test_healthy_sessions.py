"""No false alarm: sessions of the real Pi in which nothing went wrong give no error, no warning."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import run
from real_pi import ENVIRONMENT, NODE, PACKAGES, asks_pi

from diagnose.pipeline.opening import Request, open_case
from diagnose.pipeline.question import ask, parse_now
from diagnose.pipeline.registry import pipeline
from diagnose.pipeline.walk import level_of, walk

if TYPE_CHECKING:
    from collections.abc import Callable

HEALTHY = int(os.environ.get("PI_DIAGNOSE_HEALTHY", "200"))
# A tenth as many have compactions and left branches, days before the one that is asked about.
CONDENSED = HEALTHY // 10
BY_COMMAND = 5
PLAYERS = 4
# The same sessions each time, so that a change alone can make an alarm; other seeds are tried by
# hand, and what they show becomes a test of its own.
SEED = int(os.environ.get("PI_DIAGNOSE_SEED", "900"))

pytestmark = asks_pi


@pytest.fixture
def play(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    """Give a function that has Pi play sessions; PI_DIAGNOSE_SEED sets their seed."""

    def play(count: int, *options: str) -> list[dict[str, Any]]:
        with capsys.disabled():
            print(f"\n{count} healthy sessions, PI_DIAGNOSE_SEED={SEED}")  # noqa: T201
        # Players wait for git most of the time, so that several are faster.
        shares = [len(range(place, count, PLAYERS)) for place in range(PLAYERS)]
        with ThreadPoolExecutor(PLAYERS) as pool:
            parts = pool.map(
                lambda place: _played(tmp_path / f"{place}", SEED + place, shares[place], options),
                range(PLAYERS),
            )
            return [one for part in parts for one in part]

    return play


def _played(folder: Path, seed: int, count: int, options: tuple[str, ...]) -> list[dict[str, Any]]:
    folder.mkdir()
    script = Path(__file__).with_name("healthy.mjs")
    done = subprocess.run(
        [NODE, script, PACKAGES, folder, str(count), str(seed), *options],
        env={
            **ENVIRONMENT,
            "HOME": str(folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        },
        capture_output=True,
        text=True,
        timeout=60 + count,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    played = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(played) == count
    return played


def _alarms(one: dict[str, Any]) -> list[str]:
    """Return what is found at error or warning, and the rules that failed, a line each."""
    question = ask(one["symptom"], parse_now(one["now"], UTC), UTC)
    case = open_case(
        Request(question, cwd=one["cwd"], agent_dir=one["agentDir"]), {"HOME": one["agentDir"]}
    )
    assert case.session is not None
    assert str(case.session.path) == one["file"]
    assert case.day_here
    alarms = []
    for outcome in walk(case, pipeline()):
        code = outcome.rule.code
        if outcome.outcome == "failed":
            alarms.append(f"  {code} failed: {outcome.reason}")
        for found in outcome.findings:
            level = level_of(outcome.rule, found)
            if level != "note":
                alarms.append(f"  {code} {level}: {found.message}")
    return [f"{one['file']}, {one['symptom']}, {one['moves']}:", *alarms] if alarms else []


def _expect_no_alarm(played: list[dict[str, Any]]) -> None:
    alarms = [_alarms(one) for one in played]
    count = sum(map(bool, alarms))
    text = "\n".join(line for lines in alarms for line in lines)
    assert not count, f"seed {SEED}: {count} of {len(played)} healthy sessions raise alarms\n{text}"


def test_a_healthy_session_gives_no_error_and_no_warning(
    play: Callable[..., list[dict[str, Any]]],
) -> None:
    played = play(HEALTHY)
    _expect_no_alarm(played)
    for one in played[:BY_COMMAND]:
        ran = run(
            *("check", one["symptom"], "--format", "json", "--fail-on", "warning"),
            *("--now", one["now"], "--agent-dir", one["agentDir"]),
            cwd=Path(one["cwd"]),
        )
        assert ran.status == 0, ran.out + ran.err
        assert ran.report["subject"]["path"] == one["file"]


def test_what_was_condensed_on_another_day_raises_no_alarm(
    play: Callable[..., list[dict[str, Any]]],
) -> None:
    _expect_no_alarm(play(CONDENSED, "condensed"))

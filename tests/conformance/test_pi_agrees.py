"""The real Pi is the judge: `pi-diagnose context` gives what it builds, for any file."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command import run
from comparison import difference
from damage import ABSENT, VALUES, damage, fields, with_value
from real_pi import ENVIRONMENT, NODE, PACKAGES, asks_pi

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SEED = int(os.environ.get("PI_DIAGNOSE_SEED", time.time_ns() % 10**9))
DAMAGES = int(os.environ.get("PI_DIAGNOSE_DAMAGES", "300"))
BATCH = 25
# A file takes Pi some milliseconds; one with a parent cycle takes it for ever (seconds).
PATIENCE = 20

pytestmark = asks_pi
SESSIONS = [
    path
    for path in sorted(Path(str(files("diagnose.casefiles"))).rglob("*.jsonl"))
    if ".events." not in path.name
]
DAMAGED = sorted((HERE.parent / "data" / "damaged").glob("*.jsonl"))


def _answers(paths: list[Path]) -> list[dict[str, Any]]:
    """Ask Pi about files; one that makes it hang is answered with an error that says so."""
    if not paths:
        return []
    # With little memory a cycle, along which Pi gathers entries for ever, ends it in a second.
    command = [NODE, "--max-old-space-size=100", HERE / "ask_pi.mjs", PACKAGES, *paths]
    try:
        # A Pi that hangs or dies leaves its copy of the file behind; the folder goes with it here.
        with tempfile.TemporaryDirectory() as scratch:
            # `run` ends a child that takes too long with SIGKILL, the only signal Pi hears then.
            done = subprocess.run(
                command,
                env={**ENVIRONMENT, "HOME": scratch, "TMPDIR": scratch},
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
    except subprocess.TimeoutExpired as error:
        out, hung = error.stdout or b"", True
    else:
        out, hung = done.stdout, False
        # Out of memory, Node aborts. Any other end says nothing about a file: nothing was asked.
        assert done.returncode in (0, -signal.SIGABRT), done.stderr.decode("utf-8", "replace")
    answers = [json.loads(line) for line in out.split(b"\n") if line.endswith(b"}")]
    if len(answers) < len(paths):
        # Files are taken in turn: the first without an answer is the one that it died of. One that
        # was only reached when time was up may be innocent, and is asked again alone.
        culprit, rest = paths[len(answers)], paths[len(answers) + 1 :]
        at_fault = {"file": str(culprit), "error": "Pi hangs, or dies"}
        answers += _answers([culprit]) if hung and len(paths) > 1 else [at_fault]
        answers += _answers(rest)
    return answers


def _ours(paths: list[Path], folder: Path) -> Iterator[dict[str, Any]]:
    ran = run("context", "--format", "jsonl", *paths, cwd=folder)
    assert ran.status in (0, 1), ran.err
    return (json.loads(line) for line in ran.out.rstrip("\n").split("\n"))


def _compare(paths: list[Path], folder: Path) -> list[str]:
    """Return where ours and Pi's answers differ, a line each."""
    differences = []
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        for path, ours, theirs in zip(batch, _ours(batch, folder), _answers(batch), strict=True):
            assert ours["file"] == theirs["file"] == str(path)
            found = difference(ours, theirs)
            if found is not None:
                differences.append(f"{path}: {found}")
    return differences


def test_healthy_sessions_are_read_as_pi_reads_them(tmp_path: Path) -> None:
    assert len(SESSIONS) > 20
    assert _compare(SESSIONS, tmp_path) == []


def test_damaged_files_are_read_as_pi_reads_them(tmp_path: Path) -> None:
    assert len(DAMAGED) > 150
    assert _compare(DAMAGED, tmp_path) == []


def test_any_type_in_any_field_is_read_as_pi_reads_it(tmp_path: Path) -> None:
    """A sample of all fields and types, as large as the number of random damages."""
    data = (HERE.parent / "data" / "everything.jsonl").read_bytes()
    wrong = [(way, value) for way in fields(data) for value in (*VALUES, ABSENT)]
    chance = random.Random(SEED)  # noqa: S311 (no secret)
    paths = []
    for way, value in chance.sample(wrong, min(DAMAGES, len(wrong))):
        path = tmp_path / f"{len(paths):05}-{'.'.join(map(str, way))}.jsonl"
        path.write_bytes(with_value(data, way, value))
        paths.append(path)
    _expect_no_difference(paths, tmp_path)


def test_random_damage_is_read_as_pi_reads_it(
    tmp_path: Path, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two or three faults each; PI_DIAGNOSE_SEED and PI_DIAGNOSE_DAMAGES set seed and number."""
    record_property("seed", SEED)
    with capsys.disabled():
        print(f"\n{DAMAGES} random damages, PI_DIAGNOSE_SEED={SEED}")  # noqa: T201
    chance = random.Random(SEED)  # noqa: S311 (no secret)
    paths = []
    for number in range(DAMAGES):
        source = chance.choice(SESSIONS)
        data, names = damage(source.read_bytes(), chance, chance.randint(2, 3))
        path = tmp_path / f"{number:05}-{'+'.join(names)}.jsonl"
        path.write_bytes(data)
        paths.append(path)
    _expect_no_difference(paths, tmp_path)


def _expect_no_difference(paths: list[Path], folder: Path) -> None:
    """Fail with what differs; the files stay, where pytest would take the folder away."""
    differences = _compare(paths, folder)
    if differences:
        kept = Path(shutil.copytree(folder, f"{folder}-kept"))
        pytest.fail(f"seed {SEED}, files kept in {kept}:\n" + "\n".join(differences[:20]))

"""A session of 100 MB is diagnosed, in memory that does not grow with its texts."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from command import COMMAND
from make_session import write_session

if TYPE_CHECKING:
    from pathlib import Path

# Entries of one number, with texts ten times as long in the second: peak memory must not follow.
ENTRIES_OF = 10_000_000
MEGABYTE = 1_000_000

# Runs a command and prints its status and its peak memory in kilobytes, that of no one else.
MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr.decode())
"""


def _peak(path: Path, folder: Path) -> float:
    """Diagnose a session and return the peak memory in bytes."""
    arguments = ["forgot 2026-10-18", "--session", path, "--now", "2026-10-21T10:00:00Z"]
    measured = subprocess.run(
        [sys.executable, "-c", MEASURE, COMMAND, *arguments, "--agent-dir", folder],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    status, kilobytes, said = measured.stdout.split(" ", 2)
    assert status in ("0", "1"), said
    return int(kilobytes) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_CHILDREN"), reason="memory cannot be measured")
def test_memory_does_not_grow_with_the_texts_of_a_session(tmp_path: Path) -> None:
    plain, long = tmp_path / "plain.jsonl", tmp_path / "long.jsonl"
    lines = write_session(plain, ENTRIES_OF)
    assert write_session(long, ENTRIES_OF, text_scale=10) == lines
    assert long.stat().st_size > 90 * MEGABYTE
    grown = _peak(long, tmp_path) - _peak(plain, tmp_path)
    # One line of some hundred kilobytes is held at a time, several times over while it is read.
    assert grown < 20 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB more for 90 MB more of text"

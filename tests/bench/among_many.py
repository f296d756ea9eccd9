"""Times the diagnosis of a small session beside 5,000 others, 2 GB in 200 project folders.

    python tests/bench/among_many.py [RUNS]

Prints medians: for a day that the session holds, and for one that it does not, so that it is looked
for in every file whose name and time of change allow it. Here all do, and none holds it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from against_pi import MEGABYTE, OURS, Measured, measure, show
from make_session import write_session

from diagnose.sessions.folder import encode

FOLDERS = 200
FILES = 25
SIZE = 0.4 * MEGABYTE
BEGUN = "2026-10-15T08:00:00.000Z"
# The days of each are the 15th to the 20th; all were changed on the 21st.
CHANGED = datetime.fromisoformat("2026-10-21T06:00:00Z").timestamp()
NOW = "2026-10-22T10:00:00Z"


def _write(sessions: Path, cwd: str, number: int, body: bytes) -> Path:
    own = f"01a13d00-0000-7000-8000-{number:012}"
    header = {"type": "session", "version": 3, "id": own, "timestamp": BEGUN, "cwd": cwd}
    path = sessions / encode(cwd) / f"{BEGUN.replace(':', '-').replace('.', '-')}_{own}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(header, separators=(",", ":")).encode() + b"\n" + body)
    os.utime(path, (CHANGED, CHANGED))
    return path


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        project = folder / "project"
        project.mkdir()
        one = folder / "one.jsonl"
        write_session(one, int(SIZE))
        body = one.read_bytes().partition(b"\n")[2]
        sessions = folder / ".pi" / "agent" / "sessions"
        small = body.splitlines(keepends=True)[:12]
        _write(sessions, str(project), 0, b"".join(small))
        for number in range(FOLDERS * FILES):
            _write(sessions, f"/home/dev/work/p{number % FOLDERS}", number + 1, body)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}

        def ask(day: str) -> Measured:
            options = ["--cwd", project, "--now", NOW]
            return measure([OURS, f"forgot {day}", *options], environment)

        for name, day in {
            "a day that the session holds": "2026-10-15",
            "a day that no session holds": "2026-10-21",
        }.items():
            show(name, [ask(day) for _ in range(runs + 1)][1:])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)

"""Running the installed command as a person would, away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("pi-diagnose")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of the command left."""

    status: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        """The JSON that it printed."""
        value: dict[str, Any] = json.loads(self.out)
        return value

    def rules(self, *levels: str) -> set[str]:
        """The codes of the findings, of these levels or all."""
        found = self.report["findings"]
        return {one["rule"] for one in found if not levels or one["level"] in levels}


def run(*arguments: str | Path, cwd: Path, env: dict[str, str | None] | None = None) -> Ran:
    """Run `pi-diagnose` in a folder; a variable given as None is taken away."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "TZ": "UTC",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for name, value in (env or {}).items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

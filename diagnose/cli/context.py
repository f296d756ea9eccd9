"""`pi-diagnose context`: the branch, the context and the wire, as Pi builds them from a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from diagnose.cli.main import EXIT_CALL, EXIT_FOUND, EXIT_NOTHING, Fault
from diagnose.cli.options import choose_format, emit, output_options, place_options, style

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENDINGS = {".txt": "text", ".json": "json", ".jsonl": "jsonl"}


@click.command(
    "context",
    epilog="Examples: pi-diagnose context · pi-diagnose context --format jsonl FILE FILE",
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@place_options
@output_options(["text", "json", "jsonl"])
def command(**options: Any) -> int:
    """Show what the next request is built from, entry by entry, as the real Pi builds it.

    FILE is a session; without one, the session that `pi --continue` opens. JSON takes one file,
    jsonl writes one object a line for each. Exit 1 where Pi cannot open a file.
    """
    format_ = choose_format(options["format_"], options["output"], _ENDINGS)
    files: tuple[str, ...] = options["files"] or (_continued(options),)
    if format_ == "json" and len(files) > 1:
        raise Fault("--format json takes one file; jsonl takes several", EXIT_CALL)
    status = 0

    def write(out: IO[str]) -> None:
        nonlocal status
        for account in _accounts(files):
            status = max(status, EXIT_FOUND if account["error"] else 0)
            _write(account, format_, options, out)

    emit(write, options["output"])
    return status


def _accounts(files: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    from diagnose.cli.faults import as_faults  # noqa: PLC0415 (kept out of --help)
    from diagnose.sessions.account import account  # noqa: PLC0415

    for file in files:
        with as_faults():
            told = account(Path(file), file)
        yield told


def _continued(options: dict[str, Any]) -> str:
    from diagnose.cli.faults import as_faults  # noqa: PLC0415
    from diagnose.pipeline.opening import place  # noqa: PLC0415
    from diagnose.sessions.folder import continued_session  # noqa: PLC0415

    with as_faults():
        found = place(options["cwd"], options["agent_dir"], options["session_dir"], os.environ)
    path = continued_session(found.folder, found.cwd)
    if path is None:
        raise Fault(f"there is no session for {found.cwd} in {found.folder.path}", EXIT_NOTHING)
    return str(path)


def _write(account: dict[str, Any], format_: str, options: dict[str, Any], out: IO[str]) -> None:
    if format_ in ("json", "jsonl"):
        from diagnose.report.json import to_json  # noqa: PLC0415

        out.write(to_json(account, indent=2 if format_ == "json" else None) + "\n")
        return
    from diagnose.report.context import write_context  # noqa: PLC0415

    write_context(account, out, style(options["color"], 0, to_file=bool(options["output"])))

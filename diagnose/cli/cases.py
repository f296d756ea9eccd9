"""`pi-diagnose cases`: the recorded cases, to see the tool work where Pi has never run."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import IO

import click

from diagnose.cli.options import emit


@click.command("cases", epilog="Example: pi-diagnose cases && pi-diagnose check --case new-session")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", help="How to write."
)
def command(format_: str) -> int:
    """List the recorded cases: sessions that the real Pi wrote, and what is wrong with each."""
    casefiles = import_module("diagnose.casefiles")
    cases = [casefiles.load(name) for name in casefiles.names()]

    def write(out: IO[str]) -> None:
        if format_ == "json":
            from diagnose.report.json import to_json  # noqa: PLC0415 (only where it is used)

            out.write(to_json(cases) + "\n")
            return
        from shutil import get_terminal_size  # noqa: PLC0415

        from tabulate import tabulate  # noqa: PLC0415

        rows = [[c["name"], c["questions"][0]["expect"]["verdict"], c["title"]] for c in cases]
        width = get_terminal_size().columns if sys.stdout.isatty() else None
        room = [None, None, max(16, width - 40)] if width else None
        headers = ["case", "verdict", "what happened"]
        out.write(tabulate(rows, headers=headers, tablefmt="simple", maxcolwidths=room) + "\n")
        out.write('\nTry one: pi-diagnose "forgot yesterday" --case NAME\n')

    emit(write, None)
    return 0

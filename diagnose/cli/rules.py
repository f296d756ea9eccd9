"""`pi-diagnose rules`: every rule in the order in which it is asked."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from diagnose.cli.options import emit


@click.command("rules", epilog="Example: pi-diagnose rules --layer branch")
@click.option(
    "--layer",
    type=click.Choice(["storage", "branch", "compaction", "source", "ledger", "privacy"]),
    help="Only the rules of this layer.",
)
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", help="How to write."
)
def command(layer: str | None, format_: str) -> int:
    """List the rules: code, name, layer, levels, and what each finds."""
    from diagnose.pipeline.registry import pipeline  # noqa: PLC0415 (kept out of --help)

    rules = [rule for rule in pipeline() if layer in (None, rule.layer)]
    rows = [
        {
            "code": rule.code,
            "name": rule.name,
            "layer": rule.layer,
            "levels": list(rule.levels),
            "finds": rule.page.strip().splitlines()[0],
        }
        for rule in rules
    ]

    def write(out: IO[str]) -> None:
        out.write(_text(rows) if format_ == "text" else _json(rows))

    emit(write, None)
    return 0


def _text(rows: list[dict[str, Any]]) -> str:
    from shutil import get_terminal_size  # noqa: PLC0415

    from tabulate import tabulate  # noqa: PLC0415

    width = get_terminal_size().columns if sys.stdout.isatty() else None
    table = [
        [row["code"], row["name"], row["layer"], "/".join(row["levels"]), row["finds"]]
        for row in rows
    ]
    # On a narrow terminal the last column is folded; a pipe gets one line a rule.
    left = max(len("  ".join(map(str, row[:4]))) for row in table) + 8 if table else 0
    room = [None, None, None, None, max(16, width - left)] if width else None
    headers = ["code", "name", "layer", "levels", "finds"]
    return tabulate(table, headers=headers, tablefmt="simple", maxcolwidths=room) + "\n"


def _json(rows: list[dict[str, Any]]) -> str:
    from diagnose.report.json import to_json  # noqa: PLC0415

    return to_json(rows) + "\n"

"""`pi-diagnose explain`: the page of one rule."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import IO

import click

from diagnose.cli.main import EXIT_CALL, Fault
from diagnose.cli.options import emit


@click.command("explain", epilog="Example: pi-diagnose explain PI201")
@click.argument("code")
def command(code: str) -> int:
    """Print a rule's page: what it finds, why, what proves it, what it cannot tell, what to do.

    CODE is a rule's code (PI201) or name (off-branch).
    """
    from diagnose.pipeline.registry import pipeline  # noqa: PLC0415 (kept out of --help)

    rules = pipeline()
    found = next((r for r in rules if code.upper() == r.code or code.lower() == r.name), None)
    if found is None:
        known = [name for rule in rules for name in (rule.code, rule.name)]
        near = get_close_matches(code, known, 1) or get_close_matches(code.upper(), known, 1)
        hint = f"; did you mean {near[0]}?" if near else "; `pi-diagnose rules` lists them"
        raise Fault(f"no rule is called {code}{hint}", EXIT_CALL)
    head = f"{found.code} {found.name} ({found.layer}, {'/'.join(found.levels)})"

    def write(out: IO[str]) -> None:
        out.write(f"{head}\n\n{inspect.cleandoc(found.page)}\n")

    emit(write, None)
    return 0

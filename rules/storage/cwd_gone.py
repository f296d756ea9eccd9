"""The working directory that the session records does not exist here.

What it finds
    The header's `cwd` is no folder on this machine, and `--project` does not say where it is now.
Why it matters
    Pi asks where to go on. Until it is known where the project is, nothing can be said of whether
    what the session observed is still true.
What proves it
    The header, by its line.
What it cannot tell
    Whether the folder was deleted, renamed, or lies on another machine.
What to do
    Ask again with `--project DIR`, where DIR is the project's folder now.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.sessions.folder import same_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI117", "cwd-gone", layer="storage", levels=("warning",))
def cwd_gone(case: Case) -> Iterator[Finding]:
    """Find that the recorded working directory is not here."""
    session = case.subject
    recorded = session.cwd
    if session.header is None or not recorded:
        return
    told = case.moved and same_path(recorded, case.cwd)
    if told or os.path.isdir(recorded):  # noqa: PTH112 (a text is at hand)
        return
    yield Finding(
        f"the session was recorded in {recorded}, which is no folder here; Pi asks where to go on,"
        " and what it observed cannot be compared",
        (Evidence(str(session.path), session.header.line, quote=recorded),),
        remedy=(
            Remedy(
                "Say where that folder is now: --cwd as it was recorded, and --project DIR.",
            ),
        ),
    )

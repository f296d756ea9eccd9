"""The file is of an older version: opening it with Pi rewrites it.

What it finds
    A header of version 1 (or without a version) or 2.
Why it matters
    Pi rewrites such a file in place as version 3, not in one step, and gives entries of version 1
    new random ids. What was true of the file before, line by line and id by id, is not afterwards.
What proves it
    The header's version.
What it cannot tell
    Which release of Pi wrote it.
What to do
    Copy the file before opening it with Pi.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.sessions.javascript import to_number
from diagnose.sessions.reading import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI115", "old-version", layer="storage", levels=("note",))
def old_version(case: Case) -> Iterator[Finding]:
    """Find a file that Pi would rewrite."""
    session = case.subject
    if session.header is None or not to_number(session.version) < CURRENT_VERSION:
        return
    given = "version" in session.header.value
    said = f"is of version {session.version}" if given else "has no version, which means 1"
    ids = ", with new random ids" if session.is_linear else ""
    path = str(session.path)
    yield Finding(
        f"the file {said}; opening it with Pi rewrites it in place as version"
        f" {CURRENT_VERSION}{ids}",
        (Evidence(path, session.header.line),),
        remedy=(
            Remedy("Copy it first.", f"cp -p {quote(path)} {quote(session.path.stem + '.copy')}"),
        ),
    )

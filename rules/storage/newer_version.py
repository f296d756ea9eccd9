"""The file is of a version that Pi 1.6.0 does not know.

What it finds
    A header whose version is above 3, or no number.
Why it matters
    Pi 1.6.0 takes such a file for version 3 and says nothing. What a later version changed in
    meaning is then read wrong, by Pi and by this checker alike.
What proves it
    The header's version.
What it cannot tell
    What the later version means. Every other finding on this file holds for version 3.
What to do
    Open the file with the release of Pi that wrote it, and look for a newer pi-diagnose.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.javascript import to_number
from diagnose.sessions.reading import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI116", "newer-version", layer="storage", levels=("warning",))
def newer_version(case: Case) -> Iterator[Finding]:
    """Find a version that is not known."""
    session = case.subject
    if session.header is None or to_number(session.version) <= CURRENT_VERSION:
        return
    said = shortened(str(session.version), 20)
    # What is no number is not below the current version, and not at or above it either.
    number = to_number(session.version)
    anew = "" if number >= CURRENT_VERSION else ", and writes the file anew on opening it"
    yield Finding(
        f"the header says version {said}; Pi 1.6.0 knows versions up to {CURRENT_VERSION} and reads"
        f" it as {CURRENT_VERSION}{anew}",
        (Evidence(str(session.path), session.header.line, quote=said),),
        remedy=(Remedy("Open it with the release of Pi that wrote it."),),
    )

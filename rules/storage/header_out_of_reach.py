"""The header lies beyond what Pi reads when it looks for sessions.

What it finds
    A file whose header is valid and does not end within the first 1 MiB: a header with very much
    metadata, or one below very long lines that cannot be read.
Why it matters
    `--continue` and `--session ID` read no further for a header and pass the file over without a
    word. The `/resume` picker shows it, and it opens by its path.
What proves it
    The header's line and the byte at which it ends.
What it cannot tell
    What put so much before or into the header.
What to do
    Open the session by its path, with the command that stands beside the finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.evidence import open_evidence
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.sessions.folder import discovered_header
from diagnose.sessions.reading import HEADER_SCAN_LIMIT, split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.reading import Session


@rule("PI108", "header-out-of-reach", layer="storage", levels=("warning",))
def header_out_of_reach(case: Case) -> Iterator[Finding]:
    """Find files that open by their path and are not discovered."""
    own = [case.session] if case.session is not None else []
    for session in [*own, *case.passed_over]:
        if session.header is None or session.refusal is not None:
            continue
        if discovered_header(session.path) is not None:
            continue
        end = _header_end(session, session.header.line)
        yield Finding(
            f"the header of {session.path.name}, line {session.header.line}, ends at byte {end};"
            f" pi --continue and --session ID look for it in the first {HEADER_SCAN_LIMIT} bytes"
            " and pass the file over",
            (Evidence(str(session.path), session.header.line),),
            remedy=(Remedy("Open it by its path.", case.command_to_open(session)),),
        )


def _header_end(session: Session, header_line: int) -> int:
    with open_evidence(session.path) as file:
        for number, (offset, line, _) in enumerate(split_lines(file), 1):
            if number == header_line:
                return offset + len(line)
    return session.size

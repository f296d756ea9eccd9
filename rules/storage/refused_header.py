"""Pi refuses the file: its first entry is no session header.

What it finds
    The session under examination, or another file of the project's folder that may hold the day,
    whose first readable line is not `{"type":"session","id":<text>}`: a byte order mark, a header
    that was cut off, a header that is missing, not first, or without an id that is a text.
Why it matters
    One bad line at the top hides everything below it. Pi does not open such a file by its path, and
    `--continue` passes it over without a word and opens the next newest.
What proves it
    The line that decides it, with what stands there, and the number of entries below it.
What it cannot tell
    What the lost header said beyond what the file's name and place tell: the name holds the id and
    the time, the folder stands for the working directory.
What to do
    Mend a copy, never the file itself: take off the mark, or put a header line on top. The commands
    stand beside the finding.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from shlex import quote
from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted
from diagnose.sessions.folder import created, named_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.reading import Session

_BOM = b"\xef\xbb\xbf"
# So many bytes of the line that decides are shown.
_SHOWN = 120


@rule("PI107", "refused-header", layer="storage", levels=("error", "warning"), verdict="damaged")
def refused_header(case: Case) -> Iterator[Finding]:
    """Find files that Pi does not open though they hold entries."""
    if case.session is not None and case.session.refusal is not None:
        yield _finding(case, case.session, "the file cannot be opened with Pi")
    for session in case.passed_over:
        if session.refusal is not None:
            yield _finding(case, session, "another file of this project's folder is passed over")


def _finding(case: Case, session: Session, effect: str) -> Finding:
    refusal = session.refusal
    why = refusal.reason if refusal else ""
    line = (refusal.line if refusal else None) or 1
    start, *_ = session.raw(0, _SHOWN).split(b"\n", 1)
    what = why
    if start.startswith(_BOM):
        what = "a byte order mark (EF BB BF) stands before the header"
        line = 1
    elif session.skipped and session.skipped[0].line == 1 and b'"session"' in start:
        what = "the header in line 1 was cut off and is no JSON"
        line = 1
    elif (first := next(iter(session.extra_headers), line)) != line:
        what = f"{why}; a header stands in line {first}"
    day = case.active_on_day(session.entries)
    intact = counted(len(session.entries), "entry")
    of_the_day = f" ({counted(len(day), 'message')} of the day)" if day else ""
    opened = case.continued.name if case.continued else None
    instead = f"opens {opened} instead" if opened else "would begin a new session"
    return Finding(
        f"{effect}: {what}; {intact}{of_the_day} are intact; pi --continue {instead}",
        (Evidence(str(session.path), line, quote=start.decode("utf-8", "backslashreplace")),),
        level=None if day or session is case.session else "warning",
        remedy=_remedy(case, session, marked=start.startswith(_BOM)),
    )


def _remedy(case: Case, session: Session, *, marked: bool) -> tuple[Remedy, ...]:
    """Return how a copy that Pi opens is made."""
    source, target = quote(str(session.path)), quote(f"{session.path.stem}-mended.jsonl")
    if marked:
        return (Remedy("Make a copy without the mark.", f"tail -c +4 {source} > {target}"),)
    if session.header is not None and session.refusal is not None and session.refusal.line:
        line = session.refusal.line
        return (Remedy(f"Make a copy without line {line}.", f"sed {line}d {source} > {target}"),)
    begun = created(session.path)
    header = {
        "type": "session",
        "version": 3,
        "id": named_id(session.path) or session.path.stem,
        "timestamp": datetime.fromtimestamp((begun or 0) / 1000, UTC).strftime(
            "%Y-%m-%dT%H:%M:%S.000Z"
        ),
        "cwd": case.cwd,
    }
    top = quote(json.dumps(header, ensure_ascii=False))
    return (
        Remedy(
            "Make a copy with a new header on top; Pi passes over the old one.",
            f"(printf '%s\\n' {top}; cat {source}) > {target}",
        ),
    )

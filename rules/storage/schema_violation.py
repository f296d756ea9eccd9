"""An entry does not have the shape that Pi writes.

What it finds
    Entries that do not fit `schemas/entry.schema.json`: a field that is missing or of another type.
    Types, roles and fields that the schema does not name are no violation: extensions and later
    releases add them.
Why it matters
    Pi checks nothing on opening. It takes such an entry as JavaScript does: it may be empty in the
    context, stop the branch, or make Pi throw when the request is built.
What proves it
    The entry's line, the place in it, what belongs there and what stands there.
What it cannot tell
    Who wrote it. Where many entries are wrong in one way they are one finding, with the first five
    and their number; beyond 2,000 wrong entries no more are looked at.
What to do
    Look at the entry. It was written by another program, an extension or by hand; a copy can be
    mended there, the file itself is evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Kinds of violation beyond these are counted.
_SHOWN = 20


@rule("PI114", "schema-violation", layer="storage", levels=("warning",))
def schema_violation(case: Case) -> Iterator[Finding]:
    """Find entries that do not fit the schema."""
    session = case.subject
    path = str(session.path)
    ids = {entry.line: entry.entry_id for entry in session.entries} if case.violations else {}
    for one in case.violations[:_SHOWN]:
        first = one.lines[0]
        more = f", and {counted(one.count - 1, 'more entry')} like it" if one.count > 1 else ""
        yield Finding(
            f"the entry in line {first} does not fit the schema: {one.place or 'the entry itself'}"
            f" should be {one.expected}, and is {one.found}{more}",
            tuple(Evidence(path, line, ids.get(line)) for line in one.lines),
            remedy=(Remedy("Look at the entry, and at what wrote it."),),
        )
    if len(case.violations) > _SHOWN:
        rest = case.violations[_SHOWN:]
        yield Finding(
            f"entries are wrong in {counted(len(rest), 'more way')}",
            tuple(Evidence(path, one.lines[0], ids.get(one.lines[0])) for one in rest[:_SHOWN]),
        )

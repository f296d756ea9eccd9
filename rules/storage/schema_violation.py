"""An entry does not have the shape that Pi writes.

What it finds
    Entries that do not fit `schemas/entry.schema.json`: a field that is missing or of another type.
    Types, roles and fields that the schema does not name are no violation: extensions and later
    releases add them. Entries that hold bytes that are no UTF-8, which is what Pi writes; and, as a
    note, half of a surrogate pair, which Pi itself leaves where it cuts a text.
Why it matters
    Pi checks nothing on opening. It takes such an entry as JavaScript does: it may be empty in the
    context, stop the branch, or make Pi throw when the request is built. Bytes that are no UTF-8
    are read as U+FFFD: what they stood for is gone from the text, and the chain holds.
What proves it
    The entry's line, the place in it, what belongs there and what stands there; the byte of the
    file that is no UTF-8.
What it cannot tell
    Who wrote it. Where many entries are wrong in one way they are one finding, with the first five
    and their number; beyond 2,000 wrong entries no more are looked at.
What to do
    Look at the entry. It was written by another program, an extension or by hand; a copy can be
    mended there, the file itself is evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Kinds of violation beyond these are counted.
_SHOWN = 20
# A place in an entry is shown up to so many characters.
_PLACE = 120


@rule("PI114", "schema-violation", layer="storage", levels=("warning", "note"))
def schema_violation(case: Case) -> Iterator[Finding]:
    """Find entries that do not fit the schema, and characters that are none."""
    session = case.subject
    path = str(session.path)
    wrong = case.violations or case.broken
    by_line = {entry.line: entry for entry in session.entries} if wrong else {}
    ids = {line: entry.entry_id for line, entry in by_line.items()}
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
    for broken in case.broken:
        first = broken.lines[0]
        where = named(by_line[first]) if first in by_line else f"line {first}"
        place = shortened(broken.place, _PLACE)
        more = f"; so it is in {counted(broken.count - 1, 'more line')}" if broken.count > 1 else ""
        cited = tuple(Evidence(path, line, ids.get(line)) for line in broken.lines)
        if broken.offset is None:
            yield Finding(
                f"in {where} half of a character stands in {place}: a text was cut there;"
                f" it is legal, and no damage to the file{more}",
                cited,
                level="note",
            )
        else:
            yield Finding(
                f"in {where} bytes stand in {place} that are no UTF-8, from byte"
                f" {broken.offset} of the file on: Pi reads them as U+FFFD; what they stood for is"
                f" damaged, and the rest of the line is read{more}",
                cited,
                level="warning",
                remedy=(Remedy("Compare with a backup or with the copy that it came from."),),
            )

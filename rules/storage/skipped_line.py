"""Lines that Pi passes over without a word.

What it finds
    Lines that are no JSON: a record that was cut off (torn), two records on one physical line, a
    record that runs over several lines, one that is no JSON though its end is there (garbled, or
    with bytes that are no UTF-8 between its fields), zero bytes, text that is no record; and lines
    whose value is `0`, `false` or an empty text. Blank lines and `null` are harmless and not told.
Why it matters
    Each such line is a record that Pi does not know of. A torn line that was followed by an append
    takes the next record with it, and what hangs on that one is cut off.
What proves it
    The line, what can still be read in it (type, id, role, call), the byte of the file at which it
    is no JSON any more or a whole record begins, and the entry that hangs on it, or past it.
What it cannot tell
    What stood where nothing is left. The time of a record that does not show it is taken from the
    entries around it. Of more than 50 lines the rest is counted.
What to do
    Read the record at its line or byte. In a copy, a line end before the second record brings it
    back. Opening the file with Pi adds a missing line end and keeps the fragment for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Evidence, Finding, Level, Remedy, rule
from diagnose.pipeline.words import counted
from diagnose.sessions.damage import LOOKED_AT, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.damage import Damage

# Of lines without a record, so many are cited.
_CITED = 10


@rule(
    "PI109", "skipped-line", layer="storage", levels=("warning", "error", "note"), verdict="damaged"
)
def skipped_line(case: Case) -> Iterator[Finding]:
    """Find lines that Pi does not read."""
    empty: dict[str, list[Damage]] = {}
    for one in case.damages:
        if one.kind == "header" or case.shown(one.skipped).strip() == "null":
            continue  # a header that is cut off is PI107's to tell
        if one.lost or one.copy is not None or (one.kind == "NUL" and one.is_last):
            yield _finding(case, one)
        else:
            empty.setdefault(one.kind, []).append(one)
    for kind, found in empty.items():
        numbers = ", ".join(str(one.line) for one in found)
        yield Finding(
            f"{counted(len(found), 'line')} that Pi passes over: {_EMPTY[kind]}"
            f" ({'line' if len(found) == 1 else 'lines'} {numbers})",
            tuple(_cite(case, one) for one in found[:_CITED]),
        )
    rest = case.subject.skipped[LOOKED_AT:]
    if rest:
        yield Finding(
            f"{counted(len(rest), 'more line')} that Pi passes over, from line {rest[0].line} on,"
            " were not looked at one by one",
            (Evidence(str(case.subject.path), rest[0].line),),
        )


_EMPTY = {
    "NUL": "zero bytes, where a record may have stood",
    "falsy": "an empty value, which is no record",
    "no record": "neither JSON nor the beginning of a record",
}


def _finding(case: Case, one: Damage) -> Finding:
    pieces = [_cite(case, one)]
    words = [_what(one), *_lost(case, one, pieces), *_around(case, one, pieces)]
    remedy = []
    if one.whole is not None and one.whole_offset is not None:
        remedy.append(
            Remedy(
                f"The whole record begins at byte {one.whole_offset}; in a copy, give it a line."
            )
        )
    if one.is_last and not one.is_ended:
        remedy.append(
            Remedy(
                "Copy the file before opening it: Pi adds a line end and keeps the fragment for"
                " good."
            )
        )
    return Finding("; ".join(words), tuple(pieces), level=_level(case, one), remedy=tuple(remedy))


def _level(case: Case, one: Damage) -> Level:
    if one.copy is not None and one.whole is None:
        return "note"  # nothing of it is lost
    if one.is_last:
        return "error"
    times = [record.time for record in one.lost if record.time is not None]
    if times:
        return "error" if any(case.question.includes(time) for time in times) else "warning"
    bounds = case.question.bounds()
    if bounds is None:
        return "error"
    begun = one.before is None or one.before.time is None or one.before.time < bounds[1]
    ended = one.after is None or one.after.time is None or one.after.time >= bounds[0]
    return "error" if begun and ended else "warning"


def _what(one: Damage) -> str:
    size = counted(one.skipped.length, "byte")
    if one.kind == "two records":
        first = "a record that was cut off" if one.torn is not None else "other bytes"
        return f"line {one.line} holds {first} and a whole record; Pi passes over both"
    if one.kind == "split":
        return (
            f"lines {one.line}-{one.last_line} are one record whose text holds line ends that are"
            " not escaped; Pi passes over all of them"
        )
    if one.kind == "NUL":
        inside = "zero bytes stand around a record" if one.lost else "zero bytes stand for a record"
        return f"in line {one.line} {inside} ({size}); Pi passes over it"
    if one.kind == "garbled":
        at = "" if one.garbled_offset is None else f" from byte {one.garbled_offset} of the file on"
        why = ", where bytes stand that are no UTF-8" if one.is_not_utf8 else ""
        return f"line {one.line} ({size}) is a record that is no JSON{at}{why}; Pi passes over it"
    if one.is_last and not one.is_ended:
        return f"the file ends in a record that was cut off, line {one.line} ({size}, no line end)"
    return f"line {one.line} is a record that was cut off ({size}); Pi passes over it"


def _lost(case: Case, one: Damage, pieces: list[Evidence]) -> Iterator[str]:
    """Say what can be read of each record, and what hangs on it."""
    if one.torn is not None:
        what = "it" if one.kind == "garbled" else "what was cut off"
        yield f"of {what} can be read: {_read(one.torn)}"
    if one.copy is not None:
        yield f"the same record stands whole in line {one.copy.line}, so that nothing of it is lost"
        pieces.append(case.evidence(one.copy))
    if one.whole is not None:
        yield f"the whole record: {_read(one.whole)}, from byte {one.whole_offset} of the file"
    for record in one.lost:
        child = case.first_child(record.id)
        if child is not None:
            yield f"{named(child)} hangs on it: the branch is cut there"
            pieces.append(case.evidence(child))


def _around(case: Case, one: Damage, pieces: list[Evidence]) -> Iterator[str]:
    """Say how the chain goes on around a line on which nothing hangs."""
    before, after = one.before, one.after
    hangs = any(case.first_child(record.id) is not None for record in one.lost)
    if before is not None and after is None:
        yield f"the entry before it is {named(before)}"
        pieces.append(case.evidence(before))
    elif before is not None and after is not None and after.parent == before.id and not hangs:
        yield f"{named(after)} hangs on {named(before)} before it, so that the chain is whole"
        pieces.append(case.evidence(after))


def _read(record: Record) -> str:
    call = f", result of call {record.call_id}" if record.call_id else ""
    parts = [
        record.role or record.type or "no type",
        f"id {record.id}" if record.id else "no id",
    ]
    return ", ".join(parts) + call


def _cite(case: Case, one: Damage) -> Evidence:
    return Evidence(str(case.subject.path), one.line, quote=case.shown(one.skipped))

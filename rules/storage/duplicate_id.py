"""Two different entries have one id.

What it finds
    Entries that share an id and are not the same byte for byte; as a note, lines that stand there
    more than once, unchanged, which is harmless.
Why it matters
    Pi keeps one entry for each id, the later. The earlier is in the file and out of reach, and what
    hung on it hangs on the other one now.
What proves it
    The lines with the same id; Pi follows the last of them.
What it cannot tell
    Which of them was meant. Sync and merge tools write such files; Pi draws ids anew.
What to do
    Read the earlier entry at its line. To have it back, give it an id of its own in a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diagnose.pipeline.case import lines_of
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# Ids beyond these are counted, and of each so many lines are compared.
_SHOWN = 10
_COMPARED = 1_000


@rule("PI111", "duplicate-id", layer="storage", levels=("warning", "note"))
def duplicate_id(case: Case) -> Iterator[Finding]:
    """Find ids that stand for different entries."""
    session = case.opened
    followed = case.tree.by_id
    earlier: dict[Any, list[Entry]] = {}
    for entry in session.entries:
        if followed.get(entry.id) is not entry and entry.entry_id is not None:
            earlier.setdefault(entry.id, []).append(entry)
    different, same = [], []
    compared = 0
    for key, entries in earlier.items():
        last = session.raw(followed[key].offset, followed[key].length)
        for entry in entries:
            compared += 1
            if compared > _COMPARED or session.raw(entry.offset, entry.length) != last:
                different.append((entries, followed[key]))
                break
        else:
            same.append((entries, followed[key]))
    for entries, last_one in different[:_SHOWN]:
        lines = ", ".join(str(entry.line) for entry in entries[:_SHOWN])
        yield Finding(
            f"the id {last_one.entry_id} is used in line{'s' if len(entries) > 1 else ''} {lines}"
            f" and again in line {last_one.line}, which is the one that Pi follows",
            tuple(case.evidence(entry) for entry in [*entries[:_SHOWN], last_one]),
            remedy=(Remedy(f"Read line {entries[0].line} where it stands: Pi does not reach it."),),
        )
    if len(different) > _SHOWN:
        rest = different[_SHOWN:]
        yield Finding(
            f"{counted(len(rest), 'more id')} stand for more than one entry",
            tuple(case.evidence(last_one) for _, last_one in rest[:_SHOWN]),
        )
    if same:
        copies = sorted(
            (entry for entries, last_one in same for entry in (*entries, last_one)),
            key=lambda entry: entry.line,
        )
        stand = "stands" if len(same) == 1 else "stand"
        yield Finding(
            f"{counted(len(same), 'id')} {stand} for more than one line ({lines_of(copies)}), and"
            " each time they are the same byte for byte: nothing changes by it",
            tuple(case.evidence(entry) for entry in copies[:_SHOWN]),
            level="note",
        )

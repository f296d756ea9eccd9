"""An extension wrote a summary, in a form of its own.

What it finds
    Compactions and branch summaries of the branch with `fromHook`.
Why it matters
    Pi tracks no files for them, and does not carry their lists on into later summaries.
What proves it
    The entry's `fromHook`; where its `details` list files as Pi's own do, those that the next
    compaction does not list.
What it cannot tell
    Which extension it was, and what its `details` mean.
What to do
    Look at the extension's own documentation; read the originals for what you need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.files import details_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# So many of the files are named.
_SHOWN = 5


@rule("PI310", "extension-summary", layer="compaction", levels=("note",))
def extension_summary(case: Case) -> Iterator[Finding]:
    """Find summaries that an extension wrote."""
    for place, entry in enumerate(case.branch):
        if entry.boundary is not None and entry.boundary.from_hook:
            kind = "compaction" if entry.type == "compaction" else "branch summary"
            later = next((e for e in case.branch[place + 1 :] if e.type == "compaction"), None)
            dropped = _dropped(case, entry, later)
            told = ""
            if later is not None and dropped:
                more = f" and {len(dropped) - _SHOWN} more" if len(dropped) > _SHOWN else ""
                names = ", ".join(shortened(path) for path in dropped[:_SHOWN])
                told = (
                    f"; of its own list, {names}{more} did not get into that of the compaction in"
                    f" {named(later)}"
                )
            yield Finding(
                f"an extension wrote the {kind} in {named(entry)}; Pi tracks no files for it{told}",
                (case.evidence(entry), *((case.evidence(later),) if later and told else ())),
            )


def _dropped(case: Case, entry: Entry, later: Entry | None) -> list[str]:
    """Return the files that an extension's `details` list as Pi's do, and the next one's do not."""
    if later is None:
        return []
    listed = [path for paths in details_files(case.value(entry)) for path in paths]
    kept = {path for paths in details_files(case.value(later)) for path in paths}
    return [path for path in dict.fromkeys(listed) if path not in kept]

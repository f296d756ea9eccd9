"""The summary of a compaction is thin: empty, or without the sections that Pi asks for.

What it finds
    A latest compaction whose summary is empty, or lacks sections of Pi's form (Goal, Constraints &
    Preferences, Progress, Key Decisions, Next Steps, Critical Context), or has only placeholders in
    them.
Why it matters
    It is all that the model has of what was compacted.
What proves it
    The summary's own text.
What it cannot tell
    Whether a summary in a form of its own carries the same. Summaries of extensions are left out:
    their form is their own (PI310).
What to do
    Read the originals. Go back with `/tree` and compact again with instructions of what to keep:
    `/compact keep the open questions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import thin_sections
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# So much of the end of a summary is shown (characters).
_TAIL = 80
_REMEDY = (Remedy("Go back with /tree and compact again, saying what to keep: /compact keep …"),)


@rule("PI304", "thin-summary", layer="compaction", levels=("warning",))
def thin_summary(case: Case) -> Iterator[Finding]:
    """Find a latest compaction whose summary says little."""
    compaction = case.compaction
    if compaction is None or compaction.boundary is None or compaction.boundary.from_hook:
        return
    text = case.text(compaction)
    if not text.strip():
        written = get(case.value(compaction), "summary")
        what = "is empty" if isinstance(written, str) else "is missing: the model reads 'undefined'"
        yield Finding(
            f"the summary of the compaction in {named(compaction)} {what}",
            (case.evidence(compaction, ""),),
            remedy=_REMEDY,
        )
        return
    missing, hollow = thin_sections(text)
    said = [f"has no {', '.join(missing)}"] if missing else []
    said += [f"has only placeholders under {', '.join(hollow)}"] if hollow else []
    if said:
        # A summary that was cut off lacks the sections at the end of the form.
        end = " ".join(text.split("<read-files>")[0].split("<modified-files>")[0].split())
        ends = f"; it ends with {end[-_TAIL:]!r}" if "Critical Context" in missing else ""
        yield Finding(
            f"the summary of the compaction in {named(compaction)} {' and '.join(said)}{ends}",
            (case.evidence(compaction),),
            remedy=_REMEDY,
        )

"""Three questions to a summary: its sources, its scope, and what is unfinished.

What it finds
    What the summary of the latest compaction answers to each of the three, with the words found.
    Three times no is a warning.
Why it matters
    A summary that names neither where it has its statements from, nor what they hold for, nor what
    is open, is a clue and no evidence.
What proves it
    The summary's own words.
What it cannot tell
    Whether the words that answer are true, or whether others would.
What to do
    Take such a summary as a pointer to the originals, and check them before you rely on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.summaries import three_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI305", "unsupported-summary", layer="compaction", levels=("warning", "note"))
def unsupported_summary(case: Case) -> Iterator[Finding]:
    """Put the three questions to the summary of the latest compaction."""
    compaction = case.compaction
    if compaction is None:
        return
    text = case.text(compaction)
    if not text.strip():
        return  # PI304 tells of it
    answers = three_answers(text)
    told = "; ".join(
        f"{question}: {answer!r}" if answer else f"{question}: no"
        for question, answer in answers.items()
    )
    none = not any(answers.values())
    yield Finding(
        f"the summary in {named(compaction)}{', a clue and no evidence' if none else ''}: {told}",
        (case.evidence(compaction),),
        level=None if none else "note",
        remedy=(Remedy("Check the originals before you rely on it."),) if none else (),
    )

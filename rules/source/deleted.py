"""A file that was observed is gone.

What it finds
    Files that the branch's tool results recorded, that are not there any more, and whose text is in
    no file that came in their place. A note where the session's own commands deleted it.
Why it matters
    The model speaks of, and builds on, a file that does not exist.
What proves it
    The tool result, and the commit that deleted it or, where history still has it or never had it,
    that the deletion is uncommitted.
What it cannot tell
    Who deleted an uncommitted file, and when.
What to do
    Tell the agent that the file is gone; get it back from history where that is wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.observed import commit_name, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI503", "deleted", layer="source", levels=("error", "warning", "note"), verdict="outdated")
def deleted(case: Case) -> Iterator[Finding]:
    """Find observed files that are gone."""
    for told in tell(case, "deleted"):
        state = told.state
        commit = state.commits[0] if state.commits else None
        if commit is not None:
            how = f"deleted by {commit_name(case, commit)}"
        elif state.reason and not state.in_history:
            how = f"and there is no history to ask: {state.reason}"
        else:
            how = "uncommitted" if state.in_history else "uncommitted, and was never in history"
            how += f"; {state.reason}" if state.reason else ""
        cited = (
            (
                Evidence(
                    case.project.in_repository(told.path), commit=commit.id, quote=commit.subject
                ),
            )
            if commit
            else ()
        )
        yield Finding(
            f"{told.name}, which was {told.how}, is gone, {how}{told.own}",
            (told.evidence[0], *cited, *told.evidence[1:]),
            level=told.level,
            remedy=(Remedy(f"Tell the agent that {told.name} is gone."),),
        )

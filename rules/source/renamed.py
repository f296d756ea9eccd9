"""A file that was observed lives at another path now.

What it finds
    Files that the branch's tool results recorded, that are gone from under their names, and whose
    text stands in another file: by their own content, since git's rename detection sees nothing of
    a file that grew much. A note where the session's own commands moved it.
Why it matters
    The model goes on to speak of a path that is not there any more.
What proves it
    The tool result, the commit that took the file away and added the other, and the share of what
    was seen that stands there.
What it cannot tell
    Whether a copy that was there before is meant; only files that came when the old one went, or
    later, are looked at.
What to do
    Tell the agent the new path, and have it read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.observed import commit_name, tell
from diagnose.pipeline.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

_WHOLE = 100


@rule("PI502", "renamed", layer="source", levels=("error", "warning", "note"), verdict="outdated")
def renamed(case: Case) -> Iterator[Finding]:
    """Find observed files that live under another name."""
    for told in tell(case, "renamed"):
        state = told.state
        new = shortened(state.moved_to or "?", 200)
        by = f" by {commit_name(case, state.commits[0])}" if state.commits else ", uncommitted"
        kept = (
            "what was seen is still whole in it"
            if state.kept == _WHOLE
            else f"{state.kept} % of what was seen stands in it"
        )
        is_same = state.added == 0 and state.removed == 0
        content = (
            "and nothing else"
            if is_same
            else f"and makes {state.share} % of it: it changed as well"
        )
        moved = (
            Evidence(
                case.project.in_repository(state.moved_to or "?"),
                commit=state.commits[0].id,
                quote=state.commits[0].subject,
            )
            if state.commits
            else Evidence(str(case.root / (state.moved_to or "?")))
        )
        yield Finding(
            f"{told.name} lives at {new} now{by}; {kept} {content}{told.own}",
            (told.evidence[0], moved, *told.evidence[1:]),
            level=told.level,
            remedy=(Remedy(f"Tell the agent that {told.name} is {new} now, and have it read it."),),
        )

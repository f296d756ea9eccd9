"""A file that was observed cannot be compared.

What it finds
    Observed files that lie outside the project, are images, cannot be read, or are too large.
Why it matters
    "Could not look" is not "checked and clear".
What proves it
    The tool result, and why the file cannot be compared.
What it cannot tell
    Whether the file is as it was.
What to do
    Look at it yourself, or have the agent read it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Finding, rule
from diagnose.pipeline.observed import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule("PI509", "cannot-compare", layer="source", levels=("note",))
def cannot_compare(case: Case) -> Iterator[Finding]:
    """Find observed files that cannot be compared."""
    for told in tell(case, "unknown"):
        yield Finding(
            f"{told.name}, which was {told.how}, cannot be compared: {told.state.reason}",
            told.evidence,
        )

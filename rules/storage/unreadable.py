"""A session file cannot be read, or changed while it was read.

What it finds
    Files of Pi's session folders that may hold the day and cannot be opened, a folder that cannot
    be listed, and a session that grew while it was examined.
Why it matters
    What was not read was not examined: "not found" is no answer there. A file that grows has a Pi
    process on it, and what is said of its leaf may be out of date already.
What proves it
    The file or folder, and the reason that the system gives.
What it cannot tell
    What the file holds.
What to do
    Ask again as a user who may read it, or once the Pi process has ended.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from diagnose.evidence import reason_of
from diagnose.pipeline.finding import Evidence, Finding, NotChecked, Remedy, rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Files beyond these are counted.
_SHOWN = 10


@rule("PI119", "unreadable", layer="storage", levels=("error", "warning"), verdict="damaged")
def unreadable(case: Case) -> Iterator[Finding]:
    """Find what could not be read."""
    session = case.session
    if session is not None and session.changed_while_read:
        yield Finding(
            "the session changed while it was read: a Pi process is writing to it",
            (Evidence(str(session.path), session.lines or None),),
            level="warning",
            remedy=(Remedy("Ask again once that process has ended."),),
        )
    folder = case.folder.path
    try:
        os.listdir(folder)  # noqa: PTH208 (whether it can be listed is all that is asked)
    except FileNotFoundError:
        pass  # PI101 tells that
    except OSError as error:
        yield Finding(
            f"the session folder {folder} cannot be listed: {reason_of(error)}",
            (Evidence(str(folder)),),
            remedy=(Remedy("Ask again as a user who may read it."),),
        )
    _look_everywhere(case)
    found = sorted(case.unreadable.items())
    for path, reason in found[:_SHOWN]:
        own = os.path.dirname(path) == str(folder) and "regular" not in reason  # noqa: PTH120 (a text is at hand)
        yield Finding(
            f"{path} may hold the day and cannot be read: {reason}",
            (Evidence(path),),
            level=None if own and "folder" not in reason else "warning",
            remedy=(Remedy("Ask again as a user who may read it."),),
        )
    if len(found) > _SHOWN:
        yield Finding(
            f"{len(found) - _SHOWN} more files cannot be read",
            tuple(Evidence(path) for path, _ in found[_SHOWN : 2 * _SHOWN]),
            level="warning",
        )


def _look_everywhere(case: Case) -> None:
    """Have every file opened that may hold the day."""
    _ = case.passed_over, case.others_on_day
    with suppress(NotChecked):
        _ = case.kin_on_day

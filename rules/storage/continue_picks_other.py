"""`pi --continue` opens another session than the one with the latest activity.

What it finds
    The session that `--continue` opens is not the one in which somebody last said something.
Why it matters
    `--continue` goes by the file's time of change; the `/resume` picker goes by the last message. A
    copy, a sync, a checkout, or a name given to an old session changes the one and not the other,
    and an old session is gone on with.
What proves it
    Both files, with the times of their last messages and of their change.
What it cannot tell
    What changed the file's time.
What to do
    Open the wanted session with the command that stands beside the finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, title
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.folder import last_activity, mtime_ns, same_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.reading import Session


@rule("PI105", "continue-picks-other", layer="storage", levels=("warning",))
def continue_picks_other(case: Case) -> Iterator[Finding]:
    """Find that the newest file is not the newest conversation."""
    opened = next((one for one in case.neighbours if one.path == case.continued), None)
    if opened is None:
        return
    spoken = [
        (time, one)
        for one in case.neighbours
        # Another project's session in the same folder is PI106's to tell.
        if (one.cwd is None or same_path(one.cwd, case.cwd))
        and (time := last_activity(one.path)) is not None
    ]
    if not spoken:
        return
    time, latest = max(spoken, key=lambda one: one[0])
    ours = last_activity(opened.path)
    if latest.path == opened.path or (ours is not None and ours >= time):
        return
    yield Finding(
        f"pi --continue opens {shortened(title(opened.session))!r}, whose file was changed last"
        f" ({case.clock(mtime_ns(opened.path) / 1e6)}){_spoken(case, ours)}; the latest activity,"
        f" of {case.clock(time)}, is in {shortened(title(latest.session))!r}, changed"
        f" {case.clock(mtime_ns(latest.path) / 1e6)}",
        (_last(opened.session), _last(latest.session)),
        remedy=(
            Remedy(
                "Open the session with the latest activity.", case.command_to_open(latest.session)
            ),
        ),
    )


def _spoken(case: Case, time: float | None) -> str:
    return f", and its last message is of {case.clock(time)}" if time is not None else ""


def _last(session: Session) -> Evidence:
    """Cite the last message of a session, or its last entry where nobody spoke."""
    entries = session.entries
    last = next((entry for entry in reversed(entries) if entry.is_activity), None)
    return cite(session, last or entries[-1]) if entries else Evidence(str(session.path))

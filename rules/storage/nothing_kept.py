"""The project has no session at all.

What it finds
    No session file for this working directory.
Why it matters
    There is nothing to be remembered here: every run began from nothing.
What proves it
    The folder in which Pi looks, and how it comes to look there; session files that lie in the
    agent folder itself, where release 0.30.0 put them (Pi moves each into its folder at its next
    start, where the first line is a header); and files of the folder that hold a session and that
    Pi does not list: a rewrite that was cut off leaves one.
What it cannot tell
    Why: Pi never ran here, ran with `--no-session`, with another agent folder or another user, or
    the sessions were deleted. Pi itself deletes none.
What to do
    Look at `PI_CODING_AGENT_DIR` of the shell in which Pi ran, and ask with `--agent-dir`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted
from diagnose.sessions.folder import session_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# Misplaced files beyond these are counted.
_SHOWN = 5


@rule("PI120", "nothing-kept", layer="storage", levels=("note",))
def nothing_kept(case: Case) -> Iterator[Finding]:
    """Find that there is no session of the project."""
    folder = case.folder
    if case.session is not None or session_files(folder.path):
        return
    misplaced = session_files(folder.agent_dir)
    lying = (
        f"; {counted(len(misplaced), 'session file')} in {folder.agent_dir} itself"
        f" {'lie' if len(misplaced) > 1 else 'lies'} where Pi does not look until it is started"
        if misplaced
        else ""
    )
    unlisted = "".join(
        f"; {session.path.name} holds {counted(len(session.entries), 'entry')}, and Pi does not"
        " list it"
        for session in case.leftovers
    )
    yield Finding(
        f"there is no session of {case.cwd} in {folder.path} ({folder.how}): Pi never ran here, ran"
        f" with --no-session or another agent folder, or the files were deleted{lying}{unlisted}",
        (
            Evidence(str(folder.path)),
            *(Evidence(str(path)) for path in misplaced[:_SHOWN]),
            *(Evidence(str(session.path)) for session in case.leftovers),
        ),
        remedy=(Remedy("Say where Pi's sessions are with --agent-dir or --session-dir."),),
    )

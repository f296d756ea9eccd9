"""The tools ran in another folder than the session says.

What it finds
    A system message of the session that names another working directory than the header.
Why it matters
    The header's directory decides which project a session is listed under; the system message says
    where its tools ran. `--continue` runs them in the folder of the shell also where it opens
    another directory's session (PI106), and older Pis resumed every session so: its relative paths
    then speak of other files than one would think.
What proves it
    The system message, and the header.
What it cannot tell
    Which of the calls before the next system message ran where. Messages that a fork has from its
    original, written before the fork's header, are not looked at.
What to do
    Read relative paths against the system message's directory, and ask with that as `--cwd`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.kinship import tools_directory
from diagnose.sessions.entry import parse_time
from diagnose.sessions.folder import same_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case

# System messages beyond these, the oldest, are not read.
_READ = 50


@rule("PI121", "ran-elsewhere", layer="storage", levels=("warning",))
def ran_elsewhere(case: Case) -> Iterator[Finding]:
    """Find a system message of another working directory."""
    session = case.opened
    recorded, header = session.cwd, session.header
    if recorded is None or header is None:
        return
    begun = parse_time(header.value.get("timestamp"))
    messages = [
        entry
        for entry in case.branch
        if entry.role == "system" and (begun is None or entry.time is None or entry.time >= begun)
    ]
    for entry in reversed(messages[-_READ:]):
        folder = tools_directory(case.value(entry))
        if folder is not None and not same_path(folder, recorded):
            yield Finding(
                f"the system message in {named(entry)} says that the tools"
                f" run in {folder}; the header says {recorded}",
                (
                    case.evidence(entry, folder),
                    Evidence(str(session.path), header.line, quote=recorded),
                ),
                remedy=(Remedy(f"Read relative paths against {folder}."),),
            )
            return

"""Pi has no session folder for this working directory.

What it finds
    The folder in which Pi keeps the sessions of this working directory does not exist.
Why it matters
    `--continue` begins a new session here, and nothing that was done elsewhere is known to it.
What proves it
    The folder that Pi looks in, and how it comes to look there: an option, the environment, a
    setting, or its default, which is named after the working directory. A link on the way to it
    that leads nowhere, such as to a disk that is not mounted.
What it cannot tell
    Whether Pi ever ran here: with `--no-session`, or another agent folder, it leaves nothing.
    Where the day is recorded for this project under another directory, or where Pi does not look
    now, this is a warning, and PI103 or PI104 tells where.
What to do
    Say where Pi ran with `--cwd`, or where its sessions are with `--agent-dir` or `--session-dir`;
    bring back what a broken link leads to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.sessions.folder import broken_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case


@rule(
    "PI101", "no-session-folder", layer="storage", levels=("error", "warning"), verdict="not-stored"
)
def no_session_folder(case: Case) -> Iterator[Finding]:
    """Find that there is no folder for this working directory."""
    folder = case.folder
    # A session that was named by its path may lie anywhere.
    if case.session is not None or folder.path.is_dir():
        return
    link = broken_link(folder.path)
    target = str(link.readlink()) if link else ""
    told = f"; {link} is a link to {target}, which is not there" if link else ""
    yield Finding(
        f"there is no session folder for {case.cwd}: Pi keeps its sessions in {folder.path}"
        f" ({folder.how}), and that does not exist{told}",
        (
            Evidence(str(folder.path)),
            *((Evidence(str(link), quote=target),) if link else ()),
        ),
        level="warning" if case.others_on_day or case.kin_on_day else None,
        remedy=(Remedy("Say where Pi ran (--cwd), or where its sessions are (--agent-dir)."),),
    )

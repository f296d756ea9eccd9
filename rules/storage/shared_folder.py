"""One session folder holds the sessions of two working directories.

What it finds
    In Pi's default folder for this working directory: sessions whose header names another one. Pi
    names the folder after the path with each slash, backslash and colon made `-`, so that `/w/a-b`
    and `/w/a/b` share one.
Why it matters
    In a default folder `--continue` does not look at the header: it opens the newest file, be it
    the other project's. The agent then knows the other project's facts, while its tools run here,
    in the folder of the shell.
What proves it
    A session of each working directory, with its header's `cwd`.
What it cannot tell
    Whether a session of another path was put there by hand, after a folder was renamed.
What to do
    Choose the session with `/resume` or `--session` instead of `--continue`. A `sessionDir` of the
    project's own in `.pi/settings.json` keeps them apart: there, Pi looks at the header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted
from diagnose.sessions.folder import encode, same_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case, Recorded

# Directories beyond these are counted.
_SHOWN = 5


@rule("PI106", "shared-folder", layer="storage", levels=("warning",))
def shared_folder(case: Case) -> Iterator[Finding]:
    """Find sessions of another directory in this one's folder."""
    if not case.folder.is_default:
        return
    others: dict[str, Recorded] = {}
    for one in case.neighbours:
        if one.cwd is not None and not same_path(one.cwd, case.cwd):
            others.setdefault(one.cwd, one)
    if not others:
        return
    own = next((one for one in case.neighbours if same_path(one.cwd or "", case.cwd)), None)
    names = list(others)
    alike = [name for name in names if encode(name) == encode(case.cwd)]
    more = f" and {counted(len(names) - _SHOWN, 'other')}" if len(names) > _SHOWN else ""
    why = "their names come out alike" if alike else "the files were put there"
    opened = next((one for one in others.values() if one.path == case.continued), None)
    now = (
        f"pi --continue opens one of {opened.cwd} now, and runs its tools here"
        if opened is not None
        else "pi --continue opens whichever was changed last"
    )
    pieces = [Evidence(str(one.path), quote=one.cwd) for one in list(others.values())[:_SHOWN]]
    pieces += [Evidence(str(own.path), quote=own.cwd)] if own is not None else []
    yield Finding(
        f"the session folder of {case.cwd} holds sessions of {', '.join(names[:_SHOWN])}{more} as"
        f" well ({why}): {now}",
        tuple(pieces),
        remedy=(Remedy("Choose the session with /resume or --session, not with --continue."),),
    )

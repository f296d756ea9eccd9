"""Whether the session itself moved, deleted or changed a file after it was observed, by commands.

Its own commands are in its context: what they did is known to the model, and no news to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from diagnose.sessions.calls import each_arguments

if TYPE_CHECKING:
    from diagnose.pipeline.case import Case, Standing
    from diagnose.project.git import Commit
    from diagnose.sessions.calls import PairedCall
    from diagnose.sessions.entry import Entry

# Git keeps whole seconds; the clock of a session has milliseconds.
_SECOND: Final = 1000


def own_commands(case: Case, standing: Standing) -> list[PairedCall]:
    """Return the calls that committed all that became of a file, one of which names it.

    None are returned where a part of it is uncommitted, or was committed while no command ran.
    """
    one = standing.observation
    # What an edit left, or what a part that agrees with it stands for, is known from an earlier
    # read: a command between them counts as well.
    is_pieced = one.method == "edit" or not one.calls[-1].call.is_whole
    since = (one.calls[0].result or one.entry) if is_pieced else one.result
    commits = _commits_since(case, standing) or _commits_after(case, standing, since)
    if not commits:
        return []
    ran = [
        call
        for call in case.commands_run
        if call.result is not None and call.result.line > since.line
    ]
    made = [next((call for call in ran if _ran_at(call, commit)), None) for commit in commits]
    own = [call for call in made if call is not None]
    if not own or len(own) < len(made):
        return []
    last = max(call.entry.line for call in own)
    name = one.path.replace("\\", "/").rsplit("/", 1)[-1]
    until = [call for call in ran if call.entry.line <= last]
    for _, given in each_arguments(case.opened, until):
        command = given.get("command")
        if isinstance(command, str) and name in command:
            return own
    return []


def _commits_since(case: Case, standing: Standing) -> list[Commit]:
    """Return the commits that touched a file since it was seen; none where more than those did."""
    state = standing.state
    repository = case.project.repository
    if repository is None or state.uncommitted:
        return []
    if state.moved_to is None:
        return list(state.commits)
    new = case.project.in_repository(state.moved_to)
    if repository.tracked.get(new) != state.blob:
        return []
    return [commit for commit, _ in repository.by_path.get(new, [])] or list(state.commits)


def _commits_after(case: Case, standing: Standing, entry: Entry) -> list[Commit]:
    """Return the commits that touched a file after an entry, where it is there and committed."""
    repository, state = case.project.repository, standing.state
    if repository is None or standing.path is None:
        return []
    if state.status != "changed" or state.uncommitted:
        return []
    touched = repository.by_path.get(case.project.in_repository(standing.path), [])
    return [commit for commit, _ in touched if commit.time >= (entry.time or 0) // _SECOND]


def _ran_at(call: PairedCall, commit: Commit) -> bool:
    """Tell whether a commit was made while a call ran."""
    begun, ended = call.entry.time, call.result.time if call.result else None
    if begun is None or ended is None:
        return False
    return begun // _SECOND <= commit.time <= ended // _SECOND

"""What became of a call without a result, as far as looking from outside the session tells.

Nothing is contacted and nothing is run: files of the project, its commits and refs are looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from diagnose.pipeline.finding import Evidence
from diagnose.pipeline.words import shortened
from diagnose.project.paths import below
from diagnose.sessions.files import resolve

if TYPE_CHECKING:
    from diagnose.pipeline.case import Case
    from diagnose.pipeline.effects import Part
    from diagnose.sessions.calls import PairedCall

# Git keeps whole seconds; the clock of a session has milliseconds.
_SECOND: Final = 1000
_SHORT: Final = 12
_SHOWN: Final = 3


@dataclass(slots=True, frozen=True)
class Aftermath:
    """`happened` is None where it cannot be known; `told` says so in words, with the reason."""

    happened: bool | None
    told: str
    evidence: tuple[Evidence, ...] = ()


def _unknown(why: str) -> Aftermath:
    return Aftermath(None, f"whether it happened cannot be known from here: {why}")


def look(case: Case, call: PairedCall, arguments: dict[str, Any], part: Part) -> Aftermath:
    """Return what can be seen of what a call would have done; `part` is its worst part."""
    if case.session_root != case.root or not case.root.is_dir():
        return _unknown("the project's folder is not here")
    if call.call.name in ("write", "edit"):
        return _file(case, call, arguments)
    if part.effect == "read":
        return Aftermath(None, "it changes nothing, so that nothing is lost by doing it again")
    words = [word for word in _git_words(part) if word is not None]
    if words[:1] == ["commit"]:
        return _commit(case, call, words)
    if words[:1] == ["push"]:
        return _push(case, words)
    return _unknown("it leaves nothing behind that could be looked at")


def _git_words(part: Part) -> list[str | None]:
    """Return the words of a git command from its subcommand on."""
    words = list(part.words)
    if not words or words[0] is None or words[0].rsplit("/", 1)[-1] != "git":
        return []
    place = 1
    while place < len(words) and (words[place] or "").startswith("-"):
        place += 2 if words[place] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return words[place:]


def _file(case: Case, call: PairedCall, arguments: dict[str, Any]) -> Aftermath:
    given = arguments.get("path")
    cwd = case.subject.cwd or case.cwd
    path = below(resolve(given, cwd, None), cwd) if isinstance(given, str) else None
    if path is None:
        return _unknown("the file lies outside the project")
    shown = shortened(path)
    now = case.project.file(path)
    cited = (Evidence(str(case.root / path)),)
    if now.is_absent:
        return Aftermath(False, f"it did not happen: there is no {shown}")
    if now.data is None:
        return _unknown(f"{shown}: {now.obstacle}")
    text = now.data.decode("utf-8", "replace")
    if call.call.name == "write":
        if text == arguments.get("content"):
            return Aftermath(True, f"it did happen: {shown} holds just what it would write", cited)
        return Aftermath(None, _unknown(f"{shown} is there with other content").told, cited)
    edits = arguments.get("edits")
    pairs = edits if isinstance(edits, list) else [arguments]
    old = [one.get("oldText") for one in pairs if isinstance(one, dict)]
    new = [one.get("newText") for one in pairs if isinstance(one, dict)]
    if new and all(isinstance(one, str) and one and one in text for one in new):
        return Aftermath(True, f"it did happen: {shown} holds the new text", cited)
    if old and all(isinstance(one, str) and one and one in text for one in old):
        return Aftermath(False, f"it did not happen: {shown} holds the old text", cited)
    return Aftermath(None, _unknown(f"{shown} holds neither the old text nor the new").told, cited)


def _commit(case: Case, call: PairedCall, words: list[str]) -> Aftermath:
    repository = case.project.repository
    if repository is None:
        return _unknown(case.project.obstacle)
    since = call.entry.time or 0.0
    later = [one for one in repository.commits if (one.time + 1) * _SECOND > since]
    message = _message(words)
    for one in later:
        if message is not None and one.subject == message.splitlines()[0].strip():
            cited = (Evidence(".", commit=one.id, quote=one.subject),)
            return Aftermath(True, f"it did happen: commit {one.id[:_SHORT]}", cited)
    if later:
        one = later[-1]
        cited = (Evidence(".", commit=one.id, quote=one.subject),)
        why = f"commit {one.id[:_SHORT]} was made since, with another message"
        return Aftermath(None, _unknown(why).told, cited)
    told = f"it did not happen: there is no commit since {case.clock(call.entry.time)}"
    waiting = [
        standing
        for standing in case.standings
        if standing.state.uncommitted
        and standing.path is not None
        and standing.observation.changed_by_session
        and standing.state.status == "unchanged"
    ]
    if waiting:
        names = ", ".join(shortened(str(one.path)) for one in waiting[:_SHOWN])
        told += f"; {names}, written before it, {'is' if len(waiting) == 1 else 'are'} uncommitted"
    files = tuple(Evidence(str(case.root / str(one.path))) for one in waiting[:_SHOWN])
    return Aftermath(False, told, files)


def _message(words: list[str]) -> str | None:
    """Return the message that `git commit` was given, None where it was given none."""
    for place, word in enumerate(words):
        if word.startswith("--message="):
            return word.split("=", 1)[1]
        short = word.startswith("-") and not word.startswith("--") and word.endswith("m")
        if (short or word == "--message") and place + 1 < len(words):
            return words[place + 1]
    return None


def _push(case: Case, words: list[str]) -> Aftermath:
    repository = case.project.repository
    if repository is None:
        return _unknown(case.project.obstacle)
    named = [word for word in words[1:] if not word.startswith("-")]
    remote = named[0] if named else "origin"
    source, _, target = (named[1] if len(named) > 1 else "").lstrip("+").partition(":")
    tracking = {
        name.removeprefix(f"refs/remotes/{remote}/"): oid
        for name, oid in repository.refs.items()
        if name.startswith(f"refs/remotes/{remote}/") and not name.endswith("/HEAD")
    }
    if not tracking:
        return _unknown(f"this repository has no remote-tracking branch of {shortened(remote)}")
    branch = target or source or repository.branch or ""
    branch = branch.removeprefix("refs/heads/")
    local = repository.refs.get(f"refs/heads/{source or branch}", repository.head)
    ref = f"refs/remotes/{remote}/{branch}"
    there = tracking.get(branch)
    if there is None:
        return _unknown(f"this repository has no {shortened(ref)}")
    cited = (Evidence(".", commit=there, quote=ref),)
    if there == local:
        told = f"it did happen: {shortened(ref)} has the local branch's commit {there[:_SHORT]}"
        return Aftermath(True, told, cited)
    if any(commit.id == there for commit in repository.commits):
        why = (
            f"{shortened(ref)} still has {there[:_SHORT]}, which git changes only after the remote"
            " has answered"
        )
        return Aftermath(None, _unknown(why).told, cited)
    return Aftermath(
        None, _unknown(f"{shortened(ref)} has {there[:_SHORT]}, which is not local").told, cited
    )

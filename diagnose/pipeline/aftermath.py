"""What became of a call without a result, as far as looking from outside the session tells.

Nothing is contacted and nothing is run: files of the project, its commits and refs are looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from diagnose.pipeline.effects import parts
from diagnose.pipeline.finding import Evidence
from diagnose.pipeline.words import shortened
from diagnose.project.paths import below
from diagnose.sessions.files import resolve

if TYPE_CHECKING:
    from diagnose.pipeline.case import Case
    from diagnose.pipeline.effects import Part
    from diagnose.project.git import Repository
    from diagnose.sessions.calls import PairedCall

# Git keeps whole seconds; the clock of a session has milliseconds.
_SECOND: Final = 1000
_SHORT: Final = 12
_SHOWN: Final = 3
# What these push is not, or not only, one branch.
_NOT_ONE_BRANCH: Final = ("--all", "--branches", "--tags", "--mirror", "--delete", "-d", "--prune")


class Aftermath(msgspec.Struct, frozen=True):
    """`happened` is None where it cannot be known; `told` says so in words, with the reason."""

    happened: bool | None
    told: str
    evidence: tuple[Evidence, ...] = ()


def _unknown(why: str) -> Aftermath:
    return Aftermath(None, f"whether it happened cannot be known from here: {why}")


def look(case: Case, call: PairedCall, arguments: dict[str, Any], worst: Part) -> Aftermath:
    """Return what can be seen of what a call would have done.

    `worst` is the part that gives the call its class. Of a line of commands, every commit and push
    is looked for; what is told of the worst part stands first.
    """
    if case.session_root != case.root or not case.root.is_dir():
        return _unknown("the project's folder is not here")
    if call.call.name in ("write", "edit"):
        return _file(case, call, arguments)
    if worst.effect == "read":
        return Aftermath(None, "it changes nothing, so that nothing is lost by doing it again")
    command = arguments.get("command")
    found = parts(command) if isinstance(command, str) else []
    if _leaves_the_folder(case, found):
        return _unknown("it was to run in another folder")
    seen = [(part, one) for part in found if (one := _part(case, call, part)) is not None]
    if not seen:
        return _unknown("it leaves nothing behind that could be looked at")
    decided = [one for part, one in seen if part == worst]
    if not decided:
        others = "; ".join(f"its part {shortened(part.text)!r}: {one.told}" for part, one in seen)
        cited = tuple(piece for _, one in seen for piece in one.evidence)
        return Aftermath(None, f"{_unknown(f'of {shortened(worst.text)!r}').told}; {others}", cited)
    rest = [(part, one) for part, one in seen if part != worst]
    told = "".join(f"; its part {shortened(part.text)!r}: {one.told}" for part, one in rest)
    cited = tuple(
        piece for one in [decided[0], *(one for _, one in rest)] for piece in one.evidence
    )
    return Aftermath(decided[0].happened, decided[0].told + told, cited)


def _leaves_the_folder(case: Case, found: list[Part]) -> bool:
    """Tell whether a line of commands goes to another folder before it does its work."""
    here = ("", ".", case.subject.cwd, case.cwd)
    for part in found:
        if part.words[:1] in (("cd",), ("pushd",)) and part.words[1:2] not in {
            (one,) for one in here
        }:
            return True
        if part.words[:1] == ("git",) and {"-C", "--git-dir", "--work-tree"} & set(part.words[1:]):
            return True
    return False


def _part(case: Case, call: PairedCall, part: Part) -> Aftermath | None:
    """Return what can be seen of one command, None where it leaves nothing to look at."""
    words = _git_words(part)
    if words[:1] == ["commit"] and part.effect == "commit":
        return _commit(case, call, words)
    if words[:1] == ["push"] and part.effect in ("remote", "destructive"):
        return _push(case, call, words)
    return None


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
    known = [_replaced(one, text) for one in pairs]
    if known and all(known):
        return Aftermath(True, f"it did happen: {shown} holds the new text", cited)
    if known and all(one is False for one in known):
        return Aftermath(False, f"it did not happen: {shown} holds the old text", cited)
    return Aftermath(
        None, _unknown(f"{shown} holds neither just the old text nor the new").told, cited
    )


def _replaced(edit: object, text: str) -> bool | None:
    """Tell whether a text has the new side of a replacement or the old; None where that is open."""
    old = edit.get("oldText") if isinstance(edit, dict) else None
    new = edit.get("newText") if isinstance(edit, dict) else None
    if not isinstance(old, str) or not isinstance(new, str) or not old or not new or old == new:
        return None
    # One side may hold the other: an insertion keeps what was there.
    if new in text and (old in new or old not in text):
        return True
    if old in text and (new in old or new not in text):
        return False
    return None


def _commit(case: Case, call: PairedCall, words: list[str | None]) -> Aftermath:
    repository = case.project.repository
    if repository is None:
        return _unknown(case.project.obstacle)
    since = call.entry.time or 0.0
    later = [one for one in repository.commits if (one.time + 1) * _SECOND > since]
    message = _message(words)
    for one in later:
        if message is not None and one.subject == message:
            cited = (Evidence(".", commit=one.id, quote=one.subject),)
            return Aftermath(True, f"it did happen: commit {one.id[:_SHORT]}", cited)
    if later:
        one = later[-1]
        cited = (Evidence(".", commit=one.id, quote=one.subject),)
        how = "with another message" if message is not None else "and the call names no message"
        why = f"commit {one.id[:_SHORT]} was made since, {how}"
        return Aftermath(None, _unknown(why).told, cited)
    told = f"it did not happen: there is no commit since {case.clock(call.entry.time)}"
    waiting = [
        standing
        for standing in case.standings
        if standing.state.uncommitted
        and standing.path is not None
        and standing.observation.changed_by_session
        and standing.state.status == "unchanged"
        and standing.observation.result.line < call.entry.line
    ]
    if waiting:
        names = ", ".join(shortened(str(one.path)) for one in waiting[:_SHOWN])
        told += f"; {names}, written before it, {'is' if len(waiting) == 1 else 'are'} uncommitted"
    files = tuple(Evidence(str(case.root / str(one.path))) for one in waiting[:_SHOWN])
    return Aftermath(False, told, files)


def _message(words: list[str | None]) -> str | None:
    """Return the subject that `git commit` was given, None where it cannot be told."""
    for place, word in enumerate(words):
        if word is None:
            continue
        given: str | None = None
        if word.startswith("--message="):
            given = word.split("=", 1)[1]
        elif place + 1 < len(words) and (
            word == "--message" or (word[:1] == "-" != word[1:2] and word.endswith("m"))
        ):
            given = words[place + 1]
        if given is not None and given.strip():
            # Git takes the first line for the subject, and joins what stands below without a gap.
            return " ".join(given.strip().split("\n\n", 1)[0].split("\n")).strip()
    return None


def _push(case: Case, call: PairedCall, words: list[str | None]) -> Aftermath:
    repository = case.project.repository
    if repository is None:
        return _unknown(case.project.obstacle)
    given = [word for word in words[1:] if word is not None]
    if len(given) < len(words) - 1:
        return _unknown("what it pushes is known only when it runs")
    odd = next((word for word in given if word.split("=")[0] in _NOT_ONE_BRANCH), None)
    named = [word for word in given if not word.startswith("-")]
    if odd is not None or len(named) > 2:  # noqa: PLR2004 (a remote and one branch)
        return _unknown(f"it pushes more or other than one branch ({shortened(' '.join(given))})")
    remote = named[0] if named else "origin"
    source, _, target = (named[1] if len(named) > 1 else "").lstrip("+").partition(":")
    source = source.removeprefix("refs/heads/")
    if source in ("", "HEAD", "@"):
        source = repository.branch or ""
    branch = target.removeprefix("refs/heads/") or source
    tracking = f"refs/remotes/{remote}/"
    if not any(name.startswith(tracking) for name in repository.refs):
        return _unknown(f"this repository has no remote-tracking branch of {shortened(remote)}")
    ref = tracking + branch
    there = repository.refs.get(ref)
    local = repository.refs.get(f"refs/heads/{source}")
    if there is None or local is None:
        return _unknown(f"this repository has no {shortened(ref if there is None else source)}")
    cited = (Evidence(".", commit=there, quote=ref),)
    if there == local or _had_then(repository, call, local, there):
        told = f"it did happen: {shortened(ref)} has the local branch's commit {there[:_SHORT]}"
        return Aftermath(True, told, cited)
    why = (
        f"{shortened(ref)} has {there[:_SHORT]}, not {local[:_SHORT]}; git changes it only after"
        " the remote has answered"
    )
    return Aftermath(None, _unknown(why).told, cited)


def _had_then(repository: Repository, call: PairedCall, local: str, there: str) -> bool:
    """Tell whether a remote-tracking branch has all that the checked-out one had at the call.

    The local branch may have gone on since.
    """
    moment = call.entry.time
    commits = {commit.id: commit for commit in repository.commits}
    if moment is None or repository.head != local or there not in commits:
        return False
    # The newest commit of then: the first in history's order that is not later than the call.
    was = next((one for one in repository.commits if one.time * _SECOND <= moment), None)
    waiting, seen = [there], set()
    while was is not None and waiting:
        one = commits.get(waiting.pop())
        if one is not None and one.id not in seen:
            if one.id == was.id:
                return True
            seen.add(one.id)
            waiting.extend(one.parents)
    return False

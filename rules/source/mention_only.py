"""A file was mentioned or attached, and no tool read it.

What it finds
    Files that a prompt names with `@path`, or brings with `<file name="…">` (`pi @path`), and that
    no tool call of the branch read. An error where a reply claims to have checked one.
Why it matters
    A path typed in the editor stays text: the model has not seen the file. An attached text is what
    the file was when Pi was started, and no tool result.
What proves it
    The line of the prompt, and the words of the reply.
What it cannot tell
    Whether a claim speaks of this file: it is a reading of text, no certainty.
What to do
    Have the agent read the file, and ask again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import find, shortened, words
from diagnose.sessions.calls import arguments
from diagnose.sessions.files import attached, mentioned, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

_SHOWN = 50


@rule(
    "PI406",
    "mention-only",
    layer="source",
    levels=("error", "warning"),
    verdict="never-observed",
)
def mention_only(case: Case) -> Iterator[Finding]:
    """Find files that only a prompt brought up, and claims about them."""
    prompts = [entry for entry in case.branch if entry.role == "user"]
    named_files = list(_named(case, prompts))
    if not named_files:
        return
    touched = _touched(case)
    for prompt, path, is_attached in named_files[:_SHOWN]:
        absolute = resolve(path, case.subject.cwd or case.cwd, None)
        base = absolute.rsplit("/", 1)[-1]
        if absolute in touched or any(base in command for command in touched):
            continue
        reply, claim = _claim(case, prompt, path, base)
        how = "attached to" if is_attached else "mentioned in"
        what = "its text came with the prompt, and " if is_attached else ""
        said = (
            f"the reply in {named(reply)} says {shortened(claim)!r}"
            if reply
            else "no reply claims to"
        )
        yield Finding(
            f"{shortened(_shown(case, absolute))} was {how} {named(prompt)}; {what}no tool read it;"
            f" {said}",
            (case.evidence(prompt), *((case.evidence(reply),) if reply else ())),
            level=None if reply else "warning",
            remedy=(Remedy(f"Have the agent read {_shown(case, absolute)}, and ask again."),),
        )


def _shown(case: Case, absolute: str) -> str:
    return absolute.removeprefix((case.subject.cwd or case.cwd).rstrip("/") + "/")


def _named(case: Case, prompts: list[Entry]) -> Iterator[tuple[Entry, str, bool]]:
    """Give each file that a prompt names first, and whether its text came with it."""
    seen: set[str] = set()
    for prompt in prompts:
        text = case.text(prompt)
        if "@" not in text and "<file" not in text:
            continue
        found = [(path, True) for path in attached(text)]
        found += [(path, False) for path in mentioned(text) if _is_file(case, path)]
        for path, is_attached in found:
            absolute = resolve(path, case.subject.cwd or case.cwd, None)
            if absolute not in seen:
                seen.add(absolute)
                yield prompt, path, is_attached


def _is_file(case: Case, path: str) -> bool:
    """Tell a path from a scope of a package, a decorator and a name: it is, or was, a file."""
    if case.knows_file(path):
        return True
    name = path.rsplit("/", 1)[-1]
    # What is nowhere is taken for a file where it looks like one: a folder and an ending.
    return "/" in path and "." in name.strip(".")


def _touched(case: Case) -> set[str]:
    """Return the paths that tools read or wrote, and the commands that may name others."""
    found: set[str] = set()
    for call in case.pairing.calls:
        if call.result is None:
            continue
        given = arguments(case.opened, call)
        path, command = given.get("path"), given.get("command")
        if isinstance(path, str):
            found.add(resolve(path, case.subject.cwd or case.cwd, None))
        if isinstance(command, str):
            found.add(command)
    return found


def _claim(case: Case, prompt: Entry, path: str, base: str) -> tuple[Entry | None, str]:
    """Return the reply to a prompt that claims a check, or a later one that names the file."""
    place = case.branch.index(prompt)
    answering = True
    for entry in case.branch[place + 1 :]:
        if entry.role == "user":
            answering = False
        if entry.role != "assistant":
            continue
        text = case.text(entry)
        claim = find(text, words("claims_of_a_check"))
        names_it = path in text or base in text
        if claim and (answering or names_it) and not find(text, words("denials_of_a_check")):
            return entry, claim[0]
    return None, ""

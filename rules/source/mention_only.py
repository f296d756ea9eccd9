"""A file was mentioned or attached, and no tool read it.

What it finds
    Files that a prompt names with `@path`, or brings with `<file name="…">` (`pi @path`), and that
    no tool call of the branch read, wrote or showed. An error where a reply of the day claims to
    have checked one; a warning where a tool read it only after such a claim.
Why it matters
    A path typed in the editor stays text: the model has not seen the file. An attached text is what
    the file was when Pi was started, and no tool result.
What proves it
    The line of the prompt, and the words of the reply.
What it cannot tell
    Whether a claim speaks of this file: it is a reading of text, no certainty. A sentence counts
    that names the file or, in the reply to the prompt, no other; not one that denies a check. A
    package or a name behind an `@` that looks like a file is taken for one.
What to do
    Have the agent read the file, and ask again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from diagnose.pipeline.case import named
from diagnose.pipeline.effects import names_only, parts
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import find, shortened, words
from diagnose.project.paths import below
from diagnose.sessions.calls import each_arguments
from diagnose.sessions.files import attached, mentioned, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry

# Files beyond this many are not told one by one.
_SHOWN = 50
# What project/files.py says of a folder.
_FOLDER = "it is a folder"
# A text longer than this (characters) is no path.
_LONGEST_PATH = 4_096
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n")
_TOKEN = re.compile(r"[\w.+~/-]+")
# `@src/greet.ts:12-14` and `@src/greet.ts#L12` name lines of a file.
_LINES = re.compile(r"(?:[:#]L?\d+(?:-L?\d+)?)+\Z")
_QUOTED = re.compile(r'(?:^|(?<=\s))@"([^"\n]+)"')
# One of these bytes stands in a line that names a file: `@` and `<` may be written as escapes.
_AT, _LESS, _ESCAPE = b"@<\\"
_NO_PATH = re.compile(r"[\"'()<>{}$*|\\=`]")


class _Mention(msgspec.Struct, frozen=True):
    """A file that a prompt brings up first; `place` is the prompt's on the branch."""

    prompt: Entry
    place: int
    absolute: str
    # The last part of the path, by which replies and commands name it.
    name: str
    is_attached: bool


class _Claim(msgspec.Struct, frozen=True):
    """A sentence of a reply that claims a check; `turn` counts the prompts before it."""

    reply: Entry
    place: int
    turn: int
    phrase: str
    names: frozenset[str]


@rule(
    "PI406",
    "mention-only",
    layer="source",
    levels=("error", "warning"),
    verdict="never-observed",
)
def mention_only(case: Case) -> Iterator[Finding]:
    """Find files that only a prompt brought up, and claims about them."""
    mentions = list(_mentions(case))[:_SHOWN]
    if not mentions:
        return
    seen = _seen(case, mentions)
    turns = _turns(case)
    claims = list(_claims(case, mentions[0].place, turns))
    known = {one.name for one in mentions} | {path.rsplit("/", 1)[-1] for path in seen}
    for one in mentions:
        read = min(seen.get(one.absolute, _never(case)), seen.get(one.name, _never(case)))
        if read < one.place:
            continue
        claim = next(
            (c for c in claims if c.place < read and _speaks_of(c, one, turns, known)), None
        )
        if read < _never(case) and (claim is None or claim.turn == turns[read]):
            continue
        yield _finding(case, one, claim, case.branch[read] if read < _never(case) else None)


def _never(case: Case) -> int:
    return len(case.branch)


def _finding(case: Case, one: _Mention, claim: _Claim | None, read: Entry | None) -> Finding:
    cwd = (case.subject.cwd or case.cwd).rstrip("/") + "/"
    shown = shortened(one.absolute.removeprefix(cwd), 200)
    how = "attached to" if one.is_attached else "mentioned in"
    came = "its text came with the prompt, and " if one.is_attached else ""
    before = f" before {named(read)}" if read else ""
    is_there = one.is_attached or case.knows_file(one.absolute)
    where = "" if is_there else "; nothing of that name is in the project or its history"
    said = (
        f"the reply in {named(claim.reply)} says {shortened(claim.phrase)!r}"
        if claim
        else "no reply claims to"
    )
    is_asked = (
        case.question.includes(one.prompt.time)
        or (claim is not None and case.question.includes(claim.reply.time))
        or case.mentions(one.absolute)
    )
    return Finding(
        f"{shown} was {how} {named(one.prompt)}; {came}no tool read it{before}; {said}{where}",
        (
            case.evidence(one.prompt),
            *((case.evidence(claim.reply),) if claim else ()),
            *((case.evidence(read),) if read else ()),
        ),
        level=None if claim and not read and is_asked else "warning",
        remedy=(Remedy(f"Have the agent read {shown}, and ask again."),),
    )


def _turns(case: Case) -> list[int]:
    """Return for each entry of the branch how many prompts stand before it, itself included."""
    turns: list[int] = []
    count = 0
    for entry in case.branch:
        count += entry.role == "user"
        turns.append(count)
    return turns


def _mentions(case: Case) -> Iterator[_Mention]:
    """Give each file that a prompt names first, and whether its text came with it."""
    seen: set[str] = set()
    for place, prompt in enumerate(case.branch):
        if prompt.role != "user" or not _may_name_files(case, prompt):
            continue
        text = case.text(prompt)
        if "@" not in text and "<file" not in text:
            continue
        found = [(path, True) for path in attached(text)]
        spoken = [*_QUOTED.findall(text), *(_LINES.sub("", path) for path in mentioned(text))]
        found += [(path, False) for path in spoken if _is_file(case, path)]
        for path, is_attached in found:
            absolute = resolve(path, case.subject.cwd or case.cwd, None)
            if absolute not in seen:
                seen.add(absolute)
                yield _Mention(prompt, place, absolute, absolute.rsplit("/", 1)[-1], is_attached)


def _may_name_files(case: Case, prompt: Entry) -> bool:
    """Tell from the bytes of a line whether its text can name a file: most prompts name none."""
    raw = case.subject.raw(prompt.offset, prompt.length)
    return _AT in raw or _LESS in raw or _ESCAPE in raw


def _is_file(case: Case, path: str) -> bool:
    """Tell a path from a scope of a package, a decorator and a name: it is, or was, a file."""
    if _NO_PATH.search(path) or "\0" in path:
        return False
    if case.knows_file(path):
        cwd = case.subject.cwd or case.cwd
        inner = below(resolve(path, cwd, None), cwd)
        return inner is not None and case.project.file(inner).obstacle != _FOLDER
    stem, _, ending = path.rsplit("/", 1)[-1].rpartition(".")
    # What is nowhere is taken for a file where it looks like one: an ending, and a folder or an
    # ending that is well known.
    return bool(stem) and ("/" in path or ending.lower() in words("file_endings"))


def _seen(case: Case, mentions: list[_Mention]) -> dict[str, int]:
    """Return where on the branch a tool first read, wrote or showed a file.

    The keys are paths that tools were given, and the last parts of paths that commands and their
    output name; commands that show nothing of a file (`ls`) are left out.
    """
    place = {entry.line: number for number, entry in enumerate(case.branch)}
    cwd = case.subject.cwd or case.cwd
    relative = {one.absolute.removeprefix(cwd.rstrip("/") + "/"): one.name for one in mentions}
    found: dict[str, int] = {}
    answered = (
        call
        for call in case.pairing.calls
        if call.result is not None and call.result.message and not call.result.message.is_error
    )
    for call, given in each_arguments(case.opened, answered):
        if call.result is None or call.call.name in ("ls", "find"):
            continue
        here = place[call.result.line]
        shows = call.call.name == "grep"
        for key, value in given.items():
            if not isinstance(value, str):
                continue
            if key == "command":
                showing = [part.text for part in parts(value) if not names_only(part)]
                shows = bool(showing)
                for token in _TOKEN.findall(" ".join(showing)):
                    found.setdefault(token.rsplit("/", 1)[-1], here)
            elif len(value) < _LONGEST_PATH and "\0" not in value:
                found.setdefault(resolve(value, cwd, None), here)
        if shows:
            output = case.text(call.result)
            for path, name in relative.items():
                if path in output:
                    found.setdefault(name, here)
    return found


def _claims(case: Case, start: int, turns: list[int]) -> Iterator[_Claim]:
    """Give each sentence of the replies from a place on that claims a check and denies none."""
    for place in range(start, len(case.branch)):
        reply = case.branch[place]
        text = case.text(reply) if reply.role == "assistant" else ""
        if find(text, words("claims_of_a_check")) is None:
            continue
        for sentence in _SENTENCE.split(text):
            claim = find(sentence, words("claims_of_a_check"))
            if claim is None or sentence.rstrip().endswith(("?", "？")):
                continue
            if find(sentence, words("denials_of_a_check")) is None:
                tokens = (
                    token.rstrip(".").rsplit("/", 1)[-1] for token in _TOKEN.findall(sentence)
                )
                yield _Claim(reply, place, turns[place], claim[0], frozenset(tokens))


def _speaks_of(claim: _Claim, one: _Mention, turns: list[int], known: set[str]) -> bool:
    if claim.place <= one.place:
        return False
    if one.name in claim.names:
        return True
    return claim.turn == turns[one.place] and not claim.names & known

"""Two processes wrote one session file at the same time.

What it finds
    A branch beside the active one that alternates with it in the file as one process cannot write:
    it goes on with a turn that was begun before the other branch's entry, or with a prompt within
    three seconds of it, and no branch summary was written on the way.
Why it matters
    Each process appends under its own leaf and does not see the other. Whoever writes last decides
    what the next start sees; the other's work is on disk and unknown to the model, and its effects
    on files are there all the same.
What proves it
    The entry where the two part, both last messages, and the lines where the file goes from one
    branch to the other. `/tree` is refused while a reply is being written (Pi 1.6.0), so a reply or
    a tool result that continues a branch right after another branch's entry needs a second process.
What it cannot tell
    Which terminal, machine or program the other process was. Two terminals that were used in turns,
    minutes apart, look like one person going back and forth with `/tree`, and are told as PI201. A
    program that drives one Pi (RPC, an extension) can go back and forth faster than a person.
What to do
    Close one of the two. Open the session, type `/tree`, and go on from the branch that is wanted;
    look at the files before repeating anything, as both branches' commands ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import lines_of, named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.branches import last_message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.branches import LeftBranch
    from diagnose.sessions.entry import Entry

# The last so many branches are told one by one.
_SHOWN = 10


@rule("PI204", "two-writers", layer="branch", levels=("error", "warning"), verdict="off-branch")
def two_writers(case: Case) -> Iterator[Finding]:
    """Find branches that grew at the same time as another."""
    found = [left for left in case.left if left.cause == "two writers"]
    for left in found[-_SHOWN:]:
        if left.parting is not None:
            yield _finding(case, left, left.parting)


def _finding(case: Case, left: LeftBranch, parting: Entry) -> Finding:
    first, last = left.switches[0], left.switches[-1]
    place = next(n for n, entry in enumerate(case.branch) if entry is parting)
    others = case.branch[place + 1 :]
    tip = left.tip
    # The other side's last message; the leaf may be a name or a label.
    winner = last_message(others or case.branch)
    bounds = case.question.bounds()
    old = bounds is not None and all(
        e.time is not None and e.time < bounds[0] for e in left.conversation
    )
    return Finding(
        f"two processes wrote the file at once: from {named(parting)} two branches alternate,"
        f" {lines_of(left.entries)} and {lines_of(others)}, from line {first.before.line}"
        f" ({case.clock(first.before.time)}) to line {last.after.line}"
        f" ({case.clock(last.after.time)}); the one that wrote last, to {named(winner)}, is the"
        f" active one and hides the other, which ends in {named(tip)}; no branch summary was"
        " written on the way",
        (case.evidence(parting), case.evidence(tip), case.evidence(winner)),
        level="warning" if old else None,
        remedy=(
            Remedy(
                f"Close the other process, open the session, type /tree and choose"
                f" {shortened(case.text(tip))!r} (line {tip.line}) to see what was hidden.",
                case.command_to_open(case.subject),
            ),
        ),
    )

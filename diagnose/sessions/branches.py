"""The branches that the active one has left behind, and what left each of them there.

Pi 1.6.0, core/agent-session.js `navigateTree`: `/tree` is refused while a reply is being written,
writes nothing unless a summary is asked for, and may be followed by any number of other branches.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from diagnose.sessions.context import NOT_SENT

if TYPE_CHECKING:
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.tree import Tree

Cause = Literal[
    # with /tree, or by an edited prompt
    "left",
    # bookkeeping was appended under an old parent and became the leaf
    "stale leaf",
    # two processes appended to the file at once
    "two writers",
    # a parent of the active branch is not in the file
    "cut off",
    # the leaf is no entry, so that nothing hangs together with it
    "no entry",
]
# Entries that are no conversation: where one of them is the leaf, nobody spoke there.
BOOKKEEPING: Final = frozenset(
    {
        "session_info",
        "label",
        "custom",
        "usage",
        "model_change",
        "thinking_level_change",
        "context_edit",
    }
)
# Nobody leaves a branch with /tree, chooses another and types a prompt in less (milliseconds).
_HASTE: Final = 3_000


class Switch(msgspec.Struct, frozen=True):
    """A place in the file where a branch goes on right after an entry of another."""

    before: Entry
    after: Entry


class LeftBranch(msgspec.Struct):
    """Entries that hang together and are not on the active branch, in the order of the file."""

    root: Entry
    # The entry of the active branch on which it hangs; None where it hangs on nothing.
    parting: Entry | None
    entries: list[Entry] = msgspec.field(default_factory=list)
    cause: Cause = "left"
    # The branch summary on the active branch that stands for what was written before it.
    summary: Entry | None = None
    # Where it and another branch alternate as one process could not have written them.
    switches: list[Switch] = msgspec.field(default_factory=list)
    # How often the file goes back from one of the two to the other, whoever wrote that.
    alternations: int = 0

    @property
    def tip(self) -> Entry:
        """Its last message, or its last entry where it has none."""
        return last_message(self.entries)

    @property
    def conversation(self) -> list[Entry]:
        """Its user and assistant messages."""
        return [entry for entry in self.entries if entry.is_activity]

    @property
    def is_interleaved(self) -> bool:
        """Whether two processes wrote it and another branch at once."""
        return self.cause == "two writers"

    @property
    def is_hidden_by_bookkeeping(self) -> bool:
        """Whether a leaf that says nothing is all that hides it."""
        return self.cause == "stale leaf"

    @property
    def summarised(self) -> list[Entry]:
        """The entries that the summary stands for."""
        return [e for e in self.entries if self.summary and e.line < self.summary.line]

    @property
    def hidden(self) -> list[Entry]:
        """The entries that nothing on the active branch stands for."""
        return [e for e in self.entries if not self.summary or e.line > self.summary.line]


def last_message(entries: list[Entry]) -> Entry:
    """Return the last message that is no system message, or the last entry where there is none."""
    said = (e for e in reversed(entries) if e.message is not None and e.role != "system")
    return next(said, entries[-1])


def is_bookkeeping(entry: Entry) -> bool:
    """Tell whether an entry is no conversation: system messages are none either."""
    return entry.type in BOOKKEEPING or entry.role == "system"


def completed(entries: list[Entry]) -> bool:
    """Tell whether any reply among the entries came to an end, so that it is part of a request."""
    return any(
        e.message is not None and e.role == "assistant" and e.message.stop_reason not in NOT_SENT
        for e in entries
    )


def left_branches(tree: Tree) -> list[LeftBranch]:
    """Return what is off the active branch, one piece for each place where it parts.

    Raise CycleError where the active branch has no end. Entries that hang on a cycle elsewhere
    are left out: they part nowhere.
    """
    branch = tree.branch
    if len(branch) == len(tree.live):
        return []  # all that Pi can reach is on it
    place = {id(entry): position for position, entry in enumerate(branch)}
    owners = _owners(tree, place)
    found: list[LeftBranch] = []
    for entry in tree.live:
        owner = owners.get(id(entry))
        if owner is not None:
            if not owner.entries:
                found.append(owner)
            owner.entries.append(entry)
    _give_summaries(tree, branch, owners)
    _give_switches(tree, place, owners)
    _give_causes(tree, branch, found)
    return found


def _owners(tree: Tree, place: dict[int, int]) -> dict[int, LeftBranch | None]:
    """Return the left branch of each entry that is off the active one; None on a cycle."""
    owners: dict[int, LeftBranch | None] = {}
    for start in tree.live:
        if id(start) in place:
            continue
        trail: list[Entry] = []
        met: set[int] = set()
        here = start
        owner: LeftBranch | None = None
        while id(here) not in place and id(here) not in owners and id(here) not in met:
            trail.append(here)
            met.add(id(here))
            parent = tree.parent(here)
            if parent is None or id(parent) in place:
                owner = LeftBranch(here, parent)
                break
            here = parent
        else:
            owner = owners.get(id(here))
        for entry in trail:
            owners[id(entry)] = owner
    return owners


def _give_summaries(tree: Tree, branch: list[Entry], owners: dict[int, LeftBranch | None]) -> None:
    """Give each left branch the summary on the active one that was made of it."""
    summaries = [entry for entry in branch if entry.type == "branch_summary"]
    written = {id(entry): number for number, entry in enumerate(tree.live)} if summaries else {}
    for entry in summaries:
        if entry.boundary is None:
            continue
        source = tree.by_id.get(entry.boundary.target)
        owner = owners.get(id(source)) if source is not None else None
        number = written.get(id(entry), 0)
        if owner is None and number > 0:
            # Older Pis recorded where the summary was put, not what it is of. The branch that was
            # left is then the one that had been written to last.
            owner = owners.get(id(tree.live[number - 1]))
        if owner is not None and entry.boundary.has_summary:
            owner.summary = entry


def _give_switches(tree: Tree, place: dict[int, int], owners: dict[int, LeftBranch | None]) -> None:
    """Find where branches alternate in the file as one process could not have written them."""

    def part(entry: Entry) -> int:
        """Return how far up the active branch the way to an entry leads; -1: not at all."""
        owner = owners.get(id(entry))
        if owner is not None:
            return place[id(owner.parting)] if owner.parting is not None else -1
        return place.get(id(entry), -1)

    for before, after in pairwise(tree.live):
        # It goes on from the entry before it, or both have no id to go on from.
        if after.parent == before.id:
            continue
        parent = tree.parent(after)
        if parent is None:
            continue
        one, other = owners.get(id(parent)), owners.get(id(before))
        if one is other:
            continue  # both on the active branch, or inside one piece
        if one is None:
            # The active branch goes on; where it stood is no ancestor of what was written last.
            apart = id(parent) in place and part(parent) > part(before)
        else:
            apart = part(before) > part(parent) or (
                other is not None and part(before) == part(parent)
            )
        if apart:
            for owner in (one, other):
                if owner is not None and owner.parting is not None:
                    owner.alternations += 1
                    if _impossible_for_one(before, after):
                        owner.switches.append(Switch(before, after))


def _impossible_for_one(before: Entry, after: Entry) -> bool:
    """Tell whether the second entry cannot come from the process that had written the first.

    A reply or a result goes on with a turn that was begun before, and /tree is refused during a
    turn. A prompt comes too soon after the other branch's last entry for anybody to have chosen.
    """
    if after.role in ("assistant", "toolResult"):
        return True
    if after.role != "user" or before.message is None or before.role == "system":
        return False
    if after.time is None or before.time is None:
        return False
    return 0 <= after.time - before.time < _HASTE


def _give_causes(tree: Tree, branch: list[Entry], found: list[LeftBranch]) -> None:
    if not branch or not branch[-1].is_object or not tree.shown_branch:
        for left in found:
            left.cause = "no entry"
        return
    cut = tree.lacks_parent(branch[0])
    for left in found:
        if cut and left.parting is None and left.root.line < branch[0].line:
            left.cause = "cut off"
        elif left.switches and left.conversation and left.summary is None:
            left.cause = "two writers"
    if not is_bookkeeping(branch[-1]):
        return
    # Where the bookkeeping at the end of the branch began to hang.
    end = next((n for n in range(len(branch), 0, -1) if not is_bookkeeping(branch[n - 1])), 0)
    anchors = {id(entry) for entry in branch[max(end - 1, 0) :]}
    hidden = [left for left in found if left.cause == "left" and _is_said(left.hidden)]
    under = [left for left in hidden if id(left.parting) in anchors]
    if not under and end == 0:
        under = [left for left in hidden if left.parting is None]
    if under:
        max(under, key=lambda left: left.tip.line).cause = "stale leaf"


def _is_said(entries: list[Entry]) -> bool:
    return any(entry.is_activity for entry in entries)

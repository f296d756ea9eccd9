"""The branches that the active one has left behind, and how each came to be left."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.tree import Tree

# Entries that no conversation needs: what a second client appends without a word being said.
BOOKKEEPING: Final = frozenset(
    {"session_info", "label", "custom", "usage", "model_change", "thinking_level_change"}
)
# Nobody goes from one branch to another with `/tree` and types a prompt in less (milliseconds).
_HASTE: Final = 10_000
# A, B, A, B: a person who goes back once makes two changes of side, two processes make more.
_TURNS: Final = 3


@dataclass(slots=True, frozen=True)
class LeftBranch:
    """A subtree beside the active branch, in the order of the file."""

    # The entry of the active branch from which it grows; None where it has a root of its own.
    parting: Entry | None
    entries: list[Entry]
    # The entry that was written last in it: where it would be gone on from.
    tip: Entry
    # What the active branch has after the parting.
    rival: list[Entry]
    # A branch summary on the active branch that was written of this one.
    summary: Entry | None
    # How often the file changes between the two sides, and whether only a process could so fast.
    turns: int
    in_haste: bool

    @property
    def is_interleaved(self) -> bool:
        """Whether the two sides alternate in the file as two writers make them."""
        return self.summary is None and (self.turns >= _TURNS or (self.turns > 1 and self.in_haste))

    @property
    def is_hidden_by_bookkeeping(self) -> bool:
        """Whether nothing was said on the active side after the parting."""
        return bool(self.rival) and all(entry.type in BOOKKEEPING for entry in self.rival)

    @property
    def conversation(self) -> list[Entry]:
        """Its user and assistant messages."""
        return [entry for entry in self.entries if entry.is_activity]


def left_branches(tree: Tree) -> list[LeftBranch]:
    """Return the subtrees beside the active branch, in the order of the file.

    Raise CycleError where there is no active branch to be beside.
    """
    branch = tree.branch
    places = {entry.line: place for place, entry in enumerate(branch)}
    summaries = [entry for entry in branch if entry.type == "branch_summary" and entry.boundary]
    found = []
    taken: set[int] = set()
    for root in tree.live:
        if root.line in places or root.line in taken:
            continue
        parting = tree.parent(root)
        if parting is not None and parting.line not in places:
            continue  # it hangs on a subtree that is found by its own root
        entries = [entry for entry in tree.subtree(root) if entry.line not in places]
        lines = {entry.line for entry in entries}
        taken |= lines
        ids = {entry.id for entry in entries}
        summary = next(
            (one for one in summaries if one.boundary and one.boundary.target in ids), None
        )
        rival = branch[places[parting.line] + 1 :] if parting else branch
        turns, in_haste = _turns(entries, rival)
        found.append(LeftBranch(parting, entries, entries[-1], rival, summary, turns, in_haste))
    return found


def _turns(left: list[Entry], rival: list[Entry]) -> tuple[int, bool]:
    """Return how often the file changes sides, and whether one change was too fast for a person.

    Only what is said counts: a name or a label is given by anyone at any time.
    """
    said = [(e.line, 0, e) for e in left if e.type == "message"]
    said += [(e.line, 1, e) for e in rival if e.type == "message"]
    said.sort(key=lambda one: one[0])
    turns = 0
    in_haste = False
    for (_, side, before), (_, other, after) in pairwise(said):
        if side != other:
            turns += 1
            if before.time is not None and after.time is not None and turns > 1:
                in_haste = in_haste or abs(after.time - before.time) < _HASTE
    return turns, in_haste

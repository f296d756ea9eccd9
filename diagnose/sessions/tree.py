"""The tree of a session: the leaf that Pi takes, the active branch, tips, and where branches part.

No leaf is stored: on loading, Pi takes the last entry of the file, of any type (Pi 1.6.0,
core/session-manager.js `_buildIndex` and `buildSessionPath`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from diagnose.sessions.javascript import is_truthy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session


class CycleError(Exception):
    """A branch whose parents lead back to itself: Pi follows it for ever and hangs."""

    def __init__(self, members: list[Entry]) -> None:
        self.members = members
        lines = ", ".join(str(entry.line) for entry in members)
        super().__init__(f"the parents of lines {lines} form a cycle: Pi hangs on opening the file")


class Tree:
    """The entries of a session by id, and the branches that they form."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.entries = session.entries
        # With one id twice, the later entry wins, but keeps the earlier one's place in the order.
        self.by_id: dict[Any, Entry] = {entry.id: entry for entry in session.entries}

    @property
    def leaf(self) -> Entry | None:
        """The entry from which Pi goes on: the last of the file."""
        return self.entries[-1] if self.entries else None

    @cached_property
    def branch(self) -> list[Entry]:
        """The active branch from root to leaf, as the context is built from it.

        Raise CycleError where Pi would never come to an end.
        """
        leaf = self.leaf
        if leaf is None or leaf.id is None:
            return []
        return self.path(leaf)

    @cached_property
    def shown_branch(self) -> list[Entry]:
        """The branch as Pi's `getBranch` gives it: empty where the leaf has no usable id."""
        leaf = self.leaf
        usable = leaf is not None and _usable(leaf.id)
        return self.branch if usable else []

    def path(self, tip: Entry) -> list[Entry]:
        """Return the entries from the root to a tip; raise CycleError on a cycle."""
        path: list[Entry] = []
        longest, by_id = len(self.by_id) + 1, self.by_id.get
        here: Entry | None = tip
        while here is not None:
            path.append(here)
            # A path longer than all entries has been somewhere twice; to remember each place on
            # the way would cost every healthy file what only a broken one needs.
            if len(path) > longest:
                raise CycleError(_cycle(path))
            key = here.parent
            # As `parent` does, which is asked for what is no plain id alone: the path is long.
            here = by_id(key) if type(key) is str and key else self.parent(here)
        path.reverse()
        return path

    def parent(self, entry: Entry) -> Entry | None:
        """Return the entry that Pi finds as the parent, None at a root or a missing parent."""
        key = entry.parent
        # Nearly all are texts, and this is asked of every entry several times.
        usable = key != "" if type(key) is str else _usable(key)
        return self.by_id.get(key) if usable else None

    def is_root(self, entry: Entry) -> bool:
        """Tell whether the entry names no parent, be it in the file or not."""
        return not _usable(entry.parent)

    def lacks_parent(self, entry: Entry) -> bool:
        """Tell whether the entry names a parent that is not in the file."""
        return _usable(entry.parent) and entry.parent not in self.by_id

    @cached_property
    def live(self) -> list[Entry]:
        """The entries that Pi can reach: of several with one id, only the last."""
        if len(self.by_id) == len(self.entries):
            return list(self.entries)  # no two have one id
        return [entry for entry in self.entries if self.by_id.get(entry.id) is entry]

    @cached_property
    def children(self) -> dict[Any, list[Entry]]:
        """The children of each id, in the order of the file."""
        children: dict[Any, list[Entry]] = {}
        for entry in self.live:
            if _usable(entry.parent):
                children.setdefault(entry.parent, []).append(entry)
        return children

    @cached_property
    def tips(self) -> list[Entry]:
        """The entries without children, in the order of the file."""
        return [entry for entry in self.live if entry.id not in self.children]

    @cached_property
    def on_branch(self) -> set[int]:
        """The lines of the entries on the active branch."""
        return {entry.line for entry in self.branch}

    @cached_property
    def cycles(self) -> list[list[Entry]]:
        """Every cycle among the entries, each from its first line; a leaf inside one hangs Pi."""
        state: dict[int, int] = {}  # id of entry → number of the walk that met it first
        found: list[list[Entry]] = []
        for walk, start in enumerate(self._pointing_down):
            entry: Entry | None = start
            path: list[Entry] = []
            while entry is not None and id(entry) not in state:
                state[id(entry)] = walk
                path.append(entry)
                entry = self.parent(entry)
            if entry is not None and state[id(entry)] == walk:
                first = next(i for i, member in enumerate(path) if member is entry)
                found.append(sorted(path[first:], key=lambda member: member.line))
        return sorted(found, key=lambda members: members[0].line)

    @property
    def _pointing_down(self) -> Iterator[Entry]:
        """The entries whose parent stands no higher in the file: every cycle has one."""
        before: Any = None
        for entry in self.live:
            # Nearly all go on from the entry right before them.
            if entry.parent == before:
                before = entry.id
                continue
            before = entry.id
            parent = self.by_id.get(entry.parent)
            if parent is not None and parent.line >= entry.line and _usable(entry.parent):
                yield entry

    def subtree(self, root: Entry) -> list[Entry]:
        """Return an entry and all that hangs on it, in the order of the file."""
        found = {id(root): root}
        waiting = [root]
        while waiting:
            for child in self.children.get(waiting.pop().id, ()):
                if id(child) not in found:
                    found[id(child)] = child
                    waiting.append(child)
        return sorted(found.values(), key=lambda entry: entry.line)


def _cycle(path: list[Entry]) -> list[Entry]:
    """Return the entries that a path goes through again and again, each once."""
    first: dict[int, int] = {}
    for place, entry in enumerate(path):
        if id(entry) in first:
            return path[first[id(entry)] : place]
        first[id(entry)] = place
    raise ValueError("the path goes through no entry twice")


def _usable(key: Any) -> bool:
    """Tell whether JavaScript takes an id for true; `identity` wraps numbers and truth values."""
    if type(key) is str:  # nearly all are, and this is asked of every entry
        return key != ""
    return bool(key[1]) if isinstance(key, tuple) else is_truthy(key)

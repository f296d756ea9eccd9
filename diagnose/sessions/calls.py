"""Tool calls on the active branch, each paired with its result.

Call ids repeat across turns, so a result belongs to the nearest call before it that still waits for
one. Calls of replies that ended in an error or were aborted never ran (Pi 1.6.0, agent loop).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from diagnose.sessions.context import NOT_SENT, content_text
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from diagnose.sessions.entry import Call, Entry
    from diagnose.sessions.reading import Session
    from diagnose.sessions.tree import Tree


@dataclass(slots=True)
class PairedCall:
    """A tool call, the reply that asked for it, and what answers it on the same branch."""

    entry: Entry
    call: Call
    # Place of the call among those of its reply, from 0.
    place: int
    result: Entry | None = None
    further_results: list[Entry] = field(default_factory=list)

    @property
    def never_ran(self) -> bool:
        """Whether Pi never started it: its reply failed or was aborted."""
        return self.entry.message is not None and self.entry.message.stop_reason in NOT_SENT


@dataclass(slots=True, frozen=True)
class Pairing:
    """All calls of a branch in order, and the results that no call before them asked for."""

    calls: list[PairedCall]
    stray_results: list[Entry]


def pair(branch: list[Entry]) -> Pairing:
    """Pair the calls and results of a branch by their order on it."""
    calls: list[PairedCall] = []
    strays: list[Entry] = []
    waiting: dict[Any, list[PairedCall]] = {}
    answered: dict[Any, PairedCall] = {}
    for entry in branch:
        message = entry.message
        if message is None:
            continue
        for place, call in enumerate(message.calls):
            paired = PairedCall(entry, call, place)
            calls.append(paired)
            waiting.setdefault(call.id, []).append(paired)
        if message.role != "toolResult":
            continue
        if open_calls := waiting.get(message.call_id):
            paired = open_calls.pop()
            paired.result = entry
            answered[message.call_id] = paired
        elif message.call_id in answered:
            answered[message.call_id].further_results.append(entry)
        else:
            strays.append(entry)
    return Pairing(calls, strays)


def results_elsewhere(tree: Tree, calls: list[PairedCall]) -> dict[int, Entry]:
    """Return, by the place of a call in `calls`, the result that hangs on another branch."""
    wanted = {call.call.id for call in calls}
    candidates = [
        entry
        for entry in tree.live
        if entry.message is not None
        and entry.message.role == "toolResult"
        and entry.message.call_id in wanted
        and entry.line not in tree.on_branch
    ]
    found: dict[int, Entry] = {}
    for place, call in enumerate(calls):
        for entry in candidates:
            if entry.message is None or entry.message.call_id != call.call.id:
                continue
            above = tree.parent(entry)
            steps = 0
            # A result stands right below its call, perhaps after results of the same batch.
            while above is not None and above is not call.entry and steps < len(tree.live):
                if above.message is None or above.message.role != "toolResult":
                    above = None
                    break
                above = tree.parent(above)
                steps += 1
            if above is call.entry:
                found[place] = entry
    return found


def arguments(session: Session, call: PairedCall) -> dict[str, Any]:
    """Read the arguments of a call again; empty where they are no object."""
    content = get(get(session.value(call.entry), "message"), "content")
    blocks = [
        block
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]
    found = blocks[call.place].get("arguments") if call.place < len(blocks) else None
    return found if isinstance(found, dict) else {}


def result_text(session: Session, result: Entry) -> str:
    """Read the text of a tool result again."""
    return content_text(get(get(session.value(result), "message"), "content"))

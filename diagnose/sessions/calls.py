"""Tool calls on the active branch, each paired with its result.

Call ids repeat across turns, so a result belongs to the nearest call before it that still waits for
one. Calls of replies that ended in an error or were aborted never ran (Pi 1.6.0, agent loop).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import msgspec

from diagnose.sessions.context import NOT_SENT, content_text
from diagnose.sessions.javascript import get

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from diagnose.sessions.entry import Call, Entry
    from diagnose.sessions.reading import Session
    from diagnose.sessions.tree import Tree

# A reply with more calls than this is kept once it has been read for one of them.
_MANY: Final = 20


class PairedCall(msgspec.Struct):
    """A tool call, the reply that asked for it, and what answers it on the same branch."""

    entry: Entry
    call: Call
    # Place of the call among those of its reply, from 0.
    place: int
    result: Entry | None = None
    further_results: list[Entry] = msgspec.field(default_factory=list)

    @property
    def never_ran(self) -> bool:
        """Whether Pi never started it: its reply failed or was aborted."""
        return self.entry.message is not None and self.entry.message.stop_reason in NOT_SENT


class Pairing(msgspec.Struct, frozen=True):
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
        if entry.role != "toolResult":
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
    # By the reply and the id: one id may stand in many replies, and twice in one.
    wanted: dict[tuple[int, Any], int] = {}
    for place, call in enumerate(calls):
        wanted.setdefault((call.entry.line, call.call.id), place)
    asked_by: dict[int, Entry | None] = {}
    found: dict[int, Entry] = {}
    for entry in tree.live if wanted else ():
        message = entry.message
        if message is None or entry.role != "toolResult":
            continue
        # A result stands right below its reply, perhaps after results of the same batch.
        above = tree.parent(entry)
        if above is not None and above.role == "toolResult":
            asked_by[entry.line] = asked_by.get(above.line)
        else:
            asked_by[entry.line] = above if above is not None and above.message else None
        reply = asked_by[entry.line]
        if reply is None or entry.line in tree.on_branch:
            continue
        place = wanted.get((reply.line, message.call_id), -1)
        if place >= 0:
            found[place] = entry
    return found


def results_under_another_form(pairing: Pairing) -> dict[int, Entry]:
    """Return, by the place of a call among all, a stray result that seems to answer it.

    Some providers make ids of two parts, `call_9|fc_abc`, of which another writes the first alone:
    the same first part, in a result after the call, is taken for the same call. It is a likeness,
    no proof, and Pi itself does not see it.
    """
    strays: dict[str, list[Entry]] = {}
    for result in pairing.stray_results:
        key = _first_part(result.message.call_id if result.message else None)
        if key:
            strays.setdefault(key, []).append(result)
    found: dict[int, Entry] = {}
    for place, call in enumerate(pairing.calls if strays else ()):
        if call.result is not None:
            continue
        waiting = strays.get(_first_part(call.call.id), [])
        if waiting and waiting[0].line > call.entry.line:
            found[place] = waiting.pop(0)
    return found


def _first_part(call_id: Any) -> str:
    return call_id.split("|", 1)[0] if isinstance(call_id, str) else ""


def each_arguments(
    session: Session, calls: Iterable[PairedCall]
) -> Iterator[tuple[PairedCall, dict[str, Any]]]:
    """Give each call with its arguments; a reply with many calls is read once for all of them."""
    reply: Entry | None = None
    blocks: list[Any] = []
    for call in calls:
        if call.entry is not reply:
            reply, blocks = call.entry, _blocks(session, call.entry)
        yield call, _arguments(blocks, call)


def arguments(session: Session, call: PairedCall) -> dict[str, Any]:
    """Read the arguments of a call again; empty where they are no object."""
    many = call.entry.message is not None and len(call.entry.message.calls) > _MANY
    blocks = _kept(_Reply(session, call.entry)) if many else _blocks(session, call.entry)
    return _arguments(blocks, call)


class _Reply(msgspec.Struct, frozen=True, eq=False):
    """A reply of a session as it was read: of the file read anew, it is another one."""

    session: Session
    entry: Entry

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reply) and self.entry is other.entry

    def __hash__(self) -> int:
        return id(self.entry)


@lru_cache(maxsize=4)
def _kept(reply: _Reply) -> list[Any]:
    """Return the calls of a reply with many; else each of them would have all of them read anew."""
    return _blocks(reply.session, reply.entry)


def _blocks(session: Session, reply: Entry) -> list[Any]:
    """Return the tool calls of a reply as they are written."""
    content = get(get(session.value(reply), "message"), "content")
    return [
        block
        for block in (content if isinstance(content, list) else [])
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]


def _arguments(blocks: list[Any], call: PairedCall) -> dict[str, Any]:
    found = blocks[call.place].get("arguments") if call.place < len(blocks) else None
    return found if isinstance(found, dict) else {}


def result_text(session: Session, result: Entry) -> str:
    """Read the text of a tool result again."""
    return content_text(get(get(session.value(result), "message"), "content"))

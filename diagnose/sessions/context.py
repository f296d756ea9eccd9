"""From the active branch to the request: the context and the wire, exactly as Pi builds them.

Pi 1.6.0: core/session-manager.js `buildContextEntries`, `projectContextEntry`; core/messages.js
`convertToLlm`; pi-ai api/transform-messages.js `transformMessages`, for a model that takes images
(what a model without them, or another model's thinking, changes is inside messages, not in them).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from diagnose.sessions.javascript import (
    UNDEFINED,
    PiThrowsError,
    get,
    identity,
    is_nullish,
    is_truthy,
    to_number,
    to_text,
)
from diagnose.sessions.reading import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.sessions.entry import Edit, Entry
    from diagnose.sessions.reading import Session
    from diagnose.sessions.tree import Tree

_EDITABLE: Final = ("user", "assistant", "toolResult", "custom")
# Replies with these reasons are shown in the session and left out of the request.
NOT_SENT: Final = ("error", "aborted")


class Item(msgspec.Struct, frozen=True):
    """One entry of the context and the messages that it gives."""

    entry: Entry
    messages: list[Any]


def latest_compaction(branch: list[Entry]) -> Entry | None:
    """Return the compaction that decides the context, None where the branch has none."""
    return next((entry for entry in reversed(branch) if entry.type == "compaction"), None)


def context_entries(branch: list[Entry]) -> list[Entry]:
    """Return the entries of the branch that are in the context, the compaction first."""
    compaction = latest_compaction(branch)
    if compaction is None or compaction.boundary is None:
        return branch
    # By id, as Pi looks for it: an entry with the same id further up would be taken instead.
    place = next(i for i, entry in enumerate(branch) if entry.id == compaction.id)
    kept: list[Entry] = [compaction]
    found = False
    for entry in branch[:place]:
        found = found or entry.id == compaction.boundary.target
        if found and not (entry.type == "message" and entry.role == "system"):
            kept.append(entry)
    return kept + branch[place + 1 :]


def edits(entries: list[Entry]) -> dict[Any, Entry]:
    """Return the edit that applies to each target: of several, the latest."""
    return {
        entry.edit.target: entry
        for entry in entries
        if entry.type == "context_edit" and entry.edit is not None
    }


def edit_of(entry: Entry, by_target: dict[Any, Entry]) -> Edit | None:
    """Return what is done to an entry before it is sent."""
    found = by_target.get(entry.id)
    return found.edit if found else None


def projection(session: Session, tree: Tree) -> list[Item]:
    """Return the context with its messages; raise PiThrowsError where Pi does.

    Raise CycleError where Pi hangs. Every entry of the context is read again from the file.
    """
    branch = tree.branch
    _check_settings(session, branch)
    entries = context_entries(branch)
    by_target = edits(entries)
    rename = to_number(session.version) < CURRENT_VERSION
    values = session.values(entries)
    replacements = {
        target: session.value(edit).get("replacement", UNDEFINED)
        for target, edit in by_target.items()
    }
    items = []
    for index, (entry, value) in enumerate(zip(entries, values, strict=True)):
        if entry.type == "compaction" and index > 0:
            items.append(Item(entry, []))
            continue
        messages = _messages(entry, value, rename=rename)
        if entry.id in replacements:
            messages = _edited(messages, replacements[entry.id])
        items.append(Item(entry, messages))
    return items


def _check_settings(session: Session, branch: list[Entry]) -> None:
    """Raise PiThrowsError where Pi's reading of the settings meets a message that is none."""
    for entry in branch:
        if entry.type == "message" and entry.message is None and entry.odd:
            get(get(session.value(entry), "message"), "role")


def _messages(entry: Entry, value: Any, *, rename: bool) -> list[Any]:
    if entry.type == "message":
        message = get(value, "message")
        role = get(message, "role")
        if rename and role == "hookMessage":
            message = {**message, "role": "custom"}
        if role == "system" and is_nullish(get(message, "content")):
            return [{**message, "content": ""}]
        if role in ("user", "assistant", "toolResult") and is_nullish(get(message, "content")):
            return [{**message, "content": []}]
        return [message]
    if entry.type == "custom_message":
        content = get(value, "content")
        return [{"role": "custom", "content": [] if is_nullish(content) else content}]
    summary = get(value, "summary")
    if entry.type == "branch_summary" and is_truthy(summary):
        return [{"role": "branchSummary", "summary": summary}]
    if entry.type == "compaction":
        message = {"role": "compactionSummary", "summary": summary}
        system = get(value, "systemMessage")
        return [system, message] if is_truthy(system) else [message]
    return []


def _edited(messages: list[Any], replacement: Any) -> list[Any]:
    if replacement is None:
        return []
    return [_replaced(message, replacement) for message in messages]


def _replaced(message: Any, replacement: Any) -> Any:
    role = get(message, "role")
    if role not in _EDITABLE:
        return message
    content = get(replacement, "content")
    if role in ("assistant", "toolResult") and isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def wire(messages: list[Any]) -> list[dict[str, Any]]:
    """Return the messages of the request, made-up results included; raise PiThrowsError as Pi.

    Each is given by its role, and a tool result by its call and whether it is an error.
    """
    sent: list[dict[str, Any]] = []
    pending: list[Any] = []
    answered: set[Any] = set()
    held: list[dict[str, Any]] = []

    def close() -> None:
        sent.extend(
            {"role": "toolResult", "toolCallId": call_id, "isError": True}
            for call_id in pending
            if identity(call_id) not in answered
        )
        pending.clear()
        answered.clear()
        sent.extend(held)
        held.clear()

    for role, message in list(_converted(messages)):
        if role == "assistant":
            calls = _tool_calls(message)
            close()
            if get(message, "stopReason") in NOT_SENT:
                continue
            if calls:
                pending[:] = calls
            sent.append({"role": role})
        elif role == "toolResult":
            call_id = get(message, "toolCallId")
            answered.add(identity(call_id))
            sent.append({"role": role, "toolCallId": call_id, "isError": get(message, "isError")})
        elif role == "system":
            (held if pending else sent).append({"role": role})
        else:
            close()
            sent.append({"role": role})
    close()
    return sent


def _converted(messages: list[Any]) -> Iterator[tuple[str, Any]]:
    """Give each message with the role that it has on the wire; other roles are left out."""
    for message in messages:
        role = get(message, "role")
        if role == "bashExecution":
            if not is_truthy(get(message, "excludeFromContext")):
                yield "user", UNDEFINED
        elif role in ("custom", "branchSummary", "compactionSummary"):
            yield "user", UNDEFINED
        elif role in ("system", "user", "assistant", "toolResult"):
            yield role, message


def _tool_calls(message: Any) -> list[Any]:
    """Return the ids of the calls in a reply; raise PiThrowsError where its content is no list."""
    content = get(message, "content")
    if is_nullish(content):
        return []
    if not isinstance(content, list):
        raise PiThrowsError("assistantMsg.content.flatMap is not a function")
    # `flatMap` takes a block that is an array apart, and looks at what is in it.
    flat = [block for outer in content for block in (outer if isinstance(outer, list) else [outer])]
    return [get(block, "id") for block in flat if get(block, "type") == "toolCall"]


def message_text(message: Any) -> str:
    """Return the text of a message: its blocks by line, calls as `[NAME ID]`, others by type."""
    if not isinstance(message, dict):
        return ""
    role = message.get("role")
    if role in ("branchSummary", "compactionSummary"):
        summary = message.get("summary")
        return summary if isinstance(summary, str) else ""
    if role == "bashExecution":
        command = message.get("command")
        return command if isinstance(command, str) else ""
    return content_text(message.get("content"))


def content_text(content: Any) -> str:
    """Return the text of a content: the text itself, or its blocks joined by line ends."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(_block_text(block) for block in content)


def _block_text(block: Any) -> str:
    if not isinstance(block, dict):
        return "[undefined]"
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return text if isinstance(text, str) else ""
    if kind == "toolCall":
        return f"[{to_text(get(block, 'name'))} {to_text(get(block, 'id'))}]"
    return f"[{to_text(get(block, 'type'))}]"


def tool_names(tools: object) -> list[str]:
    """Return the names in `toolsAdded` or `toolsRemoved` of a system message, of any shape."""
    found = tools if isinstance(tools, list) else []
    names = [tool.get("name") for tool in found if isinstance(tool, dict)]
    return [name for name in names if isinstance(name, str)]

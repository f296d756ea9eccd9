"""Pi's account of a session as one object: what `pi-diagnose context` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diagnose.sessions.context import message_text, projection, wire
from diagnose.sessions.javascript import (
    UNDEFINED,
    WHITESPACE,
    PiThrowsError,
    get,
    to_number,
)
from diagnose.sessions.reading import CURRENT_VERSION, read_session
from diagnose.sessions.tree import CycleError, Tree
from diagnose.sessions.usage import totals

if TYPE_CHECKING:
    from pathlib import Path

    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session


def account(path: Path, shown: str) -> dict[str, Any]:
    """Return the account of a file, `shown` being its name in it.

    `error` says why Pi refuses, throws or hangs, and then stands alone. Raise UnreadableError where
    there is nothing to read.
    """
    session = read_session(path)
    tree = Tree(session)
    try:
        if session.refusal is not None or session.header is None:
            reason = session.refusal.reason if session.refusal else "there is no header"
            return {"file": shown, "error": f"Pi refuses the file: {reason}"}
        return _account(session, tree, shown)
    except CycleError as error:
        return {"file": shown, "error": str(error)}
    except PiThrowsError as error:
        return {"file": shown, "error": f"Pi throws on the file: {error}"}


def _account(session: Session, tree: Tree, shown: str) -> dict[str, Any]:
    assert session.header is not None  # noqa: S101 (the caller has looked)
    header = dict(session.header.value)
    if to_number(session.version) < CURRENT_VERSION:
        header["version"] = CURRENT_VERSION
    items = projection(session, tree)
    messages = [message for item in items for message in item.messages]
    leaf = tree.leaf
    return {
        "file": shown,
        "error": None,
        "header": header,
        "leaf": leaf.entry_id if leaf else None,
        "leaf_line": leaf.line if leaf else None,
        "entries": len(tree.by_id),
        "name": session_name(session),
        **_settings(session, tree.branch),
        "branch": [_place(entry) for entry in tree.shown_branch],
        "context": [
            {
                **_place(item.entry),
                "type": item.entry.type,
                "messages": [
                    {"role": _json(get(message, "role")), "text": message_text(message)}
                    for message in item.messages
                ],
            }
            for item in items
        ],
        "wire": [{name: _json(value) for name, value in sent.items()} for sent in wire(messages)],
        "stats": totals(session),
    }


def _place(entry: Entry) -> dict[str, Any]:
    return {"line": entry.line, "entry": entry.entry_id}


def _json(value: Any) -> Any:
    return None if value is UNDEFINED else value


def session_name(session: Session) -> str | None:
    """Return the name that `/name` gave last; None where it was cleared or never given.

    A name that is no text makes Pi throw; it is None here too.
    """
    for entry in reversed(session.entries):
        if entry.type == "session_info":
            name = get(session.value(entry), "name")
            return name.strip(WHITESPACE) or None if isinstance(name, str) else None
    return None


def _settings(session: Session, branch: list[Entry]) -> dict[str, Any]:
    """Return model and thinking level as the branch leaves them."""
    level: Any = "off"
    model: dict[str, Any] | None = None
    level_entry = model_entry = None
    for entry in branch:
        if entry.type == "thinking_level_change":
            level_entry = entry
        elif entry.type == "model_change" or entry.role == "assistant":
            model_entry = entry
    if level_entry is not None:
        level = _json(get(session.value(level_entry), "thinkingLevel"))
    if model_entry is not None and model_entry.message is not None:
        message = model_entry.message
        model = {"provider": _json(message.provider), "modelId": _json(message.model)}
    elif model_entry is not None:
        value = session.value(model_entry)
        model = {
            "provider": _json(get(value, "provider")),
            "modelId": _json(get(value, "modelId")),
        }
    return {"model": model, "thinkingLevel": level}

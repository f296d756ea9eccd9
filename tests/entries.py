"""Entries as Pi writes them, short enough to read in a test; see `tests/rules/conftest.py`.

Times are given as `yesterday(5)`, `today(5)`: 09:05 UTC on 20 and 21 October 2026.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

NOW = "2026-10-21T10:00:00Z"
_NONE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
USAGE = {**_NONE, "input": 10, "output": 5, "totalTokens": 15, "cost": {**_NONE, "total": 0}}

Json = dict[str, Any]


def on(day: str, minute: float = 0) -> str:
    """Return a time on a day, minutes after 09:00 UTC."""
    seconds = round(minute * 60)
    return f"{day}T{9 + seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000Z"


def yesterday(minute: float = 0) -> str:
    return on("2026-10-20", minute)


def today(minute: float = 0) -> str:
    return on("2026-10-21", minute)


def entry(kind: str, id_: str, at: str, /, **fields: Any) -> Json:
    """Return an entry of any type; its parent is filled in by `chain` unless given."""
    # In the order in which Pi writes them: what is torn off a line is its end.
    parent = {"parentId": fields.pop("parentId")} if "parentId" in fields else {}
    return {"type": kind, "id": id_, **parent, "timestamp": at, **fields}


def _milliseconds(at: str) -> int:
    return round(datetime.fromisoformat(at).timestamp() * 1000) if at else 0


def user(id_: str, at: str, text: Any = "Check it", /, **fields: Any) -> Json:
    message = {"role": "user", "content": text, "timestamp": _milliseconds(at)}
    return entry("message", id_, at, message=message, **fields)


def assistant(
    id_: str,
    at: str,
    text: str = "Done.",
    /,
    calls: tuple[tuple[str, str, Json], ...] = (),
    message: Json | None = None,
    **fields: Any,
) -> Json:
    """Return a reply; each call is (its id, the tool, the arguments)."""
    content: list[Json] = [{"type": "text", "text": text}]
    content += [{"type": "toolCall", "id": c, "name": n, "arguments": a} for c, n, a in calls]
    whole: Json = {
        "role": "assistant",
        "content": content,
        "api": "faux",
        "provider": "faux",
        "model": "faux-1",
        "usage": USAGE,
        "stopReason": "toolUse" if calls else "stop",
        "timestamp": _milliseconds(at),
        **(message or {}),
    }
    return entry("message", id_, at, message=whole, **fields)


def result(
    id_: str,
    at: str,
    call: str,
    text: str = "ok",
    /,
    message: Json | None = None,
    **fields: Any,
) -> Json:
    """Return a bash result; `message` adds to the message or takes the place of its fields."""
    whole: Json = {
        "role": "toolResult",
        "toolCallId": call,
        "toolName": "bash",
        "isError": False,
        "content": [{"type": "text", "text": text}],
        "timestamp": _milliseconds(at),
        **(message or {}),
    }
    return entry("message", id_, at, message=whole, **fields)


def chain(*entries: Json, parent: str | None = None) -> list[Json]:
    """Hang each entry on the one before it, the first on `parent`; a given parent stays."""
    hung = []
    for one in entries:
        hung.append({"type": one["type"], "id": one["id"], "parentId": parent, **one})
        parent = one["id"]
    return hung

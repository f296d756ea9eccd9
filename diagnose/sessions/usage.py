"""The ledger: tokens and cost of every request that the file records, on all branches.

Pi 1.6.0, core/agent-session.js `getSessionStats`: what `/session` shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diagnose.sessions.javascript import PiThrowsError, add, get, is_truthy

if TYPE_CHECKING:
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session

_TOKENS = ("input", "output", "cacheRead", "cacheWrite")


def totals(session: Session) -> dict[str, Any] | None:
    """Return the counts and totals of `/session`; None where Pi throws on working them out.

    Tokens are tokens, `cost` is in US dollars as the provider or the model's price list gave it.
    """
    sums: dict[str, Any] = dict.fromkeys((*_TOKENS, "cost"), 0)
    counts = dict.fromkeys(("user", "assistant", "toolResult"), 0)
    calls = messages = 0
    try:
        for entry in session.entries:
            if entry.odd:
                calls += _add_odd(entry, session.value(entry), sums)
            elif entry.usage is not None:
                usage = entry.usage
                fields = (
                    usage.input,
                    usage.output,
                    usage.cache_read,
                    usage.cache_write,
                    usage.cost,
                )
                for name, value in zip(sums, fields, strict=True):
                    sums[name] = add(sums[name], value)
            if entry.type != "message":
                continue
            messages += 1
            if entry.role in counts:
                counts[entry.role] += 1
            if entry.message is not None and not entry.odd:
                calls += len(entry.message.calls)
    except PiThrowsError:
        return None
    total = sums["input"]
    for name in _TOKENS[1:]:
        total = add(total, sums[name])
    return {
        "userMessages": counts["user"],
        "assistantMessages": counts["assistant"],
        "toolCalls": calls,
        "toolResults": counts["toolResult"],
        "totalMessages": messages,
        "tokens": {**{name: sums[name] for name in _TOKENS}, "total": total},
        "cost": sums["cost"],
    }


def _add_odd(entry: Entry, value: Any, sums: dict[str, Any]) -> int:
    """Add the usage of an entry of unexpected shape as JavaScript would; return its tool calls."""
    calls = 0
    if entry.type == "usage":
        _add(get(value, "usage"), sums)
    elif entry.type in ("branch_summary", "compaction"):
        if is_truthy(get(value, "usage")):
            _add(get(value, "usage"), sums)
    elif entry.type == "message":
        message = get(value, "message")
        role = get(message, "role")
        if role == "toolResult" and is_truthy(get(message, "usage")):
            _add(get(message, "usage"), sums)
        elif role == "assistant":
            content = get(message, "content")
            if isinstance(content, list):
                calls = sum(get(block, "type") == "toolCall" for block in content)
            _add(get(message, "usage"), sums)
    return calls


def _add(usage: Any, sums: dict[str, Any]) -> None:
    for name in _TOKENS:
        sums[name] = add(sums[name], get(usage, name))
    sums["cost"] = add(sums["cost"], get(get(usage, "cost"), "total"))

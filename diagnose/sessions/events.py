"""A capture of `pi --mode json` or of RPC mode: compactions, retries and tool executions.

Pi 1.6.0, docs/json.md. A capture may be cut off anywhere, and holds what the session file does not:
the reason of a compaction, the estimate of its tokens after, and tools that began and never ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from diagnose.evidence import UnreadableError, open_evidence, reason_of
from diagnose.sessions.javascript import parse_line
from diagnose.sessions.reading import split_lines

if TYPE_CHECKING:
    from pathlib import Path


class CapturedCompaction(msgspec.Struct):
    """A compaction that was begun; lines count from 1, tokens are Pi's own counts."""

    line: int
    reason: str | None
    end_line: int | None = None
    aborted: bool = False
    error: str | None = None
    first_kept: str | None = None
    tokens_before: float | None = None
    tokens_after: float | None = None
    will_retry: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it ended with a result."""
        return self.end_line is not None and not self.aborted and self.error is None


class Execution(msgspec.Struct):
    """A tool that was begun; without `end_line` the capture never saw its end."""

    line: int
    call_id: str
    tool: str
    arguments: dict[str, Any]
    end_line: int | None = None
    is_error: bool = False


class Capture(msgspec.Struct):
    """What a capture says; `session_id` is None in RPC mode, which writes no header."""

    path: Path
    session_id: str | None = None
    cwd: str | None = None
    lines: int = 0
    unreadable: list[int] = msgspec.field(default_factory=list)
    compactions: list[CapturedCompaction] = msgspec.field(default_factory=list)
    executions: list[Execution] = msgspec.field(default_factory=list)
    # (line, attempt, of how many, what had failed)
    retries: list[tuple[int, float | None, str]] = msgspec.field(default_factory=list)
    settled: bool = False
    events: int = 0


def read_events(path: Path) -> Capture:
    """Read a capture; raise UnreadableError where there is no file to read."""
    capture = Capture(path)
    open_executions: dict[str, Execution] = {}
    try:
        with open_evidence(path) as file:
            for _, line, _ in split_lines(file):
                capture.lines += 1
                if not line.strip():
                    continue
                try:
                    event = parse_line(line)
                except ValueError:
                    capture.unreadable.append(capture.lines)
                    continue
                if isinstance(event, dict):
                    _take(capture, event, open_executions)
    except OSError as error:
        raise UnreadableError(path, reason_of(error)) from error
    return capture


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _take(capture: Capture, event: dict[str, Any], running: dict[str, Execution]) -> None:
    kind = event.get("type")
    line = capture.lines
    capture.events += kind != "session"
    if kind == "session" and capture.session_id is None:
        capture.session_id, capture.cwd = _text(event.get("id")), _text(event.get("cwd"))
    elif kind == "compaction_start":
        capture.compactions.append(CapturedCompaction(line, _text(event.get("reason"))))
    elif kind == "compaction_end":
        _end_compaction(capture, event)
    elif kind == "tool_execution_start":
        call_id = _text(event.get("toolCallId"))
        found = event.get("args")
        arguments = found if isinstance(found, dict) else {}
        if call_id is not None:
            execution = Execution(line, call_id, _text(event.get("toolName")) or "?", arguments)
            capture.executions.append(execution)
            running[call_id] = execution
    elif kind == "tool_execution_end":
        ended = running.pop(_text(event.get("toolCallId")) or "", None)
        if ended is not None:
            ended.end_line, ended.is_error = line, event.get("isError") is True
    elif kind in ("auto_retry_start", "summarization_retry_scheduled"):
        what = _text(event.get("errorMessage")) or "an error that is not named"
        capture.retries.append((line, _number(event.get("attempt")), what))
    elif kind == "agent_settled":
        capture.settled = True
    elif kind == "agent_start":
        capture.settled = False


def _end_compaction(capture: Capture, event: dict[str, Any]) -> None:
    pending = capture.compactions[-1] if capture.compactions else None
    if pending is None or pending.end_line is not None:
        # The capture begins after the compaction did.
        pending = CapturedCompaction(capture.lines, _text(event.get("reason")))
        capture.compactions.append(pending)
    pending.end_line = capture.lines
    pending.reason = pending.reason or _text(event.get("reason"))
    pending.will_retry = event.get("willRetry") is True
    result = event.get("result")
    if isinstance(result, dict):
        pending.first_kept = _text(result.get("firstKeptEntryId"))
        pending.tokens_before = _number(result.get("tokensBefore"))
        pending.tokens_after = _number(result.get("estimatedTokensAfter"))
    else:
        pending.aborted = event.get("aborted") is True
        if not pending.aborted:
            pending.error = _text(event.get("errorMessage")) or "no message"

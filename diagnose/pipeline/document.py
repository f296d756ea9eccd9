"""The finished report as one value, of the shape in schemas/report.schema.json."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from diagnose import __version__
from diagnose.evidence import UnreadableError, open_evidence
from diagnose.pipeline.finding import LAYERS, Finding, Layer, Level, Remedy
from diagnose.pipeline.walk import Outcome, level_of, worst

if TYPE_CHECKING:
    from diagnose.pipeline.case import Case
    from diagnose.pipeline.verdict import Verdict
    from diagnose.sessions.reading import Session

_BLOCK: Final = 1024 * 1024


def document(
    case: Case,
    outcomes: list[Outcome],
    verdict: Verdict,
    now: datetime,
    *,
    digests: bool = True,
) -> dict[str, Any]:
    """Return the report; everything in it can be written as JSON.

    Without `digests`, which a text does not show, no file is read again for them.
    """
    findings = [_finding(outcome, finding) for outcome in outcomes for finding in outcome.findings]
    return {
        "schema": 1,
        "tool": {"name": "pi-diagnose", "version": __version__},
        "created": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "question": _question(case),
        "subject": _subject(case, digests),
        "layers": [_layer(case, layer, outcomes) for layer in LAYERS],
        "verdict": {
            "kind": verdict.kind,
            "layer": verdict.layer,
            "rule": verdict.rule,
            "summary": verdict.summary,
            "next": [_remedy(remedy) for remedy in verdict.next],
        },
        "findings": findings,
        "checks": [
            {"rule": one.rule.code, "outcome": one.outcome, "reason": one.reason}
            for one in outcomes
        ],
        "evidence": _hashes(case, outcomes) if digests else [],
        "redactions": 0,
    }


def _question(case: Case) -> dict[str, Any]:
    question = case.question
    return {
        "text": question.text,
        "kind": question.kind,
        "day": question.day.isoformat() if question.day else None,
        "day_asked": question.day_asked.isoformat() if question.day_asked else None,
        "about": question.about,
    }


def _subject(case: Case, digests: bool) -> dict[str, Any] | None:
    session = case.session
    if session is None:
        return None
    leaf = session.entries[-1] if session.entries else None
    number = session.version
    return {
        "path": str(session.path),
        "id": session.id,
        "cwd": session.cwd,
        "version": number if isinstance(number, int) else None,
        "entries": len(session.entries),
        "lines": session.lines,
        "bytes": session.size,
        "sha256": session.sha256 if digests else None,
        "leaf": leaf.entry_id if leaf else None,
        "leaf_line": leaf.line if leaf else None,
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {"text": remedy.text, "command": remedy.command}


def _finding(outcome: Outcome, finding: Finding) -> dict[str, Any]:
    rule = outcome.rule
    return {
        "rule": rule.code,
        "name": rule.name,
        "layer": rule.layer,
        "level": level_of(rule, finding),
        "message": finding.message,
        "evidence": [
            {
                "path": piece.path,
                "line": piece.line,
                "entry": piece.entry,
                "commit": piece.commit,
                "quote": piece.quote,
            }
            for piece in finding.evidence
        ],
        "remedy": [_remedy(remedy) for remedy in finding.remedy],
    }


def _layer(case: Case, layer: Layer, outcomes: list[Outcome]) -> dict[str, Any]:
    """Return how a layer stands: the gravest finding of it, or that it could not be looked at."""
    own = [outcome for outcome in outcomes if outcome.rule.layer == layer]
    levels: dict[str, Level] = {}
    for outcome in own:
        level = worst(level_of(outcome.rule, finding) for finding in outcome.findings)
        if level is not None:
            levels[f"{outcome.rule.code} {outcome.rule.name}"] = level
    gravest = worst(levels.values())
    if gravest in ("error", "warning"):
        names = [name for name, level in levels.items() if level == gravest]
        return {"layer": layer, "status": gravest, "summary": ", ".join(names)}
    unsure = [outcome for outcome in own if outcome.is_doubt]
    # A rule that was given nothing to look at, such as a capture, has not looked either.
    if all(outcome.reason is not None for outcome in own):
        reasons = [outcome.reason for outcome in (*unsure, *own)]
        reason = reasons[0] if reasons else "no rule of this layer was asked"
        return {"layer": layer, "status": "skipped", "summary": reason or ""}
    summary = case.standing_of(layer)
    if unsure:
        summary += f"; not looked at: {', '.join(outcome.rule.code for outcome in unsure)}"
    return {"layer": layer, "status": gravest or "ok", "summary": summary}


def _hashes(case: Case, outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return size and digest of every file that a finding cites, and of the session itself."""
    sessions = list(case.read_sessions())
    known: dict[str, Session] = {str(session.path): session for session in sessions}
    cited = [str(case.session.path)] if case.session else []
    cited += [
        piece.path
        for outcome in outcomes
        for finding in outcome.findings
        for piece in finding.evidence
        if piece.commit is None
    ]
    found = []
    for path in dict.fromkeys(cited):
        if path in known:
            session = known[path]
            with suppress(UnreadableError):
                found.append({"path": path, "bytes": session.size, "sha256": session.sha256})
        elif (digest := _digest(Path(path))) is not None:
            found.append({"path": path, "bytes": digest[0], "sha256": digest[1]})
    return found


def _digest(path: Path) -> tuple[int, str] | None:
    """Return (bytes, digest) of a regular file; None for a folder or what cannot be read."""
    digest, size = hashlib.sha256(), 0
    try:
        with open_evidence(path) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
    except (UnreadableError, OSError):
        return None
    return size, digest.hexdigest()

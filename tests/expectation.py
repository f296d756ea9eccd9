"""What a recorded answer asks of a report: the `expect` of `schemas/case.schema.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema_rs
from diagnose.schemas import schema

if TYPE_CHECKING:
    from command import Ran

_ORDER = ["note", "warning", "error"]


def fulfil(ran: Ran, expected: dict[str, Any]) -> None:
    """Assert that a run of the command with `--format json` gave what is expected of it."""
    report = ran.report
    jsonschema_rs.validate(schema("report"), report)
    found = [dict(finding) for finding in report["findings"]]
    loud = [(one["rule"], one["message"]) for one in found if one["level"] != "note"]

    assert report["verdict"]["kind"] == expected["verdict"], loud
    assert report["verdict"]["layer"] == expected["layer"], loud
    assert ran.status == expected["exit"], loud
    for wanted in expected["must_find"]:
        fitting = [
            finding
            for finding in found
            if finding["rule"] == wanted["rule"]
            and finding["level"] == wanted["level"]
            and all(text in finding["message"] for text in wanted.get("says", []))
            and all(_cites(finding, piece) for piece in wanted.get("cites", []))
        ]
        near = [finding for finding in found if finding["rule"] == wanted["rule"]]
        assert fitting, f"{wanted['rule']}: {wanted['why']}\nfound instead: {near}"
    for unwanted in expected["must_not_find"]:
        least = _ORDER.index(unwanted.get("level", "note"))
        wrong = [
            finding
            for finding in found
            if finding["rule"].startswith(unwanted["rule"])
            and _ORDER.index(finding["level"]) >= least
        ]
        assert not wrong, f"{unwanted['rule']}: {unwanted['why']}\nfound: {wrong}"
    failed = [check for check in report["checks"] if check["outcome"] == "failed"]
    assert failed == []


def _cites(finding: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Tell whether a finding has a piece of evidence: a path by its end, a commit by its start."""
    return any(
        all(
            str(piece[key] or "").endswith(value)
            if key == "path"
            else str(piece[key] or "").startswith(value)
            if key == "commit"
            else value in (piece[key] or "")
            if key == "quote"
            else piece[key] == value
            for key, value in wanted.items()
        )
        for piece in finding["evidence"]
    )

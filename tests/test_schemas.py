"""The schemas: valid themselves, met by what Pi wrote, and clear about what does not fit."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from diagnose.schemas import schema
from jsonschema import Draft202012Validator

WRONG = json.loads((Path(__file__).parent / "data" / "wrong_entries.json").read_text("utf-8"))
SESSIONS = sorted(Path(str(files("diagnose.casefiles"))).rglob("*.jsonl"))


@pytest.mark.parametrize("name", ["entry", "report", "case"])
def test_a_schema_is_itself_valid(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


def test_every_entry_that_pi_wrote_fits() -> None:
    fast = jsonschema_rs.Draft202012Validator(schema("entry"))
    slow = Draft202012Validator(schema("entry"))
    sessions = [path for path in SESSIONS if ".events." not in path.name]
    assert len(sessions) > 20
    for path in sessions:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            entry = json.loads(line)
            assert fast.is_valid(entry), f"{path.name}, line {number}"
            assert slow.is_valid(entry), f"{path.name}, line {number}"


@pytest.mark.parametrize("case", WRONG, ids=[case["why"] for case in WRONG])
def test_a_wrong_entry_is_refused_at_its_place(case: dict[str, Any]) -> None:
    """By both: the one that decides, and the one that explains."""
    entry = {"id": "a", "parentId": None, "timestamp": "2026-10-20T14:35:54.217Z", **case["entry"]}
    fast = jsonschema_rs.Draft202012Validator(schema("entry"))
    slow = Draft202012Validator(schema("entry"))
    assert [list(error.instance_path) for error in fast.iter_errors(entry)] == [case["path"]]
    assert [list(error.path) for error in slow.iter_errors(entry)] == [case["path"]]


@pytest.mark.parametrize("line", [42, "text", [], True])
def test_a_line_that_is_no_object_is_one_error(line: object) -> None:
    """Told twice, it would be reported as two entries that are wrong in one way."""
    fast = jsonschema_rs.Draft202012Validator(schema("entry"))
    slow = Draft202012Validator(schema("entry"))
    assert [list(error.instance_path) for error in fast.iter_errors(line)] == [[]]
    assert [list(error.path) for error in slow.iter_errors(line)] == [[]]


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "label", "targetId": "b"},
        {"type": "session_info"},
        {"type": "context_edit", "targetId": "b", "replacement": None},
        {"type": "message", "message": {"role": "user", "content": "a text"}},
        {"type": "message", "message": {"role": "hookMessage", "content": "a text"}},
        {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": ""}},
        {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 3, "tokensBefore": 1},
        {"type": "branch_summary", "summary": "s", "fromId": "root"},
        {"type": "session", "cwd": "/w"},
    ],
)
def test_what_older_releases_leave_out_is_no_error(entry: dict[str, Any]) -> None:
    base = {"id": "a", "parentId": None, "timestamp": "2026-10-20T14:35:54.217Z"}
    assert jsonschema_rs.is_valid(schema("entry"), {**base, **entry})


@pytest.mark.parametrize(
    "entry",
    [
        {"type": "future_entry", "anything": [1]},
        {"type": "message", "message": {"role": "narrator", "content": 7}},
        {"type": "message", "message": {"role": "user", "content": [{"type": "video"}]}},
        {"type": "label", "targetId": "b", "colour": "red"},
    ],
)
def test_what_extensions_and_later_releases_add_is_no_error(entry: dict[str, Any]) -> None:
    base = {"id": "a", "parentId": None, "timestamp": "2026-10-20T14:35:54.217Z"}
    assert jsonschema_rs.is_valid(schema("entry"), {**base, **entry})

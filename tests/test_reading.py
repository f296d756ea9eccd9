"""Any bytes at all are read without an exception, and offsets give back the lines."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diagnose.evidence import UnreadableError
from diagnose.sessions.account import account
from diagnose.sessions.javascript import WHITESPACE, parse_line
from diagnose.sessions.reading import read_session
from diagnose.sessions.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path

HEADER = (
    b'{"type":"session","version":3,"id":"s","timestamp":"2026-10-20T14:35:54.217Z","cwd":"/w"}'
)

_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["a", "b", "c", "message", "compaction", "context_edit", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "id",
                    "parentId",
                    "timestamp",
                    "message",
                    "role",
                    "content",
                    "usage",
                    "cost",
                    "toolCallId",
                    "targetId",
                    "replacement",
                    "firstKeptEntryId",
                    "summary",
                    "systemMessage",
                    "stopReason",
                    "name",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)
_line = (
    _json.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=40)
    | st.sampled_from([b"", b"\r", b"null", b"42", b"[]", b"\0\0", b"\xef\xbb\xbf", HEADER])
)
_files = st.lists(_line, max_size=12).map(b"\n".join)
_quick = settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_quick
@given(data=_files | _files.map(lambda rest: HEADER + b"\n" + rest))
def test_any_bytes_are_read_and_offsets_give_back_the_lines(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(data)
    session = read_session(path)
    lines = data.split(b"\n")
    assert session.size == len(data)
    assert session.sha256 == hashlib.sha256(data).hexdigest()
    assert read_session(path, digested=True).sha256 == session.sha256
    assert session.lines == len(lines) - (lines[-1] == b"")
    for entry in session.entries:
        line = lines[entry.line - 1]
        assert session.raw(entry.offset, entry.length) == line
        assert session.value(entry) == parse_line(line)
    for skipped in session.skipped:
        assert session.raw(skipped.offset, skipped.length) == lines[skipped.line - 1]
    # Each line is an entry, a header, skipped with a reason, or blank: none is lost.
    told = {entry.line for entry in session.entries} | {s.line for s in session.skipped}
    told |= set(session.extra_headers) | ({session.header.line} if session.header else set())
    for number, line in enumerate(lines, 1):
        blank = not line.decode("utf-8", "replace").strip(WHITESPACE)
        assert (number in told) != blank


@_quick
@given(data=_files.map(lambda rest: HEADER + b"\n" + rest))
def test_any_entries_give_an_account_or_say_why_pi_gives_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(data)
    told = account(path, "any.jsonl")
    assert told["error"] is None or told["error"].startswith(("Pi ", "the parents"))
    if told["error"] is None:
        assert {item["line"] for item in told["branch"]} <= set(range(1, data.count(b"\n") + 2))


@_quick
@given(parents=st.lists(st.integers(min_value=0, max_value=9), min_size=1, max_size=10))
def test_every_cycle_is_found_and_none_is_followed_for_ever(
    tmp_path: Path, parents: list[int]
) -> None:
    """Entry i hangs on entry parents[i]; with more parents than entries some are missing."""
    entries = [
        {"type": "custom", "id": str(i), "parentId": str(parent)}
        for i, parent in enumerate(parents)
    ]
    path = tmp_path / "cycle.jsonl"
    path.write_bytes(b"\n".join([HEADER, *(json.dumps(entry).encode() for entry in entries)]))
    found = {entry.entry_id for cycle in Tree(read_session(path)).cycles for entry in cycle}

    def leads_back(start: int) -> bool:
        here = parents[start]
        for _ in parents:
            if here == start:
                return True
            if here >= len(parents):
                return False
            here = parents[here]
        return False

    assert found == {str(i) for i in range(len(parents)) if leads_back(i)}


@pytest.mark.parametrize("line", ["x" * 3_000_000, "é" * 1_500_000])
def test_a_line_longer_than_the_buffer_is_one_line(tmp_path: Path, line: str) -> None:
    entry = {"type": "custom", "id": "a", "parentId": None, "data": line}
    path = tmp_path / "long.jsonl"
    path.write_text(HEADER.decode() + "\n" + json.dumps(entry, ensure_ascii=False) + "\n", "utf-8")
    session = read_session(path)
    assert session.lines == 2
    assert session.value(session.entries[0]) == entry


def test_a_folder_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="it is a folder"):
        read_session(tmp_path)


def test_the_digest_of_a_file_that_is_shorter_by_now_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(HEADER + b"\nnull\n")
    session = read_session(path)
    path.write_bytes(HEADER)
    with pytest.raises(UnreadableError, match="it changed while it was examined"):
        _ = session.sha256


def test_the_digest_is_of_what_was_read_whatever_was_appended_since(tmp_path: Path) -> None:
    path = tmp_path / "longer.jsonl"
    path.write_bytes(HEADER)
    session = read_session(path)
    path.write_bytes(HEADER + b"\nnull\n")
    assert session.sha256 == hashlib.sha256(HEADER).hexdigest()

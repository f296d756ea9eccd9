"""A long line read without its texts is the same entry, and refused where Pi refuses it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.sessions import skimming
from diagnose.sessions.entry import read_entry
from diagnose.sessions.javascript import parse_line
from diagnose.sessions.skimming import skim

LONG = "x" * 2_000
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
BLOCKS = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "image"]) | VALUES},
    optional={"text": st.text() | VALUES, "data": st.text() | VALUES, "mimeType": VALUES},
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.just("toolResult")},
    optional={
        "toolCallId": st.text() | VALUES,
        "toolName": VALUES,
        "content": st.lists(BLOCKS | VALUES, max_size=3) | VALUES,
        "isError": VALUES,
        "timestamp": VALUES,
        "durationMs": VALUES,
        "details": VALUES,
        "usage": VALUES,
        "nestedCalls": VALUES,
    },
)


def _line(message: Any, **fields: Any) -> bytes:
    entry = {"type": "message", "id": "a1", "parentId": None, "timestamp": "-", **fields}
    value = {**entry, "message": message}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _result(text: Any = LONG, **fields: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    known = {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": content}
    return {**known, "isError": False, **fields}


def _emptied(value: Any) -> Any:
    """Return what a value is without the texts of its blocks and its details."""
    message = value["message"]
    content = message["content"]
    for block in content if isinstance(content, list) else []:
        for name in ("text", "data"):
            if isinstance(block, dict) and isinstance(block.get(name), str):
                block[name] = ""
    return {**value, "message": {**message, **({"details": None} if "details" in message else {})}}


def test_the_long_text_of_a_result_is_left_out_and_nothing_else() -> None:
    line = _line(_result(details={"patch": "p"}, durationMs=4))
    assert skim(line)[0] == {
        "type": "message",
        "id": "a1",
        "parentId": None,
        "timestamp": "-",
        "message": {**_result(""), "details": None, "durationMs": 4},
    }


@given(MESSAGES)
def test_a_result_gives_the_same_entry_whatever_its_fields_hold(message: Any) -> None:
    """Also where a text is a number, or a field has a type that nobody expects."""
    # Blanks make it long and are no part of the value.
    line = _line(message) + b" " * len(LONG)
    skimmed, whole = skim(line)[0], parse_line(line)
    if skimmed != whole:
        assert skimmed == _emptied(whole)
    assert repr(_shape(skimmed)) == repr(_shape(parse_line(line)))


def _shape(value: Any) -> Any:
    entry = read_entry(value, 1, 0, 1)
    # An id that is an object is equal to no other, not even to itself read again.
    entry.id = entry.parent = None
    if entry.message and not isinstance(entry.message.call_id, str):
        entry.message.call_id = type(entry.message.call_id)
    return entry


@pytest.mark.parametrize(
    "damage",
    [
        (b'x"', b'x\x01"'),  # a control character
        (b'x"', b'x\\q"'),  # no escape of JSON
        (b'x"', b'x\\u12"'),
        (b'x"', b"x"),  # the text does not end
        (b"}]", b"},]"),
        (b'"isError":false', b'"isError":fals'),
        (b'"isError":false', b'"isError":01'),
        (b'"isError":false}}', b'"isError":false}'),
        (b'"isError":false}}', b'"isError":false}} {}'),
        (b'{"type":"text"', b"{'type':\"text\""),
    ],
)
def test_what_json_parse_refuses_is_refused(damage: tuple[bytes, bytes]) -> None:
    line = _line(_result())
    assert damage[0] in line
    broken = line.replace(*damage)
    with pytest.raises(ValueError, match=r"."):
        parse_line(broken)
    with pytest.raises(ValueError, match=r"."):
        skim(broken)


@pytest.mark.parametrize(
    "change",
    [
        (b'x"', b'x\xff"'),  # no UTF-8: Node reads U+FFFD there
        (b'x"', b'x\\ud83d"'),  # half of a pair
        (b'x"', b'x\xed\xa0\x80"'),
        (b'"isError":false', b'"isError":1e999'),
        (b'"isError":false', b'"isError":' + b"9" * 5000),
        (b'"isError":false', b'"isError":' + b"[" * 5000 + b"]" * 5000),
        (b'"text":"x', b'"text":42,"text":"x'),  # the later of two counts
        (b'x"}]', b'x","text":42}]'),
        (b'"role":"toolResult"', b'"role":"toolResult","role":"user"'),
    ],
)
def test_what_node_reads_is_read(change: tuple[bytes, bytes]) -> None:
    line = _line(_result())
    assert change[0] in line
    changed = line.replace(*change)
    assert repr(_shape(skim(changed)[0])) == repr(_shape(parse_line(changed)))


@pytest.mark.parametrize("text", [b"x\xff", b"x\xed\xa0\x80", b"x\\ud83d", b"\\udc00x"])
@pytest.mark.parametrize("length", [1, 4000])
def test_a_character_that_is_none_is_noticed_in_short_lines_and_long(
    text: bytes, length: int
) -> None:
    line = _line(_result("@" * length))
    assert skim(line)[1]
    assert skim(line.replace(b"@", "é".encode()))[1]
    assert not skim(line.replace(b"@", text, 1))[1]


def test_a_text_that_is_no_text_stays_to_be_seen() -> None:
    """The schema is asked of what is read: a number must not pass for a text."""
    line = _line(_result(text=[LONG]))
    assert skim(line)[0]["message"]["content"][0]["text"] == [LONG]


def test_a_field_that_is_not_known_is_not_lost() -> None:
    line = _line(_result(nestedCalls={"calls": []}))
    assert skim(line)[0]["message"]["nestedCalls"] == {"calls": []}


def test_the_fast_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the tests above would compare one reader with itself."""

    def refuse(line: bytes) -> Any:
        raise AssertionError(f"the slow way was taken for {len(line)} bytes")

    monkeypatch.setattr(skimming, "parse_line", refuse)
    assert skim(_line(_result()))[0]["id"] == "a1"

"""JSON as JavaScript reads it; each answer is what `JSON.parse` of Node 24 gives."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.sessions.javascript import UNDEFINED, add, identity, parse_line, to_number

DEPTH = 100_000


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (rb'"\ud83d"', "\ud83d"),  # a lone surrogate is legal, and Pi has written them
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (b'"\xff"', "�"),  # Node's decoder replaces before JSON.parse sees it
        (b'"\xe2\x80\xa8\xc2\x85"', "\u2028\u0085"),  # no line ends, and legal inside a string
        (b'{"a":1,"a":2}', {"a": 2}),  # the last of two keys wins
        (b"1e400", math.inf),
        (b"9" * 400, math.inf),
        (b"123456789012345678901234567890", 1.2345678901234568e29),
        (b" \t\r[1] ", [1]),
    ],
)
def test_a_line_has_the_value_that_node_gives_it(line: bytes, value: object) -> None:
    assert parse_line(line) == value


@pytest.mark.parametrize(
    "line",
    [
        b"NaN",
        b"Infinity",
        b'{"a":NaN}',
        b"\xef\xbb\xbf{}",  # a byte order mark
        b"undefined",
        b"'a'",
        b"01",
        b"1.",
        b"[1,]",
        b'"\x01"',  # a control character inside a string
        b'"\t"',
        b"\xc2\xa0[]",  # a no-break space is white space to trim, not to JSON.parse
        b"\0",
        b"",
    ],
)
def test_a_line_that_node_refuses_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (any refusal will do)
        parse_line(line)


def test_nesting_has_no_limit_as_in_v8() -> None:
    value = parse_line(b"[" * DEPTH + b"]" * DEPTH)
    depth = 0
    while value:
        value = value[0]
        depth += 1
    assert depth == DEPTH - 1


@pytest.mark.parametrize(
    "broken", ["{}[}", "[:", '{"a"', "[1 2", '{"a":1,', "[[]]]", "{1:2", '{"a" 1']
)
def test_deep_nesting_that_is_broken_is_refused(broken: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (any refusal will do)
        parse_line(b"[" * DEPTH + broken.encode() + b"]" * DEPTH)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_the_parser_for_deep_nesting_agrees_with_the_standard_one(value: object) -> None:
    text = json.dumps(value)
    wrapped = parse_line(b"[" * 5000 + text.encode() + b"]" * 5000)
    for _ in range(5000):
        (wrapped,) = wrapped
    assert wrapped == value


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("1", 1, False),
        (1, 1.0, True),
        (1, True, False),
        (None, UNDEFINED, False),
        (2**53, 2**53 + 1, True),  # both are one double
    ],
)
def test_ids_are_equal_where_a_javascript_map_holds_them_equal(
    one: object, other: object, equal: bool
) -> None:
    assert (identity(one) == identity(other)) is equal


def test_two_objects_are_never_the_same_id() -> None:
    value: dict[str, object] = {}
    assert identity(value) != identity(value)


@pytest.mark.parametrize(
    ("value", "number"),
    [("", 0), (" 2 ", 2), ("0x10", 16), (None, 0), (True, 1), ([2], 2), ("1e3", 1000)],
)
def test_a_version_of_another_type_counts_as_number_would_take_it(
    value: object, number: float
) -> None:
    assert to_number(value) == number


@pytest.mark.parametrize("value", ["x", "1_000", "٣", {}, UNDEFINED, [1, 2]])
def test_what_is_no_number_is_nan(value: object) -> None:
    assert math.isnan(to_number(value))


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [(1, 2, 3), (0, "5", "05"), (1, None, 1), (1, True, 2), (0.1, 0.2, 0.1 + 0.2)],
)
def test_totals_add_up_as_javascript_adds(left: object, right: object, total: object) -> None:
    assert add(left, right) == total

"""JSON and values as JavaScript has them: Pi is a Node program, and its files mean what Node reads.

Python's own readers are stricter here (lone surrogates, numbers of any size, deep nesting) and
laxer there (`NaN`); each difference would make the checker see another file than Pi does.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

import orjson

# What `String.prototype.trim` takes off (ECMAScript: WhiteSpace and LineTerminator). Python's
# `str.strip` knows neither U+FEFF nor stops at U+0085 and U+001C–U+001F.
WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

# A whole number of more digits is no longer exact in a double, which is all that JavaScript has.
_EXACT_DIGITS: Final = 15


_CONTAINERS: Final = frozenset({dict, list})


class _Undefined:
    """JavaScript's `undefined`: what a missing property gives. It is not `null` (None)."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()


class PiThrowsError(Exception):
    """Pi itself throws on this value; the text is the kind of message that Node gives."""


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _EXACT_DIGITS else float(digits)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_int=_number, parse_constant=_no_constant)


def parse_line(line: bytes) -> Any:
    """Return the value of one line as `JSON.parse` does; raise ValueError where it throws.

    Invalid UTF-8 becomes U+FFFD first, as Node's decoder makes it.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return parse(line.decode("utf-8", "replace"))


def parse(text: str) -> Any:
    """Return the value of a text as `JSON.parse` does; raise ValueError where it throws."""
    try:
        return _decoder.decode(text)
    except RecursionError:
        return _parse_deep(text)


_TOKEN: Final = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<mark>[{}\[\],:])
      | (?P<text>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<word>true|false|null)
    )""",
    re.VERBOSE,
)


def _parse_deep(text: str) -> Any:
    """Parse without recursion: V8 has no limit of depth, Python's reader and orjson have one."""
    # Each open container, and for an object the key that waits for its value.
    stack: list[tuple[Any, Any]] = []
    key: Any = UNDEFINED
    value: Any = UNDEFINED
    expected = "value"
    position, end = 0, len(text.rstrip(" \t\n\r"))
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None or expected not in _TAKES[_kind(token, expected)]:
            raise ValueError(f"not JSON at character {position}")
        position = token.end()
        mark = token["mark"]
        if mark in ("[", "{"):
            stack.append(([] if mark == "[" else {}, key))
            key, expected = UNDEFINED, "value or ]" if mark == "[" else "key or }"
            continue
        if mark == ":":
            expected = "value"
            continue
        if mark == ",":
            expected = "value" if isinstance(stack[-1][0], list) else "key"
            continue
        if expected in ("key", "key or }") and mark is None:
            key, expected = _decoder.decode(token[0]), ":"
            continue
        # A value is complete: a scalar, or the container that closes here.
        if mark is None:
            value = _decoder.decode(token[0])
        else:
            value, key = stack.pop()
        expected = _put(stack, key, value)
        key = UNDEFINED
    if expected != "end":
        raise ValueError("the value does not end")
    return value


def _kind(token: re.Match[str], expected: str) -> str:
    if token["mark"]:
        return token["mark"]
    return "key" if token["text"] is not None and expected.startswith("key") else "value"


# What a token may stand for: the states in which it is taken.
_TAKES: Final = {
    "[": ("value", "value or ]"),
    "{": ("value", "value or ]"),
    "value": ("value", "value or ]"),
    "key": ("key", "key or }"),
    ":": (":",),
    ",": (", or ]", ", or }"),
    "]": ("value or ]", ", or ]"),
    "}": ("key or }", ", or }"),
}


def _put(stack: list[tuple[Any, Any]], key: Any, value: Any) -> str:
    """Put a complete value into the innermost container; return what may come next."""
    if not stack:
        return "end"
    container = stack[-1][0]
    if isinstance(container, list):
        container.append(value)
        return ", or ]"
    container[key] = value
    return ", or }"


def depth(value: Any) -> int:
    """Return how many containers deep a value is; 0 for a text or a number."""
    levels = 0
    inside = [value]
    while inside := [
        item
        for container in inside
        if isinstance(container, dict | list)
        for item in (container.values() if isinstance(container, dict) else container)
    ]:
        levels += 1
    return levels + isinstance(value, dict | list) * (levels == 0)


def get(value: Any, name: str) -> Any:
    """Return `value.name`: UNDEFINED where there is none; raise PiThrowsError on null."""
    if isinstance(value, dict):
        return value.get(name, UNDEFINED)
    if value is None or value is UNDEFINED:
        raise PiThrowsError(
            f"Cannot read properties of {'null' if value is None else 'undefined'}"
            f" (reading '{name}')"
        )
    return UNDEFINED


def is_nullish(value: Any) -> bool:
    """Tell whether `value == null`."""
    return value is None or value is UNDEFINED


def is_truthy(value: Any) -> bool:
    """Tell whether an `if` takes the value; empty objects and arrays are taken."""
    # By type: JSON gives no other, and to put two types together takes longer than to ask.
    return bool(value) or type(value) in _CONTAINERS


def identity(value: Any) -> Any:
    """Return a key that is equal for two values exactly where `===` and a `Map` hold them equal.

    Strings stand for themselves; an object or array is equal to no other.
    """
    if type(value) is str or value is None or value is UNDEFINED:
        return value
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        return ("number", float(value))
    return object()


def to_number(value: Any) -> float:
    """Return `Number(value)`, NaN included."""
    if isinstance(value, bool | int | float):
        return float(value)
    if value is None:
        return 0.0
    if isinstance(value, list):
        value = _array_text(value)
    if isinstance(value, str):
        text = value.strip(WHITESPACE)
        if not text:
            return 0.0
        try:
            if re.fullmatch(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", text):
                return float(int(text, 0))
            if re.fullmatch(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", text):
                return float(text)
        except OverflowError:
            return math.inf
        if text in ("Infinity", "+Infinity", "-Infinity"):
            return float(text.replace("Infinity", "inf"))
    return math.nan


def _array_text(value: list[Any]) -> str:
    return ",".join("" if is_nullish(item) else to_text(item) for item in value)


def to_text(value: Any) -> str:
    """Return `String(value)`; numbers as JavaScript shortens them for whole and plain ones."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, list):
        return _array_text(value)
    return "undefined" if value is UNDEFINED else "[object Object]"


def add(left: Any, right: Any) -> Any:
    """Return `left + right`: a sum of numbers, or the joined texts where one side is a text."""
    if isinstance(left, str | dict | list) or isinstance(right, str | dict | list):
        return to_text(left) + to_text(right)
    total = to_number(left) + to_number(right)
    return int(total) if total.is_integer() and abs(total) < 2**53 else total

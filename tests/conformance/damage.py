"""Random damage to session files: what crashes, syncs, editors and other programs do to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

Lines: TypeAlias = list[bytes]
Fault: TypeAlias = "Callable[[Lines, Random], Lines]"

FAULTS: dict[str, Callable[[Lines, Random], Lines]] = {}

# A value of each type that JSON has, to stand where another was.
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -7, 2.5, "", "x", "2", " 5 ", "assistant", "compaction"),
    *([], [1], [None], [[None]], {}, {"a": 1}, {"type": "text"}, {"role": "user"}),
    *([{"type": "toolCall", "id": "c"}], [[{"type": "toolCall", "id": "c"}]]),
)
ABSENT = object()


def fault(function: Callable[[Lines, Random], Lines]) -> Callable[[Lines, Random], Lines]:
    """Add a kind of damage under its function's name."""
    FAULTS[function.__name__] = function
    return function


def damage(data: bytes, random: Random, faults: int) -> tuple[bytes, list[str]]:
    """Return a damaged copy of a file, and the names of its faults in order."""
    lines = data.removesuffix(b"\n").split(b"\n")
    names = [random.choice(sorted(FAULTS)) for _ in range(faults)]
    for name in names:
        lines = FAULTS[name](lines, random)
    joined = b"\n".join(lines)
    return (joined if lines and lines[-1].endswith(_OPEN) else joined + b"\n").replace(
        _OPEN, b""
    ), names


# Stands at the end of a last line that is to have no line end.
_OPEN = b"\x00<open>"


def _pick(lines: Lines, random: Random) -> int:
    """Return the place of a line that is no header, where there is one."""
    return random.randrange(min(1, len(lines) - 1), len(lines)) if lines else 0


def _value(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _entries(lines: Lines) -> list[tuple[int, dict[str, Any]]]:
    """Return (place, entry) of each line that is an object and no header."""
    found = [(place, _value(line)) for place, line in enumerate(lines)]
    return [
        (place, value)
        for place, value in found
        if isinstance(value, dict) and value.get("type") != "session"
    ]


def _written(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _change(lines: Lines, random: Random, change: Callable[[dict[str, Any]], object]) -> Lines:
    """Change one entry, chosen at random."""
    entries = _entries(lines)
    if not entries:
        return lines
    place, entry = random.choice(entries)
    change(entry)
    return [*lines[:place], _written(entry), *lines[place + 1 :]]


def _change_message(
    lines: Lines, random: Random, change: Callable[[dict[str, Any]], object], *roles: str
) -> Lines:
    """Change the message of an entry of one of the roles."""
    entries = [
        (place, entry)
        for place, entry in _entries(lines)
        if isinstance(entry.get("message"), dict)
        and (not roles or entry["message"].get("role") in roles)
    ]
    if not entries:
        return lines
    place, entry = random.choice(entries)
    change(entry["message"])
    return [*lines[:place], _written(entry), *lines[place + 1 :]]


def _append(lines: Lines, entry: dict[str, Any], parent: Any = None) -> Lines:
    """Append an entry under the last one, or under the given parent."""
    entries = _entries(lines)
    if parent is None and entries:
        parent = entries[-1][1].get("id")
    stamp = "2026-10-21T10:00:00.000Z"
    return [*lines, _written({**entry, "parentId": parent, "timestamp": stamp})]


def _ids(lines: Lines) -> list[Any]:
    return [entry.get("id") for _, entry in _entries(lines)] or ["none"]


@fault
def truncated_tail(lines: Lines, random: Random) -> Lines:
    last = lines[-1]
    return [*lines[:-1], last[: random.randrange(len(last) + 1)] + _OPEN]


@fault
def no_final_newline(lines: Lines, random: Random) -> Lines:  # noqa: ARG001
    return [*lines[:-1], lines[-1] + _OPEN]


@fault
def drop_line(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    return lines[:place] + lines[place + 1 :] or lines


@fault
def duplicate_line(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    where = random.randrange(place, len(lines)) + 1
    return [*lines[:where], lines[place], *lines[where:]]


@fault
def move_line(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    rest = lines[:place] + lines[place + 1 :]
    where = _pick(rest, random) if rest else 0
    return [*rest[:where], lines[place], *rest[where:]]


@fault
def crlf(lines: Lines, random: Random) -> Lines:  # noqa: ARG001
    return [line + b"\r" for line in lines]


@fault
def bom(lines: Lines, random: Random) -> Lines:  # noqa: ARG001
    return [b"\xef\xbb\xbf" + lines[0], *lines[1:]]


@fault
def blank_lines(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    blank = random.choice([b"", b" ", b"\t", b"\r", "\u00a0".encode(), "\ufeff\u2028".encode()])
    return lines[:place] + [blank] * random.randint(1, 3) + lines[place:]


@fault
def garbage_line(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    garbage = [b"undefined", b'{"a":NaN}', b"{", b"]", b"'x'", b"\xff\xfe", b"01", b"{}{}", b"\x1f"]
    return [*lines[:place], random.choice(garbage), *lines[place:]]


@fault
def primitive_line(lines: Lines, random: Random) -> Lines:
    """A line that is JSON and no entry, at any place and often the last."""
    place = random.choice([_pick(lines, random), len(lines)])
    value = random.choice([b"42", b'"note"', b"[]", b"[1]", b"true", b"null", b"0", b"{}"])
    return [*lines[:place], value, *lines[place:]]


@fault
def nul_tail(lines: Lines, random: Random) -> Lines:
    return [*lines, b"\0" * random.choice([1, 512, 4096]) + _OPEN]


@fault
def nul_line(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    return [*lines[:place], b"\0" * len(lines[place]), *lines[place + 1 :]]


@fault
def fused_lines(lines: Lines, random: Random) -> Lines:
    """A torn write, and the next record on the same line."""
    place = _pick(lines, random)
    if place + 1 >= len(lines):
        return lines
    cut = random.randrange(len(lines[place]) + 1)
    return [*lines[:place], lines[place][:cut] + lines[place + 1], *lines[place + 2 :]]


@fault
def missing_parent(lines: Lines, random: Random) -> Lines:
    return _change(lines, random, lambda entry: entry.update(parentId="deadbeef"))


@fault
def extra_root(lines: Lines, random: Random) -> Lines:
    return _change(lines, random, lambda entry: entry.update(parentId=None))


@fault
def no_parent_key(lines: Lines, random: Random) -> Lines:
    return _change(lines, random, lambda entry: entry.pop("parentId", None))


@fault
def no_id(lines: Lines, random: Random) -> Lines:
    return _change(lines, random, lambda entry: entry.pop("id", None))


@fault
def reparent_back(lines: Lines, random: Random) -> Lines:
    ids = _ids(lines)
    return _change(lines, random, lambda entry: entry.update(parentId=random.choice(ids)))


@fault
def parent_cycle(lines: Lines, random: Random) -> Lines:
    """An entry that hangs on itself, or on one that hangs on it."""
    entries = _entries(lines)
    if not entries:
        return lines
    first = random.randrange(len(entries))
    second = random.randrange(first, len(entries))
    place, entry = entries[first]
    entry["parentId"] = entries[second][1].get("id")
    return [*lines[:place], _written(entry), *lines[place + 1 :]]


@fault
def same_id(lines: Lines, random: Random) -> Lines:
    ids = _ids(lines)
    return _change(lines, random, lambda entry: entry.update(id=random.choice(ids)))


@fault
def odd_id(lines: Lines, random: Random) -> Lines:
    field = random.choice(["id", "parentId"])
    return _change(lines, random, lambda entry: entry.update({field: random.choice(VALUES)}))


@fault
def header_variant(lines: Lines, random: Random) -> Lines:
    header = _value(lines[0])
    if not isinstance(header, dict):
        return lines
    name = random.choice(["id", "cwd", "timestamp", "type", "version"])
    if random.random() < 0.5:
        header.pop(name, None)
    else:
        header[name] = random.choice(VALUES)
    return [_written(header), *lines[1:]]


@fault
def version_variant(lines: Lines, random: Random) -> Lines:
    header = _value(lines[0])
    if not isinstance(header, dict):
        return lines
    header["version"] = random.choice([0, 1, 2, 3, 99, 2.5, "2", "x", None, True, [2], {}])
    return [_written(header), *lines[1:]]


@fault
def no_header(lines: Lines, random: Random) -> Lines:  # noqa: ARG001
    return lines[1:] or lines


@fault
def second_header(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    return [*lines[:place], lines[0], *lines[place:]]


@fault
def version2_hook(lines: Lines, random: Random) -> Lines:
    header = _value(lines[0])
    if not isinstance(header, dict):
        return lines
    header["version"] = 2
    changed = [_written(header), *lines[1:]]
    return _change_message(changed, random, lambda message: message.update(role="hookMessage"))


@fault
def v1_linear(lines: Lines, random: Random) -> Lines:
    """A file of version 1: no ids, no parents, a boundary by its place."""
    changed: Lines = []
    for line in lines:
        value = _value(line)
        if isinstance(value, dict):
            if value.get("type") == "session":
                value.pop("version", None)
            else:
                value.pop("id", None)
                value.pop("parentId", None)
            if value.get("type") == "compaction" or random.random() < 0.05:
                value.pop("firstKeptEntryId", None)
                places = [0, 1, 2, 5, len(lines) - 1, len(lines), 10**6, -1, 2.5, "3", None]
                value["firstKeptEntryIndex"] = random.choice(places)
                value["type"] = "compaction" if value.get("type") != "session" else "session"
                value.setdefault("summary", "s")
            line = _written(value)  # noqa: PLW2901
        changed.append(line)
    return changed


@fault
def null_content(lines: Lines, random: Random) -> Lines:
    return _change_message(lines, random, lambda message: message.update(content=None))


@fault
def no_content(lines: Lines, random: Random) -> Lines:
    return _change_message(lines, random, lambda message: message.pop("content", None))


@fault
def string_content(lines: Lines, random: Random) -> Lines:
    return _change_message(lines, random, lambda message: message.update(content="plain text"))


@fault
def unknown_type(lines: Lines, random: Random) -> Lines:
    return _change(lines, random, lambda entry: entry.update(type="future_entry"))


@fault
def unknown_role(lines: Lines, random: Random) -> Lines:
    return _change_message(lines, random, lambda message: message.update(role="narrator"))


@fault
def stop_reason(lines: Lines, random: Random) -> Lines:
    reason = random.choice(["error", "aborted", "length", "stop", "toolUse", "new"])
    change: Callable[[dict[str, Any]], object] = lambda m: m.update(stopReason=reason)  # noqa: E731
    return _change_message(lines, random, change, "assistant")


@fault
def dangling_call(lines: Lines, random: Random) -> Lines:
    results = [p for p, e in _entries(lines) if b'"role":"toolResult"' in _written(e)]
    if not results:
        return lines
    return lines[: random.choice(results)]


@fault
def repeated_call(lines: Lines, random: Random) -> Lines:
    """A call id that stands in more than one reply, or a result of another call."""
    ids = [
        block.get("id")
        for _, entry in _entries(lines)
        for block in ((entry.get("message") or {}).get("content") or [])
        if isinstance(entry.get("message"), dict)
        and isinstance(block, dict)
        and block.get("type") == "toolCall"
    ] or ["call"]
    change: Callable[[dict[str, Any]], object] = lambda m: m.update(toolCallId=random.choice(ids))  # noqa: E731
    return _change_message(lines, random, change, "toolResult")


def _in_text(lines: Lines, random: Random, what: bytes) -> Lines:
    """Put bytes at the beginning of a text of some line."""
    places = [place for place, line in enumerate(lines) if b'"text":"' in line]
    if not places:
        return lines
    place = random.choice(places)
    changed = lines[place].replace(b'"text":"', b'"text":"' + what, 1)
    return [*lines[:place], changed, *lines[place + 1 :]]


@fault
def lone_surrogate(lines: Lines, random: Random) -> Lines:
    return _in_text(lines, random, random.choice([b"\\ud83d ", b"\\ude00", b"\\udfff\\ud800"]))


@fault
def surrogate_pair_escape(lines: Lines, random: Random) -> Lines:
    return _in_text(lines, random, b"\\ud83d\\ude00 ")


@fault
def bad_utf8(lines: Lines, random: Random) -> Lines:
    bad = [b"\xff\xfe ", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xe4\xb8", b"\xf5\x80"]
    return _in_text(lines, random, random.choice(bad))


@fault
def line_separator(lines: Lines, random: Random) -> Lines:
    return _in_text(lines, random, "\u2028\u2029\u0085 ".encode())


@fault
def control_character(lines: Lines, random: Random) -> Lines:
    return _in_text(lines, random, random.choice([b"\t", b"\x01", b"\x7f", b"\r"]))


@fault
def big_numbers(lines: Lines, random: Random) -> Lines:
    places = [place for place, line in enumerate(lines) if line.endswith(b"}")]
    if not places:
        return lines
    place = random.choice(places)
    numbers = b',"x":123456789012345678901234567890,"y":1e400,"z":-0,"w":1.5E-400}'
    return [*lines[:place], lines[place][:-1] + numbers, *lines[place + 1 :]]


@fault
def duplicate_keys(lines: Lines, random: Random) -> Lines:
    places = [place for place, line in enumerate(lines) if line.endswith(b"}")]
    if not places:
        return lines
    place = random.choice(places)
    again = random.choice([b',"zz":1,"zz":2}', b',"parentId":null}', b',"type":"custom"}'])
    return [*lines[:place], lines[place][:-1] + again, *lines[place + 1 :]]


@fault
def deep_nesting(lines: Lines, random: Random) -> Lines:
    """Deeper than strict parsers go; V8 has no limit."""
    # Far from 4,460, beyond which Node 24 parses and no longer writes.
    depth = random.choice([300, 1100, 20_000])
    nested = b"[" * depth + b"]" * depth
    # Not in the header, of which our account shows no more than some levels.
    places = [place for place, line in enumerate(lines) if place and line.endswith(b"}")]
    if not places:
        return lines
    place = random.choice(places)
    return [*lines[:place], lines[place][:-1] + b',"deep":' + nested + b"}", *lines[place + 1 :]]


@fault
def trailing_whitespace(lines: Lines, random: Random) -> Lines:
    place = _pick(lines, random)
    space = random.choice([b" ", b"\t\r", "\u00a0".encode(), b"\x0b"])
    return [*lines[:place], lines[place] + space, *lines[place + 1 :]]


@fault
def compaction_added(lines: Lines, random: Random) -> Lines:
    """A compaction and a prompt after it; the boundary is of every kind."""
    entry: dict[str, Any] = {"type": "compaction", "id": "c0ffee00", "tokensBefore": 150000}
    entry["summary"] = random.choice(["", "## Goal\nx", None, 7])
    kept = random.choice([*_ids(lines), "c0ffee00", "deadbeef", None, 7, "absent"])
    if kept != "absent":
        entry["firstKeptEntryId"] = kept
    if random.random() < 0.3:
        entry["systemMessage"] = random.choice([{"role": "system", "content": "s"}, 42, "s", {}])
    if random.random() < 0.2:
        entry["usage"] = random.choice([{}, 7, {"input": 1, "cost": {"total": "2"}}])
    message = {"role": "user", "content": "go on", "timestamp": 1}
    return _append(
        _append(lines, entry), {"type": "message", "id": "c0ffee01", "message": message}, "c0ffee00"
    )


@fault
def context_edit_added(lines: Lines, random: Random) -> Lines:
    for number in range(random.randint(1, 2)):
        entry: dict[str, Any] = {"type": "context_edit", "id": f"ed1700a{number}"}
        entry["targetId"] = random.choice([*_ids(lines), "deadbeef", None])
        content = [{"type": "text", "text": "(elided)"}]
        replacement = random.choice(
            [None, {"content": "short"}, {"content": content}, {}, "text", 7, "absent"]
        )
        if replacement != "absent":
            entry["replacement"] = replacement
        lines = _append(lines, entry)
    return lines


@fault
def branch_summary_added(lines: Lines, random: Random) -> Lines:
    ids = _ids(lines)
    summary = random.choice(["## Goal\nx", "", None, 7, ["x"]])
    entry = {"type": "branch_summary", "id": "b5a00000", "fromId": ids[-1], "summary": summary}
    return _append(lines, entry, random.choice(ids))


@fault
def custom_message_added(lines: Lines, random: Random) -> Lines:
    content = random.choice(["note", [{"type": "text", "text": "note"}], None, 7, {}, [None]])
    entry = {"type": "custom_message", "id": "cafe0000", "customType": "x", "content": content}
    return _append(lines, entry)


@fault
def leaf_on_old_branch(lines: Lines, random: Random) -> Lines:
    kind = random.choice(["custom", "label", "session_info", "usage"])
    entry: dict[str, Any] = {"type": kind, "id": "1eaf0000", "name": "named"}
    if kind == "usage":
        entry["usage"] = {
            "input": 1,
            "output": 1,
            "cacheRead": 1,
            "cacheWrite": 1,
            "cost": {"total": 0.5},
        }
    return _append(lines, entry, random.choice(_ids(lines)))


@fault
def odd_block(lines: Lines, random: Random) -> Lines:
    """A block of a message that is no block, or whose field is of another type."""

    def change(message: dict[str, Any]) -> None:
        blocks = message.get("content")
        if not isinstance(blocks, list) or not blocks:
            return
        place = random.randrange(len(blocks))
        block = blocks[place]
        odd = random.choice(VALUES)
        if isinstance(block, dict) and block and random.random() < 0.6:
            block[random.choice(list(block))] = odd
        else:
            blocks[place] = random.choice([odd, [block], [[block]]])

    return _change_message(lines, random, change)


@fault
def wrong_type(lines: Lines, random: Random) -> Lines:
    """A value of another type at any place of an entry, however deep."""

    def change(entry: dict[str, Any]) -> None:
        here: Any = entry
        while True:
            keys = list(here) if isinstance(here, dict) else range(len(here))
            if not keys:
                return
            key = random.choice(list(keys))
            if isinstance(here[key], dict | list) and here[key] and random.random() < 0.7:
                here = here[key]
                continue
            here[key] = random.choice(VALUES)
            return

    return _change(lines, random, change)


def fields(data: bytes) -> list[tuple[int | str, ...]]:
    """Return the way to each value of a healthy file, however deep: a line from 0, then keys."""
    ways: list[tuple[int | str, ...]] = []
    todo: list[tuple[tuple[int | str, ...], Any]] = [
        ((number,), json.loads(line)) for number, line in enumerate(data.splitlines())
    ]
    while todo:
        way, value = todo.pop()
        ways.append(way)
        inside = list(value.items() if isinstance(value, dict) else enumerate(value))
        todo += [((*way, key), item) for key, item in inside if isinstance(item, dict | list)]
        ways += [(*way, key) for key, item in inside if not isinstance(item, dict | list)]
    return sorted(ways, key=str)


def with_value(data: bytes, way: tuple[int | str, ...], value: Any) -> bytes:
    """Return the file with another value at the end of the way, or none where it is ABSENT."""
    whole = [json.loads(line) for line in data.splitlines()]
    here: Any = whole
    for key in way[:-1]:
        here = here[key]
    if value is ABSENT:
        del here[way[-1]]
    else:
        here[way[-1]] = value
    return b"".join(_written(entry) + b"\n" for entry in whole)

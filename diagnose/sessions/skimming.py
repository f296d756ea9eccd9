"""A line's value without the long texts in it, which is most of a session and none of its shape.

Nine tenths of a large session are what tools printed. To read a file no more of it is needed than
that it is a text; to make a string of it takes most of the time that reading takes.
"""

from __future__ import annotations

from typing import Any, Final

# msgspec reads straight into types and leaves a `Raw` as the bytes that it found, checked but not
# decoded: four times as fast as orjson on a long line.
import msgspec
import orjson

from diagnose.sessions.javascript import parse_line

# A shorter line is read as fast whole (bytes).
_LONG: Final = 1500
# Where the role of a tool result stands in a line as Pi writes it (bytes from its beginning).
_HEAD: Final = 300
_RESULT: Final = b'"role":"toolResult"'
_QUOTE: Final = 0x22


# What has another field than these is read whole: so nothing that is written there is left out.
class _Block(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    type: Any
    text: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    data: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    mime_type: Any = msgspec.UNSET


class _Message(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    role: Any
    content: list[_Block]
    tool_call_id: Any = msgspec.UNSET
    tool_name: Any = msgspec.UNSET
    is_error: Any = msgspec.UNSET
    timestamp: Any = msgspec.UNSET
    duration_ms: Any = msgspec.UNSET
    details: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Entry(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    type: Any
    message: _Message
    id: Any = msgspec.UNSET
    parent_id: Any = msgspec.UNSET
    timestamp: Any = msgspec.UNSET


_decode: Final = msgspec.json.Decoder(_Entry).decode
_UNSET: Final = msgspec.UNSET


def skim(line: bytes) -> tuple[Any, bool]:
    """Return the value of a line; of a tool result's long line without texts and `details`.

    Such a text is empty, and the details are null. Return too whether any reader takes the line as
    it is; where it is not, it holds bytes that are no UTF-8, half of a surrogate pair, or what
    V8 alone reads. Raise ValueError where `JSON.parse` throws.
    """
    try:
        return _skim(line), True
    except ValueError:
        return parse_line(line), False


def _skim(line: bytes) -> Any:
    if len(line) < _LONG or line.find(_RESULT, 0, _HEAD) < 0:
        return orjson.loads(line)
    try:
        entry = _decode(line)
    # RecursionError: V8 reads any depth, and so does the slower way.
    except (msgspec.MsgspecError, RecursionError):
        return orjson.loads(line)
    # What is left as bytes was not looked at for this.
    if not line.isascii():
        line.decode()
    blocks = []
    for block in entry.message.content:
        given = {"type": block.type}
        if block.text is not _UNSET:
            if not _is_text(block.text):
                return orjson.loads(line)  # the schema has a say in it
            given["text"] = ""
        if block.data is not _UNSET:
            if not _is_text(block.data):
                return orjson.loads(line)
            given["data"] = ""
        if block.mime_type is not _UNSET:
            given["mimeType"] = block.mime_type
        blocks.append(given)
    return _value(entry, blocks)


def _is_text(raw: Any) -> bool:
    return memoryview(raw)[0] == _QUOTE


def _value(entry: _Entry, blocks: list[Any]) -> dict[str, Any]:
    """Return the line's value with these blocks; a field that the line does not have is none."""
    # Field by field: to go through a struct's fields takes half as long again as to read the line.
    told = entry.message
    message = {"role": told.role, "content": blocks}
    if told.tool_call_id is not _UNSET:
        message["toolCallId"] = told.tool_call_id
    if told.tool_name is not _UNSET:
        message["toolName"] = told.tool_name
    if told.is_error is not _UNSET:
        message["isError"] = told.is_error
    if told.timestamp is not _UNSET:
        message["timestamp"] = told.timestamp
    if told.duration_ms is not _UNSET:
        message["durationMs"] = told.duration_ms
    if told.details is not _UNSET:
        message["details"] = None
    value = {"type": entry.type, "message": message}
    if entry.id is not _UNSET:
        value["id"] = entry.id
    if entry.parent_id is not _UNSET:
        value["parentId"] = entry.parent_id
    if entry.timestamp is not _UNSET:
        value["timestamp"] = entry.timestamp
    return value

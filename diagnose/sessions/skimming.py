"""A line's value without the long texts in it, which is most of a session and none of its shape.

Nine tenths of a large session are what tools printed. To read a file no more of it is needed than
that it is a text; to make a string of it takes most of the time that reading takes.
"""

from __future__ import annotations

from typing import Any, Final

# msgspec reads straight into types and leaves a `Raw` as the bytes that it found, checked but not
# decoded: four times as fast as orjson on a long line.
import msgspec

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
_LEFT_OUT: Final = ("text", "data")


def skim(line: bytes) -> Any:
    """Return the value of a line; of a tool result's long line without texts and `details`.

    Such a text is empty, and the details are null. Raise ValueError where `JSON.parse` throws.
    """
    if len(line) < _LONG or line.find(_RESULT, 0, _HEAD) < 0:
        return parse_line(line)
    try:
        entry = _decode(line)
    # RecursionError: V8 reads any depth, and so does the slower way.
    except (msgspec.MsgspecError, RecursionError):
        return parse_line(line)
    blocks = [_given(block) for block in entry.message.content]
    for block in blocks:
        for name in _LEFT_OUT:
            if name in block:
                if memoryview(block[name])[0] != _QUOTE:
                    return parse_line(line)  # it is no text, which the schema has a say in
                block[name] = ""
    message = _given(entry.message)
    message["content"] = blocks
    if "details" in message:
        message["details"] = None
    value = _given(entry)
    value["message"] = message
    return value


def _given(part: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a part that stand in the line."""
    found = zip(part.__struct_encode_fields__, msgspec.structs.astuple(part), strict=True)
    return {name: value for name, value in found if value is not msgspec.UNSET}

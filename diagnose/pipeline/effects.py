"""What a tool call does: decided from its name and arguments, shell commands by their grammar.

The table of commands is data (schemas/effects.json). What is not known is `unknown`, never `read`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from diagnose.pipeline.words import find, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

# A command longer than this (bytes) is not parsed; `bash -c` is followed so deep.
_LONGEST: Final = 100_000
_DEEPEST: Final = 5
# The status line of a result stands in its last characters.
_STATUS: Final = 300
_NOWHERE: Final = ("/dev/null", "/dev/stdout", "/dev/stderr", "&1", "&2", "-")


class Part(msgspec.Struct, frozen=True):
    """One command of a line: its class, its words (None where one is only known when it runs)."""

    effect: str
    words: tuple[str | None, ...]
    text: str


@cache
def _table() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(import_module("diagnose.schemas").raw("effects"))
    return value


def _worse(one: str, other: str) -> str:
    classes = _table()["classes"]
    return max(one, other, key=classes.index)


def call_effect(tool: str, arguments: dict[str, Any]) -> Part:
    """Return what a call does: for a shell command, its worst part."""
    if tool in _table()["shells"]:
        command = arguments.get("command")
        if not isinstance(command, str):
            return Part("unknown", (), "")
        return worst(parts(command), command)
    effect: str = _table()["tools"].get(tool, "unknown")
    return Part(effect, (tool,), tool)


def worst(found: list[Part], command: str) -> Part:
    """Return the worst of the parts, the first of several; `unknown` where there is none."""
    if not found:
        return Part("unknown", (), command)
    classes = _table()["classes"]
    return max(found, key=lambda part: classes.index(part.effect))


def lasting(command: str) -> list[Part]:
    """Return the parts of a line that a summary should tell of.

    They are commits, deletions, remote calls and runs of tests.
    """
    kept = ("commit", "remote", "destructive")
    return [part for part in parts(command) if part.effect in kept or _is_test(part)]


def _is_test(part: Part) -> bool:
    known = tuple(word for word in part.words if word is not None)
    return any(known[:length] in runs for length, runs in _tests().items())


@cache
def _tests() -> dict[int, set[tuple[str, ...]]]:
    """Return what begins a run of tests, by its number of words."""
    found: dict[int, set[tuple[str, ...]]] = {}
    for run in _table()["tests"]:
        found.setdefault(len(run), set()).add(tuple(run))
    return found


def names_only(part: Part) -> bool:
    """Tell whether a command that names a file shows nothing of what is in it."""
    table = _table()["names_only"]
    words = [word for word in part.words if word is not None]
    if not words:
        return False
    program = words[0].rsplit("/", 1)[-1]
    return program in table["programs"] or (
        program in table["subcommands"]
        and words[1:2] != []
        and words[1] in table["subcommands"][program]
    )


def is_cut(result: str) -> bool:
    """Tell whether a failed result says, at its end, that the tool was stopped before it was done.

    Pi 1.6.0 ends such results in "Command aborted" or "Command timed out after … seconds".
    """
    return find(result[-_STATUS:], words("signs_of_a_cut")) is not None


@cache
def _parser() -> Parser:
    # Imported here: 20 ms, and only where a shell command is looked at.
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return Parser(Language(tree_sitter_bash.language()))


def parts(command: str, depth: int = 0) -> list[Part]:
    """Return every command of a line with what it does, in order."""
    data = command.encode("utf-8", "replace")
    if len(data) > _LONGEST or depth > _DEEPEST:
        return [Part("unknown", (), command[:80])]
    root = _parser().parse(data).root_node
    found = list(_walk(root, data, depth))
    if root.has_error:
        # What the grammar does not understand may be anything.
        found.append(Part("unknown", (), command[:80]))
    return found


def _walk(root: Node, data: bytes, depth: int) -> Iterator[Part]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        children = node.children
        if node.type == "command":
            yield from _command(node, data, depth)
        elif node.type == "file_redirect":
            yield from _redirect(node, data)
        elif node.type == "redirected_statement" and (script := _script_given(node, data)):
            # What is fed to a shell is what it runs.
            yield from parts(script, depth + 1)
            children = [child for child in children if child.type == "file_redirect"]
        # What has no parts of its own is a word or a sign.
        waiting.extend(child for child in reversed(children) if child.child_count)


def _script_given(node: Node, data: bytes) -> str | None:
    """Return the here-document that a statement feeds to a shell without a script of its own."""
    body = node.child_by_field_name("body")
    if body is None or body.type != "command":
        return None
    words = _words(body, data)
    if not words or words[0] is None or any(word is None or word[:1] != "-" for word in words[1:]):
        return None
    is_shell = words[0].rsplit("/", 1)[-1] in _table()["shell_programs"]
    return _heredoc(node, data) if is_shell else None


def _heredoc(node: Node, data: bytes) -> str | None:
    """Return the text of the here-document of a statement, None where it has none."""
    for child in node.children:
        if child.type == "heredoc_redirect":
            for inner in child.children:
                if inner.type == "heredoc_body":
                    return data[inner.start_byte : inner.end_byte].decode("utf-8", "replace")
    return None


def _redirect(node: Node, data: bytes) -> Iterator[Part]:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    target = node.child_by_field_name("destination")
    name = _word(target, data) if target else None
    if ">" in text and name not in _NOWHERE and ">&" not in text:
        yield Part("local-write", (">", name), text)


def _command(node: Node, data: bytes, depth: int) -> Iterator[Part]:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    yield from _classed(_words(node, data), text, depth)


def _words(command: Node, data: bytes) -> list[str | None]:
    # Assignments before the name and redirections after it are no words of the command.
    return [
        _word(child, data)
        for child in command.children
        if child.type not in ("variable_assignment", "file_redirect", "herestring_redirect")
    ]


def _word(node: Node, data: bytes) -> str | None:
    """Return a word as the shell passes it on; None where that is known only when it runs."""
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if node.type in ("command_name", "concatenation", "string") and node.named_children:
        if node.type == "string":
            inner = [child for child in node.named_children if child.type != "string_content"]
            if len(inner) == 1 == len(node.named_children):
                return _quoted_heredoc(inner[0], data)
            return None if inner else text[1:-1]
        pieces = [_word(child, data) for child in node.named_children]
        return None if None in pieces else "".join(piece or "" for piece in pieces)
    if node.type == "raw_string" or (node.type == "string" and len(text) > 1):
        return text[1:-1]
    if node.type in ("word", "number", "command_name", "special_variable_name"):
        return text.replace("\\", "")
    return text if node.type in ("test_operator", "extglob_pattern", "regex") else None


def _quoted_heredoc(node: Node, data: bytes) -> str | None:
    """Return the text of `"$(cat <<'END' … END)"`, a usual way to give a message of many lines."""
    statement = next((c for c in node.children if c.type == "redirected_statement"), None)
    body = statement.child_by_field_name("body") if statement else None
    if node.type != "command_substitution" or statement is None or body is None:
        return None
    return _heredoc(statement, data) if data[body.start_byte : body.end_byte] == b"cat" else None


def _classed(words: list[str | None], text: str, depth: int) -> Iterator[Part]:
    if not words:
        return
    if words[0] is None or depth > _DEEPEST:
        yield Part("unknown", tuple(words), text)
        return
    program = words[0].rsplit("/", 1)[-1]
    table = _table()
    rest = words[1:]
    if program in table["wrappers"]:
        inner = _without_options(program, rest)[table["wrappers"][program] :]
        while inner and inner[0] is not None and "=" in inner[0]:
            inner = inner[1:]
        if inner:
            yield from _classed(inner, text, depth + 1)
        elif program not in ("env", "time"):
            yield Part("unknown", tuple(words), text)
        return
    if program in table["shell_programs"]:
        yield from _shell(rest, words, text, depth)
        return
    if program == "eval" and None not in rest:
        yield from parts(" ".join(word or "" for word in rest), depth + 1)
        return
    if program == "find":
        yield from _find(words, text, depth)
        return
    yield Part(_effect(program, rest), tuple(words), text)


def _shell(
    rest: list[str | None], words: list[str | None], text: str, depth: int
) -> Iterator[Part]:
    """Give the parts of `bash -c SCRIPT`; a script in a file may do anything."""
    place = next(
        (i for i, word in enumerate(rest) if word and word.endswith("c") and word[0] == "-"), None
    )
    script = rest[place + 1] if place is not None and place + 1 < len(rest) else None
    if script is None:
        yield Part("unknown", tuple(words), text)
    else:
        yield from parts(script, depth + 1)


def _find(words: list[str | None], text: str, depth: int) -> Iterator[Part]:
    """Give what `find` does itself, and each command that it runs on what it finds."""
    own: list[str | None] = []
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if word not in ("-exec", "-execdir", "-ok", "-okdir"):
            own.append(word)
            continue
        start = place
        while place < len(words) and words[place] not in (";", "+"):
            place += 1
        yield from _classed(words[start:place], text, depth + 1)
        place += 1
    yield Part(_effect("find", own[1:]), tuple(words), text)


def _without_options(program: str, words: list[str | None]) -> list[str | None]:
    """Return the words from the first that is no option of the program itself."""
    valued = _table()["options_with_value"].get(program, ())
    place = 0
    while place < len(words):
        word = words[place]
        if word is None or not word.startswith("-"):
            break
        place += 2 if word in valued else 1
    return words[place:]


def _effect(program: str, rest: list[str | None]) -> str:
    entry = _table()["commands"].get(program, "unknown")
    while isinstance(entry, dict):
        if "subcommands" in entry:
            rest = _without_options(program, rest)
            name = rest[0] if rest else None
            if not rest:
                return str(entry.get("bare", entry["default"]))
            if name in entry["subcommands"]:
                entry, rest = entry["subcommands"][name], rest[1:]
                continue
            return str(entry["default"])
        if not rest:
            return str(entry.get("bare", entry["default"]))
        return _with_flags(entry, rest)
    return str(entry)


def _with_flags(entry: dict[str, Any], rest: list[str | None]) -> str:
    """Return the worst that the flags make of a command; some make it harmless."""
    flags = entry.get("flags", {})
    if any(word and word.split("=")[0] in entry.get("harmless", ()) for word in rest):
        return "read"
    if any(word is None for word in rest) and flags:
        known = [flags[word.split("=")[0]] for word in rest if word and word.split("=")[0] in flags]
        effect: str = entry["default"]
        for one in known:
            effect = _worse(effect, one)
        return effect
    named = [flags[key] for word in rest if word and (key := _flag(word, flags)) is not None]
    if not named:
        return str(entry["default"])
    effect = named[0]
    for one in named[1:]:
        effect = _worse(effect, one)
    return effect


def _flag(word: str, flags: dict[str, str]) -> str | None:
    """Return the flag that a word is: as it stands, with a value, or among short ones."""
    head = word.split("=", maxsplit=1)[0]
    if head in flags:
        return head
    if word.startswith("-") and not word.startswith("--"):
        return next((f"-{letter}" for letter in word[1:] if f"-{letter}" in flags), None)
    return None

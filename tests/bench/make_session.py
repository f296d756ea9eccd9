"""A big session such as days of work leave: `python make_session.py PATH SIZE_MB`.

It is written entry by entry, so that a file of any size needs little memory. The same size and
seed give the same bytes.
"""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]

BEGIN = datetime(2026, 10, 15, 8, 0, tzinfo=UTC)
DAYS = 6  # that the session is spread over, however big it is
CWD = "/home/dev/work/shop"
PATHS = tuple(f"src/{area}/part{n}.ts" for area in ("cart", "api", "ui") for n in range(60))
# Pi compacts when the window of its model is nearly full (tokens, at 4 characters each).
FULL = 150_000
CODE = (
    "const return await order price total customer=> { } ( ) ; \"quoted\" 'x' \\n // 检查 数量 → "
    "export function async map filter reduce import from null undefined 0x1f 3.14 <div> &amp; café"
)
WORDS = CODE.split()


def write_session(path: Path, size_bytes: int, seed: int = 0, text_scale: int = 1) -> int:
    """Write a session of version 3 and return its number of lines.

    It is as big as asked (bytes), or up to a turn bigger. With a `text_scale` the same entries are
    written, their long texts so many times as long; the size is that of the session without it.
    """
    with Path(path).open("wb") as out:
        chance = random.Random(seed)  # noqa: S311 (no secret)
        session = _Session(out, size_bytes, text_scale, chance)
        session.begin()
        while session.written < size_bytes:
            session.turn()
            if session.tokens > FULL:
                session.compact()
            elif len(session.turns) > 2 and chance.random() < 0.04:
                session.go_back()
        return session.lines


@dataclass(slots=True)
class _Session:
    """Where the writing is: the leaf, the time, and what the context holds since a compaction."""

    out: BinaryIO
    size: int
    text_scale: int
    chance: random.Random
    corpus: str = ""
    written: int = 0
    lines: int = 0
    leaf: str | None = None
    now: datetime = BEGIN
    tokens: int = 0
    # The user entries on the branch since the last compaction: their ids, with the entry and the
    # tokens before each.
    turns: list[tuple[str, str | None, int]] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    modified: set[str] = field(default_factory=set)

    def begin(self) -> None:
        lines = (" ".join(self.chance.choices(WORDS, k=7)) for _ in range(8000))
        self.corpus = "\n".join("  " * self.chance.randrange(4) + line for line in lines)
        self._write(
            {
                "type": "session",
                "version": 3,
                "id": f"01a13d00-0000-7000-8000-{self.chance.getrandbits(48):012x}",
                "timestamp": self._stamp(),
                "cwd": CWD,
            }
        )
        self._append("model_change", provider="anthropic", modelId="claude-sonnet-4-5")
        self._append("thinking_level_change", thinkingLevel="medium")
        self._message(self._system())
        self._append("session_info", name="Shop: prices and orders")

    def turn(self) -> None:
        """Write a prompt, replies with calls and their results, and a last reply."""
        before, leaf = self.tokens, self.leaf
        prompt = f"Look into {self.chance.choice(PATHS)}: {self._text(20, 400)}"
        self._message({"role": "user", "content": [_text_block(prompt)]})
        self.turns.append((self.leaf or "", leaf, before))
        for _ in range(self.chance.randint(1, 8)):
            calls = [self._call() for _ in range(self.chance.choice((1, 1, 1, 2, 3)))]
            self._reply(self._text(0, 300), calls)
            for call in calls:
                self._message(self._result(call))
        self._reply(self._text(100, 2000), [])

    def compact(self) -> None:
        """Write a compaction that keeps the last turn or two."""
        kept = self.turns[-2:] if self.chance.random() < 0.5 else self.turns[-1:]
        files = self._files()
        summary = f"## Goal\n{self._text(200, 900)}\n\n## Progress\n{self._text(500, 3000)}"
        self._append(
            "compaction",
            summary=summary + _file_lists(files),
            firstKeptEntryId=kept[0][0],
            tokensBefore=self.tokens,
            details=files,
            usage=_usage(self.tokens, 0, 900),
            fromHook=False,
            systemMessage={**self._system(), "timestamp": self._milliseconds()},
        )
        self.tokens = self.tokens - kept[0][2] + 3000
        self.turns = []

    def go_back(self) -> None:
        """Leave the newest turns for another branch, half the time with a summary of them."""
        left = self.leaf
        place = self.chance.randrange(max(1, len(self.turns) - 4), len(self.turns))
        _, self.leaf, self.tokens = self.turns[place]
        self.turns = self.turns[:place]
        if self.chance.random() < 0.5:
            files = self._files()
            self._append(
                "branch_summary",
                fromId=left,
                summary=f"## Goal\n{self._text(200, 1500)}{_file_lists(files)}",
                details=files,
                usage=_usage(5000, 0, 300),
                fromHook=False,
            )

    def _write(self, entry: Json) -> None:
        line = _line(entry)
        self.written += len(line)
        self.lines += 1
        self.out.write(line if self.text_scale == 1 else _line(_longer(entry, self.text_scale)))
        # The days pass with the bytes, and an entry takes a second at least.
        due = BEGIN + timedelta(days=DAYS) * (self.written / self.size)
        self.now = max(due, self.now + timedelta(seconds=1))

    def _append(self, kind: str, **fields: Any) -> None:
        # Times an odd number is one to one on 32 bits: scattered ids, none twice.
        id_ = f"{self.lines * 2654435761 & 0xFFFFFFFF:08x}"
        entry = {"type": kind, "id": id_, "parentId": self.leaf, "timestamp": self._stamp()}
        self.leaf = id_
        self._write({**entry, **fields})

    def _message(self, message: Json) -> None:
        self.tokens += sum(len(text) for text in _texts(message)) // 4
        self._append("message", message={**message, "timestamp": self._milliseconds()})

    def _reply(self, text: str, calls: list[Json]) -> None:
        thinking = self._text(50, 800)
        blocks = [{"type": "thinking", "thinking": thinking, "thinkingSignature": "c2lnbmVk" * 40}]
        blocks += [_text_block(text)] if text else []
        self._message(
            {
                "role": "assistant",
                "content": blocks + calls,
                "api": "anthropic-messages",
                "provider": "anthropic",
                "model": "claude-sonnet-4-5",
                "usage": _usage(self.tokens, 600, len(text + thinking) // 4 + 60 * len(calls)),
                "stopReason": "toolUse" if calls else "stop",
                "thinkingLevel": "medium",
            }
        )

    def _call(self) -> Json:
        name = self.chance.choice(("read", "read", "bash", "edit"))
        path = self.chance.choice(PATHS)
        arguments: Json = {"path": path}
        if name == "bash":
            arguments = {"command": f"rg -n '{self.chance.choice(WORDS)}' {path} | head -200"}
        elif name == "edit":
            edit = {"oldText": self._text(40, 600), "newText": self._text(40, 900)}
            arguments["edits"] = [edit]
            self.modified.add(path)
        else:
            self.read.add(path)
        id_ = f"toolu_{self.chance.getrandbits(96):024x}"
        return {"type": "toolCall", "id": id_, "name": name, "arguments": arguments}

    def _result(self, call: Json) -> Json:
        failed = self.chance.random() < 0.05
        result: Json = {"role": "toolResult", "toolCallId": call["id"], "toolName": call["name"]}
        path = call["arguments"].get("path")
        if failed:
            text = f"{self._text(0, 5_000)}\n\nCommand exited with code 1"
            if path is not None:
                text = f"Could not work on {path}: no such text, or no such file."
        elif call["name"] == "edit":
            (edit,) = call["arguments"]["edits"]
            text = f"Successfully replaced 1 block(s) in {path}."
            diff = f"-{edit['oldText']}\n+{edit['newText']}\n{self._text(500, 3000)}"
            patch = f"--- {path}\n+++ {path}\n{diff}"
            result["details"] = {"diff": diff, "patch": patch, "firstChangedLine": 12}
        else:
            text = self._text(1_000, 50_000)
        result["content"] = [_text_block(text)]
        result["isError"] = failed
        return {**result, "durationMs": self.chance.randint(1, 4000)}

    def _system(self) -> Json:
        return {
            "role": "system",
            "content": "",
            "sections": {
                "preamble": "You are a coding assistant running inside pi.",
                "project_context": f"# AGENTS.md\n{self.corpus[:6000]}",
                "environment": f"Current working directory: {CWD}",
            },
        }

    def _text(self, least: int, most: int) -> str:
        """Return a text of between so many characters, short ones more often than long."""
        length = int(self.chance.triangular(least, most, least + (most - least) * 0.05))
        start = self.chance.randrange(len(self.corpus) - length)
        return self.corpus[start : start + length]

    def _files(self) -> Json:
        return {"readFiles": sorted(self.read), "modifiedFiles": sorted(self.modified)}

    def _stamp(self) -> str:
        return f"{self.now.isoformat(timespec='milliseconds').removesuffix('+00:00')}Z"

    def _milliseconds(self) -> int:
        return int(self.now.timestamp() * 1000)


def _line(entry: Json) -> bytes:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _longer(value: Any, times: int) -> Any:
    """Return the value with its long texts repeated; ids, paths and the like stay."""
    if isinstance(value, dict):
        return {key: _longer(item, times) for key, item in value.items()}
    if isinstance(value, list):
        return [_longer(item, times) for item in value]
    return value * times if isinstance(value, str) and len(value) > 500 else value


def _text_block(text: str) -> Json:
    return {"type": "text", "text": text}


def _texts(message: Json) -> Iterator[str]:
    for block in message["content"]:
        yield block.get("text") or block.get("thinking") or json.dumps(block.get("arguments"))


def _file_lists(files: Json) -> str:
    read, modified = "\n".join(files["readFiles"]), "\n".join(files["modifiedFiles"])
    return "\n\n".join(
        (
            "",
            f"<read-files>\n{read}\n</read-files>",
            f"<modified-files>\n{modified}\n</modified-files>",
        )
    )


def _usage(cached: int, new: int, output: int) -> Json:
    """Return a usage with prices of a real model ($ for a million tokens)."""
    tokens = {"input": 4, "output": output, "cacheRead": cached, "cacheWrite": new}
    prices = {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}
    cost = {kind: count * prices[kind] / 1e6 for kind, count in tokens.items()}
    total = sum(cost.values())
    return {**tokens, "totalTokens": sum(tokens.values()), "cost": {**cost, "total": total}}


if __name__ == "__main__":
    write_session(Path(sys.argv[1]), int(float(sys.argv[2]) * 1_000_000))

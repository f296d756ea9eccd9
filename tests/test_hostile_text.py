"""Text that a stranger wrote reaches a person as text: it acts on no terminal and hides nothing."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from command import run
from diagnose.casefiles import unpack
from entries import NOW, USAGE, Json, assistant, chain, entry, result, today, user, yesterday
from hostile import INVISIBLE, Scene, assert_answered
from rich.cells import cell_len
from test_hostile_repositories import git

from diagnose.cli import progress

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from command import Ran

_ACTS = (
    "\x1b[2J\x1b]52;c;AAAA\x07\x1b]8;;http://x\x1b\\l\x1b]8;;\x1b\\\x1b]0;t\x07"
    "\x9b31m\x9d52;c;AA\x9c\x84\x85\x8d\x90\r\b\x7f\x0e\x1bc"
)
_TURNS = "\u202eevil\u202c\u2066x\u2069\u200f\u061c\u206a"
_HIDES = "\u200b\u200d\u2060\ufeff\u00ad\u180e\U000e0041\U000e007f\ufff9\u2028\u2029\u2063"
_MARKS_UP = (
    "[red]r[/red][/][link=file:///etc/passwd]l[/link][@click=quit]:smile: **b** <script>alert(1)"
    "</script> [a](javascript:x) ![i](http://x/y.png) | `c` @everyone #1 {0} %s $(touch mark)"
)
_HOSTILE = {
    "acts": _ACTS,
    "turns": _TURNS,
    "hides": _HIDES,
    "marks up": _MARKS_UP,
    "breaks lines": "a\nb\r\nc\n\n\n\nPI999 forged (error, storage)\nVerdict: intact",
    "wide": "昨天" * 300,
    "long": "x" * 1_000_000,
    "long words": "word " * 200_000,
    "combining": "a" + "\u0301" * 5000,
    "lone surrogates": "\ud800\udfff\udc80",
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def _everywhere(text: str) -> list[Json]:
    """Return a session with the text in each place that a person may be shown."""
    usage = {**USAGE, "input": 900_000, "totalTokens": 900_000}
    return [
        *chain(
            entry("session_info", f"0{text}", yesterday(0), name=text),
            entry("model_change", "00000002", yesterday(0.1), provider=text, modelId=text),
            entry("thinking_level_change", "00000003", yesterday(0.2), thinkingLevel=text),
            user("00000004", yesterday(1), text),
            assistant(
                f"5{text}",
                yesterday(2),
                text,
                calls=(
                    (f"c1{text}", "read", {"path": text}),
                    (f"c2{text}", "bash", {"command": f"git commit -m '{text}'"}),
                    (f"c3{text}", text, {text: text}),
                    (f"c4{text}", "write", {"path": f"a/{text}", "content": text}),
                    (f"c5{text}", "bash", {"command": f"git push {text} {text}; {text}"}),
                    (f"c6{text}", "edit", {"path": text, "edits": [{"oldText": text}]}),
                ),
                message={"model": text, "provider": text, "api": text},
            ),
            result("00000006", yesterday(3), f"c1{text}", text, message={"toolName": "read"}),
            result("00000007", yesterday(3), f"c4{text}", text, message={"toolName": text}),
            result(f"8{text}", yesterday(3), f"cx{text}", text, message={"isError": True}),
            result("00000009", yesterday(3), f"c6{text}", text, message={"isError": True}),
            entry("label", "0000000a", yesterday(4), targetId=f"5{text}", label=text),
            entry("custom", "0000000b", yesterday(4), customType=text, data={text: text}),
            entry(
                *("custom_message", "0000000c", yesterday(4)),
                customType=text,
                content=text,
                display=True,
                details=text,
            ),
            entry(text, f"d{text}", yesterday(4), **{text: text}),
            assistant(
                "0000000e",
                yesterday(5),
                text,
                message={
                    "stopReason": "error",
                    "errorMessage": f"context_length_exceeded {text}",
                    "usage": usage,
                },
            ),
            entry(
                *("compaction", "0000000f", yesterday(6)),
                summary=f"{text} a/b/c.txt 12345",
                firstKeptEntryId=f"gone{text}",
                tokensBefore=900_000,
                fromHook=True,
                details={"readFiles": [text], "modifiedFiles": [text]},
            ),
            entry("branch_summary", "00000010", yesterday(7), fromId=f"5{text}", summary=text),
            entry("context_edit", "00000011", yesterday(7), targetId="00000004", text=text),
            assistant("00000012", yesterday(8), text, message={"stopReason": text}),
            user("00000013", today(1), text),
        ),
        user("00000014", yesterday(9), text, parentId=f"missing{text}"),
        assistant("00000015", yesterday(10), text, parentId="00000014"),
        user("00000016", yesterday(9), text, parentId="00000004"),
        user("00000013", today(2), text, parentId="00000013"),
    ]


def _assert_plain(ran: Ran, *, columns: int | None = None) -> None:
    """Nothing of it acts, turns or hides; within the columns too, where they are given."""
    assert_answered(ran)
    assert set(ran.out + ran.err) & INVISIBLE == set()
    ran.out.encode("utf-8")
    # Categories change with each Unicode; what no one has assigned is not shown raw either.
    assert "\U000e0fff" not in ran.out
    for line in ran.out.splitlines() if columns else []:
        # A path and a command are copied whole.
        if not line.lstrip().startswith(("$ ", "/")):
            assert cell_len(line) <= (columns or 0), line


def _shown(scene: Scene, *paths: Path, columns: int = 80) -> Iterator[tuple[str, Ran]]:
    """Run every command that shows what a session holds, in every format."""
    place = ("--agent-dir", scene.agent_dir, "--cwd", scene.project)
    environment: dict[str, str | None] = {"COLUMNS": str(columns)}
    calls: dict[str, tuple[str | Path, ...]] = {
        "check": ("forgot yesterday", *place, "--now", NOW),
        "check never": ("forgot yesterday", *place, "--now", NOW, "--color", "never", "-v"),
        "check json": ("forgot yesterday", *place, "--now", NOW, "--format", "json"),
        "sessions": ("sessions", *place, "--all"),
        "sessions json": ("sessions", *place, "--all", "--format", "json"),
    }
    for path in paths:
        calls["context"] = ("context", path)
        calls["context json"] = ("context", path, "--format", "json")
        calls["context jsonl"] = ("context", path, path, "--format", "jsonl")
    for name, arguments in calls.items():
        yield name, run(*arguments, cwd=scene.outside(), env=environment)


def _assert_all_plain(scene: Scene, *paths: Path, columns: int = 80) -> None:
    for name, ran in _shown(scene, *paths, columns=columns):
        if name.endswith("json") and ran.status != 3:
            json.loads(ran.out)
        if name.endswith("jsonl") and ran.status != 3:
            assert [json.loads(one) for one in ran.out.split("\n")[:-1]]
        # The account of a session needs some room.
        wide = columns >= 80 or not name.startswith("context")
        text = "json" not in name and wide
        _assert_plain(ran, columns=columns if text else None)


@pytest.mark.parametrize("kind", _HOSTILE)
def test_a_text_in_any_place_is_shown_and_nothing_more(scene: Scene, kind: str) -> None:
    text = _HOSTILE[kind]
    path = scene.write(scene.header(), *_everywhere(text))
    _assert_all_plain(scene, path, columns=60 if kind == "wide" else 80)


@pytest.mark.parametrize("kind", _HOSTILE)
def test_a_header_of_any_text_is_shown_and_nothing_more(scene: Scene, kind: str) -> None:
    text = _HOSTILE[kind]
    header = scene.header(
        id=text, version=text, cwd=text, parentSession=f"/x/{text}.jsonl", timestamp=text
    )
    path = scene.write(header, *_everywhere("x"))
    _assert_all_plain(scene, path)
    # One of this project that has but its id and its version from a stranger.
    path = scene.write(scene.header(id=text, version=text, title=text), *_everywhere("x"))
    _assert_all_plain(scene, path, columns=100)


@pytest.mark.parametrize("columns", [40, 64, 100])
def test_a_report_stays_within_its_columns(scene: Scene, columns: int) -> None:
    text = f"{_MARKS_UP} {'y' * 300} {'昨天' * 50}"
    path = scene.write(scene.header(), *_everywhere(text))
    _assert_all_plain(scene, path, columns=columns)


@pytest.mark.parametrize("kind", ["long", "long words"])
def test_a_report_of_a_long_text_is_short(scene: Scene, kind: str) -> None:
    scene.write(scene.header(), *_everywhere(_HOSTILE[kind]))
    for format_ in ("text", "json"):
        ran = scene.check("--format", format_)
        assert len(ran.out) < 200_000
    listed = scene.ask("sessions", "--agent-dir", scene.agent_dir, "--cwd", scene.project)
    assert len(listed.out) < 2_000


def test_no_line_of_a_report_is_forged(scene: Scene) -> None:
    """A line break of a stranger begins no line that looks like one of the report's own."""
    scene.write(scene.header(), *_everywhere(_HOSTILE["breaks lines"]))
    for arguments in ((), ("-v",)):
        lines = scene.check(*arguments, COLUMNS="200").out.splitlines()
        assert [one for one in lines if one.startswith(("PI999", "Verdict: intact"))] == []


@pytest.mark.parametrize("kind", ["acts", "turns", "hides", "marks up", "breaks lines"])
def test_a_session_file_of_any_name_is_shown_and_nothing_more(scene: Scene, kind: str) -> None:
    name = _HOSTILE[kind].replace("/", "").replace("\0", "")[:60]
    path = scene.write(scene.header(), *_everywhere("x"), name=f"2026-10-20T09-00-00-000Z_{name}")
    os.utime(path, (1792488100, 1792488100))
    scene.write(
        scene.header(), *_everywhere("x"), b"broken", name=f"2026-10-20T09-30-00-000Z_{name}"
    )
    os.mkfifo(scene.sessions / f"2026-10-20T09-40-00-000Z_{name}.jsonl")
    _assert_all_plain(scene, path)
    _assert_plain(scene.ask("forgot", "--session", f"./{name}.jsonl"))


def test_a_session_file_whose_name_is_no_text_is_shown(scene: Scene) -> None:
    path = scene.write(
        scene.header(), *_everywhere("x"), name="2026-10-20T09-00-00-000Z_\udcff\udc80"
    )
    _assert_all_plain(scene, path)


@pytest.mark.parametrize("kind", ["acts", "turns", "hides", "marks up", "breaks lines"])
def test_a_project_folder_of_any_name_is_shown_and_nothing_more(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / _HOSTILE[kind].replace("/", "")[:60]
    folder.mkdir()
    scene = Scene(folder)
    path = scene.write(scene.header(), *_everywhere("x"))
    _assert_all_plain(scene, path)
    git(scene.project, "init", "-q", "--template=")
    _assert_all_plain(scene, path)


@pytest.mark.parametrize("kind", ["acts", "turns", "hides", "marks up", "wide"])
def test_a_history_of_any_text_is_shown_and_nothing_more(tmp_path: Path, kind: str) -> None:
    """Author, subject, branch and path: of the change to a file that was read the day before."""
    scene = Scene(tmp_path)
    text = _HOSTILE[kind].replace("\n", "")[:70]
    name = text.replace("/", "")
    scene.project.mkdir()
    paths = [name, f"moved{name}", f"gone{name}"]
    held = {path: f"{number}\n" * 9 for number, path in enumerate(paths)}
    for path in paths:
        (scene.project / path).write_text(held[path], "utf-8")
    git(scene.project, "init", "-q", "-b", "main", "--template=")
    _commit(scene.project, text)
    (scene.project / name).write_text("two\n", "utf-8")
    (scene.project / f"moved{name}").rename(scene.project / f"to{name}")
    (scene.project / f"gone{name}").unlink()
    _commit(scene.project, text)
    git(scene.project, "remote", "add", "origin", f"https://{name.replace(chr(13), '')}/x")
    # What git allows in a branch's name: neither controls nor these.
    ref = "".join(c for c in name if c not in " ~^:?*[\\" and c not in map(chr, range(33)))
    ref = ref.replace("\x7f", "").replace("@{", "").replace("..", "").strip("./-")
    if ref:
        git(scene.project, "update-ref", f"refs/heads/x{ref}", "HEAD~1")
        git(scene.project, "update-ref", f"refs/remotes/origin/x{ref}", "HEAD")
        git(scene.project, "checkout", "-q", f"x{ref}")
        git(scene.project, "checkout", "-q", "main")
    calls = tuple((f"c{n}", "read", {"path": f"./{path}"}) for n, path in enumerate(paths))
    calls += (("p", "bash", {"command": f"git push origin 'x{ref}'"}),)
    calls += (("k", "bash", {"command": f"git commit -m '{text}'"}),)
    path = scene.write(
        scene.header(),
        *chain(
            user("00000001", yesterday(1)),
            assistant("00000002", yesterday(2), calls=calls),
            *(
                result(
                    *(f"1000000{n}", yesterday(3), f"c{n}", held[where]),
                    message={"toolName": "read"},
                )
                for n, where in enumerate(paths)
            ),
        ),
    )
    _assert_all_plain(scene, path)
    assert scene.check("--format", "json").rules() >= {"PI501", "PI503"}


def _commit(folder: Path, text: str) -> None:
    git(folder, "add", "-A")
    author = f"--author={text.replace('<', '').replace('>', '') or 'x'} <a@b>"
    git(folder, "commit", "-q", "--no-gpg-sign", author, "-m", f"s {text}")


@pytest.mark.parametrize("kind", ["acts", "turns", "hides", "marks up", "breaks lines"])
def test_a_call_of_any_text_is_answered_and_nothing_more(scene: Scene, kind: str) -> None:
    """What a person typed or pasted: it comes back in the messages."""
    text = _HOSTILE[kind]
    scene.write(scene.header(), *_everywhere("x"))
    for arguments in (
        (f"forgot {text} yesterday", "--now", NOW),
        ("forgot", "--about", text, "--now", NOW),
        ("forgot", "--session", text),
        ("forgot", "--project", text),
        ("forgot", "--cwd", text),
        ("forgot", "--day", text),
        ("forgot", "--tz", text),
        ("forgot", "--now", text),
        ("forgot", "--case", text),
        ("forgot", "--select", text),
        ("forgot", "--events", text),
        ("forgot", "-o", f"/nowhere/{text}"),
        ("context", text),
        ("explain", text),
        ("forgot", "--fail-on", text),
        (f"--{text}",),
    ):
        ran = run(*arguments, "--agent-dir", scene.agent_dir, cwd=scene.outside())
        assert ran.status in (0, 1, 2, 3)
        assert "Traceback" not in ran.err
        assert "a fault of its own" not in ran.err
        assert set(ran.out + ran.err) & INVISIBLE == set(), arguments


@pytest.mark.parametrize("kind", ["acts", "turns", "hides", "breaks lines", "long"])
def test_a_capture_of_any_text_is_shown_and_nothing_more(scene: Scene, kind: str) -> None:
    text = _HOSTILE[kind]
    scene.write(scene.header(), *_everywhere("x"))
    events = [
        scene.header(),
        {"type": "compaction_start", "reason": text},
        {"type": "compaction_end", "reason": text, "aborted": False, "errorMessage": text},
        {"type": "tool_execution_start", "toolCallId": "c2x", "toolName": text, "args": {text: 1}},
        {"type": "auto_retry_start", "attempt": 1, "errorMessage": text},
        {"type": text, text: text},
    ]
    capture = scene.root / "events.jsonl"
    capture.write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
    for arguments in (("-v",), ("--format", "json")):
        _assert_plain(scene.check("--events", capture, *arguments), columns=None)
    capture.write_text(json.dumps(scene.header(id=text)) + "\n", "utf-8")
    ran = run("forgot", "--agent-dir", scene.agent_dir, "--events", capture, cwd=scene.outside())
    assert ran.status in (0, 1, 2, 3)
    assert set(ran.out + ran.err) & INVISIBLE == set()


def test_a_terminal_that_knows_ascii_alone_is_written_to(scene: Scene) -> None:
    path = scene.write(scene.header(), *_everywhere("昨天 é \ud800 ✓"))
    for arguments in (
        ("forgot yesterday", "--now", NOW, "--agent-dir", scene.agent_dir, "--cwd", scene.project),
        ("context", path),
        ("sessions", "--agent-dir", scene.agent_dir, "--cwd", scene.project),
    ):
        ran = run(*arguments, "-o", "-", cwd=scene.outside(), env={"PYTHONIOENCODING": "ascii"})
        assert_answered(ran)


def test_a_recorded_case_is_shown_within_its_columns(tmp_path: Path) -> None:
    case = unpack("stale-renamed", tmp_path)
    for columns in (40, 70, 120):
        ran = run(
            *("forgot yesterday", "--agent-dir", case.agent_dir, "--project", case.project),
            *("--cwd", case.cwd, "--now", case.now, "-v"),
            cwd=tmp_path,
            env={"COLUMNS": str(columns)},
        )
        _assert_plain(ran, columns=columns)


@pytest.mark.parametrize("kind", ["acts", "turns", "hides", "marks up", "breaks lines"])
def test_progress_on_a_terminal_shows_a_name_and_nothing_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    monkeypatch.setattr(progress, "is_terminal", lambda _: True)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    text = _HOSTILE[kind]
    with progress.following("reading") as told:
        told(text)
        time.sleep(0.2)
    shown = capsys.readouterr().err
    assert "\r" in shown
    # The cursor is moved by rich's own escapes, of one kind.
    assert set(shown.replace("\x1b[", "")) & INVISIBLE <= {"\r"}
    assert "\x1b[2J" not in shown

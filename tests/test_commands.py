"""What people type, and what they meet when it is wrong: one line, a status, no traceback."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING

import pytest
from command import COMMAND, run

if TYPE_CHECKING:
    from pathlib import Path

HEADER = (
    '{"type":"session","version":3,"id":"0a1b","timestamp":"2026-10-20T14:00:00.000Z","cwd":"%s"}'
)
PROMPT = (
    '{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-10-20T14:00:01.000Z",'
    '"message":{"role":"user","content":"%s","timestamp":1792504801000}}'
)
NOW = ("--now", "2026-10-21T10:00:00Z")


def _session(folder: Path, text: str = "Look at a.txt") -> Path:
    """Write a session of one prompt where Pi would, for a project in `folder`."""
    name = "--" + str(folder).strip("/").replace("/", "-") + "--"
    path = folder / ".pi" / "agent" / "sessions" / name / "2026-10-20T14-00-00-000Z_0a1b.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(HEADER % folder + "\n" + PROMPT % text + "\n", "utf-8")
    os.utime(path, (1792504801, 1792504801))
    return path


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("forgot", "--session", "gone.jsonl"), 3, "there is no such file"),
        (("forgot", "--session", "./"), 3, "it is a folder"),
        (("forgot", "--session", "./empty.jsonl"), 3, "it is empty"),
        (("forgot", "--session", "./binary.jsonl"), 3, "no line of it is an entry"),
        (("forgot", "--session", "/dev/zero.jsonl"), 3, "there is no such file"),
        (("forgot", "--session", "/dev/zero"), 3, "it is no regular file"),
        (("forgot", "--session", "ffff"), 2, "no session has this id"),
        (("forgot", "--project", "nowhere"), 2, "there is no such folder"),
        (("forgot", "--day", "someday"), 2, "is no day"),
        (("forgot", "--now", "noon"), 2, "is no time"),
        (("forgot", "--tz", "Mars/Base"), 2, "no time zone"),
        (("forgot", "--tz", "../../etc/passwd"), 2, "no time zone"),
        (("forgot", "--select", "PI999"), 2, "no rule has this code"),
        (("forgot", "--fail-on", "panic"), 2, "Invalid value"),
        (("forgot", "--case", "nosuch"), 2, "nosuch"),
        (("forgot", "--no-such-option"), 2, "No such option"),
        (("forgot",), 3, "there is no Pi session for"),
        (("context",), 3, "there is no session for"),
        (("context", "gone.jsonl"), 3, "there is no such file"),
        (("context", "--format", "json", "empty.jsonl", "binary.jsonl"), 2, "takes one file"),
        (("explain", "PI20l"), 2, "did you mean PI2"),
        (("forgot", "--session", "./whole.jsonl", "-o", "x/.git/report.json"), 2, "evidence"),
        (("forgot", "--session", "./whole.jsonl", "-o", "whole.jsonl"), 2, "evidence"),
        (("forgot", "--session", "./whole.jsonl", "-o", "no/such/folder.txt"), 2, "no such file"),
    ],
)
def test_a_wrong_call_gets_one_line_and_its_status(
    tmp_path: Path, arguments: tuple[str, ...], status: int, says: str
) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(256)) * 40)
    whole = HEADER % tmp_path + "\n" + PROMPT % "x" + "\n"
    (tmp_path / "whole.jsonl").write_text(whole, "utf-8")
    ran = run(*arguments, cwd=tmp_path)
    assert (ran.status, ran.out) == (status, "")
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert len([line for line in ran.err.splitlines() if says in line]) == 1
    assert (tmp_path / "whole.jsonl").read_text("utf-8") == whole


def test_without_a_home_folder_the_person_is_told_where_to_point(tmp_path: Path) -> None:
    ran = run("forgot", cwd=tmp_path, env={"HOME": ""})
    assert ran.status == 3
    assert "--agent-dir" in ran.err


def test_what_is_no_command_is_a_symptom(tmp_path: Path) -> None:
    _session(tmp_path)
    bare = run("forgot yesterday", *NOW, "--format", "json", cwd=tmp_path)
    named = run("check", "forgot", "yesterday", *NOW, "--format", "json", cwd=tmp_path)
    options_first = run(*NOW, "--format", "json", "forgot yesterday", cwd=tmp_path)
    assert bare.status == named.status == options_first.status == 0
    assert bare.report == named.report == options_first.report
    assert bare.report["question"]["kind"] == "forgot"


@pytest.mark.parametrize("variable", ["PI_CODING_AGENT_DIR", None])
def test_the_agent_folder_is_found_as_pi_finds_it(tmp_path: Path, variable: str | None) -> None:
    path = _session(tmp_path)
    agent = path.parent.parent.parent
    if variable:
        moved = tmp_path / "elsewhere"
        agent.rename(moved)
        path = moved / "sessions" / path.parent.name / path.name
    environment: dict[str, str | None] = {variable: "~/elsewhere"} if variable else {}
    ran = run("forgot yesterday", *NOW, "--format", "json", cwd=tmp_path, env=environment)
    assert ran.report["subject"]["path"] == str(path)


@pytest.mark.parametrize("source", ["option", "variable", "project", "agent"])
def test_a_session_folder_of_ones_own_is_found_as_pi_finds_it(tmp_path: Path, source: str) -> None:
    path = _session(tmp_path)
    own = tmp_path / "own"
    path.parent.rename(own)
    (tmp_path / ".pi" / "agent").mkdir(exist_ok=True)
    arguments: list[str] = []
    environment: dict[str, str | None] = {}
    if source == "option":
        arguments = ["--session-dir", "own"]
    elif source == "variable":
        environment = {"PI_CODING_AGENT_SESSION_DIR": str(own)}
    else:
        folder = tmp_path / ".pi" / ("agent" if source == "agent" else "")
        (folder / "settings.json").write_text(json.dumps({"sessionDir": "own"}), "utf-8")
    ran = run(
        *arguments, "forgot yesterday", *NOW, "--format", "json", cwd=tmp_path, env=environment
    )
    assert ran.report["subject"]["path"] == str(own / path.name)


def test_an_id_may_be_shortened(tmp_path: Path) -> None:
    path = _session(tmp_path)
    ran = run("forgot", *NOW, "--session", "0a", "--format", "json", cwd=tmp_path)
    assert ran.report["subject"]["path"] == str(path)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [((), 0), (("--fail-on", "note"), 1), (("--fail-on", "never"), 0)],
)
def test_the_exit_status_follows_fail_on(
    tmp_path: Path, arguments: tuple[str, ...], status: int
) -> None:
    """A session in a folder without git, whose one file read is unchanged: notes, nothing more."""
    path = _session(tmp_path)
    (tmp_path / "a.txt").write_text("one\n", "utf-8")
    lines = [
        {
            "role": "assistant",
            "content": [
                {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a.txt"}}
            ],
            "stopReason": "toolUse",
            "provider": "p",
            "model": "m",
            "usage": {
                "input": 1,
                "output": 1,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": 2,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
            },
            "api": "a",
            "timestamp": 1792504802000,
        },
        {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "read",
            "isError": False,
            "content": [{"type": "text", "text": "one\n"}],
            "timestamp": 1792504803000,
        },
    ]
    with path.open("a", encoding="utf-8") as file:
        for number, message in enumerate(lines, 2):
            entry = {
                "type": "message",
                "id": f"0000000{number}",
                "parentId": f"0000000{number - 1}",
                "timestamp": f"2026-10-20T14:00:0{number}.000Z",
                "message": message,
            }
            file.write(json.dumps(entry) + "\n")
    ran = run("forgot yesterday", *NOW, *arguments, "--format", "json", cwd=tmp_path)
    assert ran.rules("error", "warning") == set()
    assert "PI510" in ran.rules("note")
    assert ran.status == status


def test_a_verdict_of_some_rules_claims_no_more_than_they_say(tmp_path: Path) -> None:
    _session(tmp_path)
    some = run("forgot yesterday", *NOW, "--select", "PI20", "--format", "json", cwd=tmp_path)
    assert "by the rules that were asked" in some.report["verdict"]["summary"]
    assert {check["rule"][:4] for check in some.report["checks"]} == {"PI20"}
    every = run("forgot yesterday", *NOW, "--format", "json", cwd=tmp_path)
    assert "rules that were asked" not in every.report["verdict"]["summary"]


def test_a_layer_of_which_only_a_rule_without_its_evidence_was_asked_was_not_looked_at(
    tmp_path: Path,
) -> None:
    """PI312 needs a capture of events, and none is given: nothing can be said of its layer."""
    _session(tmp_path)
    ran = run("forgot yesterday", *NOW, "--select", "PI312", "--format", "json", cwd=tmp_path)
    layer = next(one for one in ran.report["layers"] if one["layer"] == "compaction")
    assert layer["status"] == "skipped"
    assert "no events capture was given" in layer["summary"]


def test_a_report_goes_to_a_file_in_the_format_of_its_ending(tmp_path: Path) -> None:
    _session(tmp_path)
    ran = run("forgot yesterday", *NOW, "-o", "report.json", cwd=tmp_path)
    assert (ran.status, ran.out) == (0, "")
    assert json.loads((tmp_path / "report.json").read_text("utf-8"))["schema"] == 1


HOSTILE = "\\u001b]52;c;AAAA\\u0007\\u001b[2J\\u202e\\u200b\\u009b31m[bold]<b>"


def test_text_of_a_session_acts_on_no_terminal(tmp_path: Path) -> None:
    """Escapes, a direction override, a zero-width space and a C1 control are written out."""
    _session(tmp_path, HOSTILE)
    for arguments in (("-v",), ("--format", "json"), ("--color", "always", "-v")):
        ran = run("forgot <b> yesterday", *NOW, *arguments, cwd=tmp_path)
        shown = ran.out.replace("\x1b[", "") if "always" in arguments else ran.out
        assert not set(shown) & set("\x1b\x07\x9b\u202e\u200b")
    shown = run("context", cwd=tmp_path, env={"COLUMNS": "200"}).out
    assert not set(shown) & set("\x1b\x07\x9b\u202e\u200b")
    assert "[bold]<b>" in shown


def _on_a_terminal(cwd: Path, columns: int, **variables: str) -> str:
    """Run the command on a terminal of so many columns and return what it shows."""
    ours, theirs = pty.openpty()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "TZ": "UTC",
        "TERM": "xterm",
        "COLUMNS": str(columns),
        **variables,
    }
    process = subprocess.Popen(
        [COMMAND, "forgot yesterday", *NOW], cwd=cwd, env=environment, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    process.wait(timeout=60)
    return b"".join(pieces).decode("utf-8").replace("\r\n", "\n")


def test_colour_is_for_terminals_alone(tmp_path: Path) -> None:
    _session(tmp_path)
    assert "\x1b[" in _on_a_terminal(tmp_path, 80)
    assert "\x1b[" not in _on_a_terminal(tmp_path, 80, NO_COLOR="1")
    assert "\x1b[" not in run("forgot yesterday", *NOW, cwd=tmp_path).out


@pytest.mark.parametrize("columns", [50, 80])
def test_a_report_fits_a_narrow_terminal(tmp_path: Path, columns: int) -> None:
    """Commands alone may be longer, since a command that is broken cannot be copied."""
    _session(tmp_path)
    shown = _on_a_terminal(tmp_path, columns, NO_COLOR="1")
    lines = [line for line in shown.splitlines() if not line.lstrip().startswith("$ ")]
    assert lines
    assert max(map(len, lines)) <= columns


def test_a_pipe_that_closes_early_is_no_fault(tmp_path: Path) -> None:
    path = _session(tmp_path, "x" * 200_000)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [COMMAND, "context", "--format", "json", str(path)],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )
    os.close(writer)
    os.read(reader, 10)
    os.close(reader)
    _, err = process.communicate(timeout=60)
    assert err == b""


def test_every_command_helps_with_an_example(tmp_path: Path) -> None:
    names = ["check", "context", "rules", "explain", "cases"]
    shown = run("--help", cwd=tmp_path).out
    assert all(name in shown for name in names)
    for name in names:
        ran = run(name, "--help", cwd=tmp_path)
        assert ran.status == 0
        assert "Example" in ran.out
        assert "pi-diagnose" in ran.out.split("Example")[1]


def test_help_loads_click_and_nothing_heavier(tmp_path: Path) -> None:
    ran = subprocess.run(
        [COMMAND.with_name("python"), "-X", "importtime", COMMAND, "--help"],
        capture_output=True,
        cwd=tmp_path,
        check=True,
        text=True,
    )
    loaded = {line.rsplit("|", 1)[-1].strip() for line in ran.stderr.splitlines()}
    assert "click" in loaded
    readers = {"orjson", "msgspec", "jsonschema", "jsonschema_rs"}
    assert not loaded & {*readers, "git", "rich", "tabulate", "tree_sitter"}
    assert not any(name.startswith("diagnose.rules") for name in loaded)

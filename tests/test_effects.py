"""What a tool call does, as its name and arguments tell it."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic

import pytest

from diagnose.pipeline.effects import call_effect, lasting, names_only, parts

COMMANDS = json.loads((Path(__file__).parent / "data" / "commands.json").read_text("utf-8"))


@pytest.mark.parametrize("row", COMMANDS["commands"], ids=lambda row: row[0][:40] or "nothing")
def test_a_command_is_of_the_class_of_its_worst_part(row: list[str]) -> None:
    command, effect, *part = row
    found = call_effect("bash", {"command": command})
    assert found.effect == effect
    if part:
        assert found.text == part[0]


@pytest.mark.parametrize(
    ("tool", "arguments", "effect"),
    [
        ("read", {"path": "a"}, "read"),
        ("grep", {"pattern": "a"}, "read"),
        ("write", {"path": "a", "content": ""}, "local-write"),
        ("edit", {"path": "a"}, "local-write"),
        ("deploy_to_production", {}, "unknown"),
        ("bash", {"command": ["rm", "-rf"]}, "unknown"),
        ("bash", {}, "unknown"),
    ],
)
def test_a_tool_that_nobody_knows_may_do_anything(
    tool: str, arguments: dict[str, object], effect: str
) -> None:
    assert call_effect(tool, arguments).effect == effect


def test_a_message_given_by_a_here_document_is_read() -> None:
    """Agents give commit messages of several lines so."""
    (commit, *_) = parts("git commit -m \"$(cat <<'EOF'\nAdd x\n\nWhy.\nEOF\n)\"")
    assert commit.words == ("git", "commit", "-m", "Add x\n\nWhy.\n")


def test_a_word_that_is_known_only_when_it_runs_is_no_word() -> None:
    (push,) = parts("git push origin $BRANCH")
    assert push.words == ("git", "push", "origin", None)


def test_what_a_summary_should_tell_of_is_what_lasts_and_what_was_tested() -> None:
    found = lasting("mkdir -p out; npm test && git commit -m x; ls; git push")
    assert [part.text for part in found] == ["npm test", "git commit -m x", "git push"]


@pytest.mark.parametrize(
    ("command", "shows"),
    [("cat a.ts", True), ("ls a.ts", False), ("git add a.ts", False), ("git show x:a.ts", True)],
)
def test_a_listing_shows_nothing_of_a_file(command: str, shows: bool) -> None:
    (part,) = parts(command)
    assert names_only(part) is not shows


@pytest.mark.parametrize(
    "command",
    [
        "(" * 20_000 + "ls" + ")" * 20_000,
        "sudo " * 20_000 + "ls",
        "ls | " * 20_000 + "ls",
        "echo " + "$(" * 2_000 + ")" * 2_000,
        "bash -c " * 50 + "ls",
        "\ud83d \x00 '\" <<EOF",
        "a" * 1_000_000,
    ],
    ids=["nested", "wrapped", "piped", "substituted", "shells", "broken", "long"],
)
def test_no_command_is_too_much(command: str) -> None:
    begun = monotonic()
    call_effect("bash", {"command": command})
    assert monotonic() - begun < 10

"""Recorded cases as they lie unpacked: the repository, the sessions, their times, the answers."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from diagnose.casefiles import CaseError, load, names, unpack

from diagnose.pipeline.registry import pipeline

CASES = Path(str(files("diagnose.casefiles")))
WITH_CHANGES = [name for name in names() if (CASES / name / "worktree.diff").is_file()]


def _git(folder: Path, *arguments: str | Path) -> str:
    """Ask git as on a machine where nothing was ever set."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8")


def _refs(listing: str) -> dict[str, str]:
    """Return what each name of a list `COMMIT NAME` stands for."""
    return {line.split()[1]: line.split()[0] for line in listing.splitlines()}


def _entries(session: Path) -> list[dict[str, Any]]:
    # Not by `splitlines` of a text: texts hold U+2028, which ends no line of JSON.
    return [json.loads(line) for line in session.read_bytes().rstrip(b"\n").split(b"\n")]


def _sessions(folder: Path) -> list[Path]:
    return sorted((folder / "sessions").rglob("*.jsonl"))


def test_there_are_twenty_cases() -> None:
    """Data that the wheel or the sdist left out would otherwise be tests that do not run."""
    assert len(names()) == 20
    assert len(WITH_CHANGES) == 6


@pytest.mark.parametrize("name", names())
def test_the_repository_has_the_commits_and_names_of_the_bundle(name: str, tmp_path: Path) -> None:
    project = unpack(name, tmp_path).project
    recorded = _refs(_git(project, "bundle", "list-heads", CASES / name / "repo.bundle"))
    head = recorded.pop("HEAD")
    assert _git(project, "rev-parse", "HEAD").strip() == head
    assert _git(project, "symbolic-ref", "HEAD").strip() in recorded
    listing = _git(project, "for-each-ref", "--format=%(objectname) %(refname)")
    assert _refs(listing) == recorded


def test_what_was_pushed_is_known_from_the_remote_tracking_name(tmp_path: Path) -> None:
    """It comes in the bundle of the repository; a bundle of the remote would add nothing."""
    project = unpack("killed-mid-push", tmp_path).project
    pushed = _git(project, "rev-parse", "refs/remotes/origin/main")
    assert pushed == _git(project, "rev-parse", "refs/heads/main")


@pytest.mark.parametrize("name", names())
def test_the_working_tree_has_the_uncommitted_changes_and_no_others(
    name: str, tmp_path: Path
) -> None:
    project = unpack(name, tmp_path).project
    changed = _git(project, "status", "--porcelain", "--untracked-files=all").splitlines()
    if name not in WITH_CHANGES:
        assert changed == []
        return
    diff = CASES / name / "worktree.diff"
    _git(project, "apply", "--check", "--reverse", diff)
    named = {line.split("\t")[2] for line in _git(project, "apply", "--numstat", diff).splitlines()}
    assert {line[3:] for line in changed} == named


@pytest.mark.parametrize("name", names())
def test_sessions_are_as_they_were_recorded_to_the_byte(name: str, tmp_path: Path) -> None:
    case = unpack(name, tmp_path)
    recorded = {path.relative_to(CASES / name): path for path in _sessions(CASES / name)}
    found = {path.relative_to(case.agent_dir): path for path in _sessions(case.agent_dir)}
    assert recorded
    assert found.keys() == recorded.keys()
    for key, path in found.items():
        assert path.read_bytes() == recorded[key].read_bytes()


@pytest.mark.parametrize("name", names())
def test_a_session_file_has_the_time_of_its_last_entry(name: str, tmp_path: Path) -> None:
    """By which `pi --continue` chooses; a copy has the time of the copying."""
    for path in _sessions(unpack(name, tmp_path).agent_dir):
        last = datetime.fromisoformat(_entries(path)[-1]["timestamp"]).timestamp()
        assert path.stat().st_mtime == pytest.approx(last, abs=0.001)


def test_captures_lie_beside_the_project_and_nothing_else_is_left(tmp_path: Path) -> None:
    unpack("json-mode", tmp_path)
    left = {"agent", "greet", "killed.events.jsonl", "threshold.events.jsonl"}
    assert {path.name for path in tmp_path.iterdir()} == left
    # Pi's own accounts are for the tests: no Pi leaves such a file in its folder.
    assert {path.suffix for path in (tmp_path / "agent").rglob("*") if path.is_file()} == {".jsonl"}


def test_the_persons_own_git_settings_have_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    hook = home / "hooks" / "reference-transaction"
    hook.parent.mkdir(parents=True)
    hook.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    hook.chmod(0o755)
    settings = home / ".gitconfig"
    settings.write_text(f"[core]\nautocrlf = true\nhooksPath = {hook.parent}\n", "utf-8")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere" / "index"))
    project = unpack("continued", tmp_path / "case").project
    assert b"\r" not in (project / "src" / "greet.ts").read_bytes()
    assert not (tmp_path / "nowhere").exists()


def test_an_unknown_case_is_one_line_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(CaseError) as caught:
        unpack("stale-renamd", tmp_path / "case")
    assert str(caught.value) == "no case is called stale-renamd; did you mean stale-renamed?"
    assert not (tmp_path / "case").exists()


def test_a_name_that_is_near_to_nothing_leads_to_the_list() -> None:
    with pytest.raises(CaseError) as caught:
        load("../../etc/passwd")
    assert str(caught.value) == "no case is called ../../etc/passwd; `pi-diagnose cases` lists them"


def test_without_git_a_case_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    with pytest.raises(CaseError) as caught:
        unpack("continued", tmp_path / "case")
    assert str(caught.value).startswith("git is not installed")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", names())
def test_what_an_answer_cites_stands_where_it_says(name: str) -> None:
    """Answers are written by hand: a wrong line number would ask for a wrong finding."""
    recorded = {path.name: _entries(path) for path in _sessions(CASES / name)}
    for asked in load(name)["questions"]:
        for wanted in asked["expect"]["must_find"]:
            for cited in wanted.get("cites", []):
                if "entry" not in cited:
                    continue
                at = cited["line"] - 1
                assert any(
                    at < len(entries)
                    and entries[at].get("id") == cited["entry"]
                    and cited.get("quote", "") in json.dumps(entries[at], ensure_ascii=False)
                    for file, entries in recorded.items()
                    if file.endswith(cited.get("path", ""))
                ), f"{wanted['rule']}: {cited}"


@pytest.mark.parametrize("name", names())
def test_a_question_names_one_session_or_none(name: str) -> None:
    identities = [_entries(path)[0]["id"] for path in _sessions(CASES / name)]
    for asked in load(name)["questions"]:
        if "session" in asked:
            assert sum(one.startswith(asked["session"]) for one in identities) == 1


@pytest.mark.parametrize("name", names())
def test_what_must_not_be_found_are_rules_that_exist(name: str) -> None:
    """A code with a slip in it would never be found, and hold for ever."""
    codes = [rule.code for rule in pipeline()]
    for asked in load(name)["questions"]:
        for unwanted in asked["expect"]["must_not_find"]:
            assert any(code.startswith(unwanted["rule"]) for code in codes), unwanted["rule"]

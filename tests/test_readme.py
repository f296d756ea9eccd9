"""README, `rules`, `explain` and `--help` say the same."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from command import run

from diagnose.pipeline.registry import pipeline

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
HEADINGS = (
    "What it finds",
    "Why it matters",
    "What proves it",
    "What it cannot tell",
    "What to do",
)


def test_help_texts_tables_and_the_run_in_the_readme_are_what_the_command_prints(
    tmp_path: Path,
) -> None:
    """cog pastes them; here it checks that they are still true."""
    copy = shutil.copy(ROOT / "README.md", tmp_path)
    cog = Path(sys.executable).with_name("cog")
    done = subprocess.run(
        [cog, "--check", "--diff", copy], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_stands_in_the_readme_with_its_help(tmp_path: Path) -> None:
    listed = run("--help", cwd=tmp_path).out.split("Commands:")[1]
    names = re.findall(r"^  (\w+) ", listed, re.MULTILINE)
    assert "check" in names
    for name in names:
        assert f"#### `pi-diagnose {name}`" in README


def test_the_readme_has_just_two_commands_that_set_everything_up() -> None:
    blocks = re.findall(r"<!-- command: (\w+) -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert [name for name, _ in blocks] == ["first", "second"]
    first, second = (text for _, text in blocks)
    assert "-m venv" in first
    assert "pi-diagnose" in first
    assert ".[test]" in second
    assert "pytest" in second


def test_the_exit_statuses_in_the_readme_are_those_of_the_design() -> None:
    table = dict(re.findall(r"^\| (\d) \| (.+?) \|$", README, re.MULTILINE))
    assert set(table) == {"0", "1", "2", "3"}


def test_every_rule_file_is_asked_just_once() -> None:
    files = {path.stem for path in (ROOT / "rules").rglob("*.py") if path.name != "__init__.py"}
    asked = [rule.check.__module__.rsplit(".", 1)[-1] for rule in pipeline()]
    assert sorted(asked) == sorted(files)
    assert [rule.check.__name__ for rule in pipeline()] == asked


def test_codes_and_names_are_unique_and_in_the_order_of_the_layers() -> None:
    rules = pipeline()
    assert len({rule.code for rule in rules}) == len({rule.name for rule in rules}) == len(rules)
    layers = ["storage", "branch", "compaction", "source", "ledger", "privacy"]
    order = [(layers.index(rule.layer), rule.code) for rule in rules]
    assert order == sorted(order)
    for rule in rules:
        # PI1xx storage … PI4xx and PI5xx source, PI6xx ledger.
        expected = {"1": 0, "2": 1, "3": 2, "4": 3, "5": 3, "6": 4, "7": 5}[rule.code[2]]
        assert layers.index(rule.layer) == expected


def test_every_page_has_its_headings_and_explain_prints_it(tmp_path: Path) -> None:
    for rule in pipeline():
        heads = re.findall(r"^(\S.*)$", rule.page.strip(), re.MULTILINE)
        assert [head for head in heads[1:] if head in HEADINGS] == list(HEADINGS), rule.code
        assert heads[0].endswith("."), rule.code
    one = pipeline()[0]
    by_code = run("explain", one.code.lower(), cwd=tmp_path)
    by_name = run("explain", one.name, cwd=tmp_path)
    assert by_code.out == by_name.out
    assert all(heading in by_code.out for heading in HEADINGS)


def test_rules_lists_every_rule_with_what_it_finds(tmp_path: Path) -> None:
    rows = json.loads(run("rules", "--format", "json", cwd=tmp_path).out)
    assert [(row["code"], row["name"], row["layer"], row["levels"]) for row in rows] == [
        (rule.code, rule.name, rule.layer, list(rule.levels)) for rule in pipeline()
    ]
    text = run("rules", cwd=tmp_path).out
    for row in rows:
        assert row["code"] in text
        assert row["finds"] in text
        assert f"| {row['code']} | {row['name']} |" in README

"""Imports run one way between the rooms."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What each room may import of the others; the design's arrows.
MAY = {
    "diagnose/sessions": {"diagnose.sessions", "diagnose.evidence"},
    "diagnose/project": {"diagnose.project", "diagnose.evidence"},
    "diagnose/pipeline": {
        "diagnose.pipeline",
        "diagnose.sessions",
        "diagnose.project",
        "diagnose.evidence",
    },
    "diagnose/report": {"diagnose.report"},
    "diagnose/cli": {
        "diagnose.cli",
        "diagnose.pipeline",
        "diagnose.report",
        # `context` prints Pi's account of a file, which is no finding of the pipeline's.
        "diagnose.sessions",
        "diagnose.evidence",
    },
    "rules": {"diagnose.pipeline", "diagnose.sessions", "diagnose.project", "diagnose.evidence"},
}
# The only modules that reach a mapped package, and which: by name, so that types still follow.
BY_NAME = {
    "diagnose/pipeline/registry.py": {"diagnose.rules"},
    "diagnose/cli/check.py": {"diagnose.casefiles"},
    "diagnose/cli/cases.py": {"diagnose.casefiles"},
}


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


@pytest.mark.parametrize("room", MAY)
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    files = sorted((ROOT / room).rglob("*.py"))
    assert files, "a room without modules would pass unseen"
    wrong = {
        (path.relative_to(ROOT).as_posix(), module)
        for path in files
        for module in _imports(path)
        if module.startswith("diagnose.") and _room(module) not in MAY[room]
    }
    assert wrong == set()


def test_a_rule_never_imports_another_rule() -> None:
    """Only the package's own `__init__` names rules; a rule is understood from its one file."""
    files = [path for path in (ROOT / "rules").rglob("*.py") if path.name != "__init__.py"]
    assert files
    wrong = [(path.name, m) for path in files for m in _imports(path) if m.startswith(".")]
    assert wrong == []


def test_no_module_prints_but_those_that_report() -> None:
    """Rules never print, and nor does the pipeline: a report is a value before it is text."""
    files = [
        path
        for room in ("diagnose/sessions", "diagnose/project", "diagnose/pipeline", "rules")
        for path in (ROOT / room).rglob("*.py")
    ]
    printing = [
        path.name
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert printing == []

"""What is installed is what is on disk."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

from diagnose import __version__

ROOT = Path(__file__).parent.parent
MAPPED = {
    "rules": "diagnose.rules",
    "schemas": "diagnose.schemas",
    "casefiles": "diagnose.casefiles",
}


def test_every_package_on_disk_is_listed() -> None:
    """A package that is not listed works in an editable install and is missing from the wheel."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = set(listed["tool"]["setuptools"]["packages"])
    on_disk = set()
    for top in ("diagnose", *MAPPED):
        for init in (ROOT / top).rglob("__init__.py"):
            name = init.parent.relative_to(ROOT).as_posix().replace("/", ".")
            head, _, rest = name.partition(".")
            on_disk.add(MAPPED.get(head, head) + (f".{rest}" if rest else ""))
    assert packages == on_disk


def test_every_schema_and_case_is_installed() -> None:
    for top, package in MAPPED.items():
        here = {
            path.relative_to(ROOT / top).as_posix()
            for path in (ROOT / top).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        installed = Path(str(files(package)))
        there = {
            path.relative_to(installed).as_posix()
            for path in installed.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert here == there, f"{package} differs from {top}/"


def test_the_top_level_shows_only_what_the_design_names() -> None:
    """Build results aside, which git ignores."""
    allowed = {
        "pyproject.toml",
        "README.md",
        "diagnose",
        "schemas",
        "rules",
        "tests",
        "casefiles",
        "LICENSE",
        "CHANGELOG.md",
        "MANIFEST.in",
    }
    ignored = {"build", "dist"}
    shown = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {n for n in shown - ignored if not n.endswith(".egg-info")} <= allowed


def test_the_changelog_tells_of_this_version() -> None:
    heads = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heads[0] == __version__

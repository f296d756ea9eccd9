"""Older releases of Pi are judges too: of the sessions, folders and settings that they left.

`tests/data/older/RELEASE` holds what `older_pi.mjs` recorded with a release: the agent folder, and
`truth.json`, what that release itself says of it. Where the present Pi is documented to read a file
otherwise, `differs.json` says what it reads now, and why.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from command import run
from comparison import difference
from diagnosis import Diagnosis
from real_pi import ENVIRONMENT, NODE, PACKAGES, asks_pi

from diagnose.pipeline.opening import Request, open_case
from diagnose.pipeline.question import ask, parse_now
from diagnose.pipeline.registry import pipeline
from diagnose.pipeline.walk import walk
from diagnose.sessions.folder import Folder, continued_session, encode, find_by_id, session_folder
from diagnose.sessions.reading import read_session
from diagnose.sessions.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
DATA = HERE.parent / "data" / "older"
RELEASES = sorted(path.name for path in DATA.iterdir() if path.is_dir())
HOME = "/home/dev"
# Where older releases are installed, each in a folder of its version: `npm i --prefix RELEASE`.
INSTALLED = os.environ.get("PI_DIAGNOSE_OLDER_PIS")
# For its folders, the command of a release runs nine times (seconds).
PATIENCE = 200
DIFFERS: list[dict[str, Any]] = json.loads((DATA / "differs.json").read_text("utf-8"))

every_release = pytest.mark.parametrize("release", RELEASES)


# What each recorded session must be found to have lost, by release and place among its sessions: it
# was played so. All others are whole.
COMPACTED, LEFT_WITH_SUMMARY, LEFT, IN_THE_ORIGINAL = "PI301", "PI203", "PI201", "PI205"
LOST = {
    # `/branch` was a file of its own then: no branch was left in this one.
    ("0.30.2", 0): {COMPACTED},
    ("0.32.3", 0): {COMPACTED, LEFT_WITH_SUMMARY},
    # 0.32.3 makes a file for `/branch`, and goes on in the old one from where they part: what came
    # after that in the old file is off its branch, and the new file has nothing of either.
    ("0.32.3", 1): {LEFT},
    ("0.32.3", 2): {IN_THE_ORIGINAL},
    # And for `/new` it writes a second header into the old file: what stood there has no way to it.
    ("0.32.3", 3): {LEFT},
    ("0.58.4", 0): {COMPACTED, LEFT_WITH_SUMMARY},
    ("0.73.1", 0): {COMPACTED, LEFT_WITH_SUMMARY},
    ("0.84.4", 0): {COMPACTED, LEFT_WITH_SUMMARY},
    ("1.0.3", 0): {COMPACTED, LEFT_WITH_SUMMARY},
}


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


class Recording:
    """What a release left, copied to where times may be set, and what it says of it."""

    def __init__(self, release: str, folder: Path) -> None:
        self.release = release
        self.origin = _json(DATA / release / "origin.json")
        self.truth = _json(DATA / release / "truth.json")
        self.cwd: str = self.origin["cwd"]
        self.agent = folder / "agent"
        shutil.copytree(DATA / release / "agent", self.agent)
        self.sessions = self.agent / "sessions" / encode(self.cwd)
        for name, changed in self.origin["mtimes"].items():
            os.utime(self.sessions / name, (changed / 1000, changed / 1000))

    @property
    def files(self) -> list[Path]:
        """The session files, the oldest first."""
        return [self.sessions / name for name in sorted(self.origin["mtimes"])]

    def expected(self) -> dict[str, Any]:
        """Return the truth, sessions as a list, with what is read otherwise now."""
        truth = {**self.truth, "sessions": [self.truth["sessions"][one.name] for one in self.files]}
        for one in DIFFERS:
            if self.release in one["releases"]:
                *way, last = one["at"]
                for place in _places(truth, way):
                    place[last] = one["now"]
        return truth


def _places(value: Any, way: list[Any]) -> Iterator[Any]:
    """Give what a way leads to; `*` stands for every item of a list."""
    if not way:
        yield value
        return
    for item in value if way[0] == "*" else [value[way[0]]]:
        yield from _places(item, way[1:])


@pytest.fixture
def recording(release: str, tmp_path: Path) -> Recording:
    return Recording(release, tmp_path)


def _ours(files: list[Path], folder: Path) -> list[dict[str, Any]]:
    ran = run("context", "--format", "jsonl", *files, cwd=folder)
    assert ran.status == 0, ran.err
    return [json.loads(line) for line in ran.out.rstrip("\n").split("\n")]


# ---- without any Pi ------------------------------------------------------------------------------


def test_every_version_of_the_file_format_was_recorded() -> None:
    """A header without a version is of version 1; no release writes later ones than 3."""
    versions = set()
    for release in RELEASES:
        truth = _json(DATA / release / "truth.json")
        versions |= {one["header"].get("version", 1) for one in truth["sessions"].values()}
    assert len(RELEASES) >= 4
    assert versions == {1, 2, 3}


@pytest.mark.parametrize("number", range(len(DIFFERS)))
def test_what_is_said_to_differ_does(number: int) -> None:
    """An exception that no recording needs any more would hide a mistake of ours."""
    one = DIFFERS[number]
    assert one["why"]
    *way, last = one["at"]
    for release in one["releases"]:
        truth = _json(DATA / release / "truth.json")
        truth["sessions"] = [truth["sessions"][name] for name in sorted(truth["sessions"])]
        places = list(_places(truth, way))
        assert places
        assert all(place.get(last) != one["now"] for place in places), release


@every_release
def test_a_session_is_read_as_the_release_that_wrote_it_reads_it(
    recording: Recording, tmp_path: Path
) -> None:
    """Leaf, active branch, name, model, thinking level, and each message of the context."""
    found = []
    sessions = recording.expected()["sessions"]
    for ours, theirs in zip(_ours(recording.files, tmp_path), sessions, strict=True):
        assert ours["error"] is None
        # An older release gives messages alone: not the entries that they come from, and no totals.
        messages = [one for item in ours["context"] for one in item["messages"]]
        said = {**ours, "context": messages, "wire": None, "stats": None}
        found.append(difference(said, theirs))
    assert found == [None] * len(recording.files)


@every_release
def test_the_tree_has_the_tips_that_the_release_shows(recording: Recording) -> None:
    for file, theirs in zip(recording.files, recording.expected()["sessions"], strict=True):
        tree = Tree(read_session(file))
        if theirs["tips"]:
            assert {one.id for one in tree.tips} == set(theirs["tips"])
        else:
            # Before the tree a session was a list: its one end is the last entry.
            assert [one.line for one in tree.tips] == [theirs["leaf_line"]]


@every_release
def test_the_wire_is_what_the_release_sent(recording: Recording, tmp_path: Path) -> None:
    """Not what the release says that it would send: the request that came to the model.

    The last request of each session is what the file held before the last reply.
    """
    cut, requests = [], []
    for file in recording.files:
        if file.name not in recording.truth["requested"]:
            continue  # made by `/branch`, and nothing was asked in it
        lines = file.read_bytes().splitlines(keepends=True)
        roles = [json.loads(line).get("message", {}).get("role") for line in lines]
        replied = max(place for place, role in enumerate(roles) if role == "assistant")
        cut.append(tmp_path / file.name)
        cut[-1].write_bytes(b"".join(lines[:replied]))
        requests.append(recording.truth["requested"][file.name])
    assert cut
    for ours, request in zip(_ours(cut, tmp_path), requests, strict=True):
        wire = [{key: one[key] for key in one if key != "isError"} for one in ours["wire"]]
        # The system prompt stands in no session before 1.0, and first in every request.
        system = ("system", "developer")
        assert [one for one in wire if one["role"] != "system"] == [
            one for one in request if one["role"] not in system
        ]


@every_release
def test_the_sessions_are_listed_as_the_release_lists_them(
    recording: Recording, tmp_path: Path
) -> None:
    """In its own folder layout: which there are, in which order, and which `--continue` opens."""
    ran = run(
        *("sessions", "--format", "json", "--tz", "UTC"),
        *("--cwd", recording.cwd, "--agent-dir", recording.agent),
        cwd=tmp_path,
    )
    assert ran.status == 0, ran.err
    assert ran.err == ""
    listed = json.loads(ran.out)
    expected = recording.expected()
    by_file = dict(zip([one.name for one in recording.files], expected["sessions"], strict=True))
    theirs = expected["listed"]
    assert [one["id"] for one in listed] == [one["id"] for one in theirs]
    assert [Path(one["path"]).name for one in listed] == [one["file"] for one in theirs]
    names = [by_file[one["file"]]["name"] or one["firstMessage"] for one in theirs]
    assert [one["title"] for one in listed] == names
    for ours, other in zip(listed, theirs, strict=True):
        # The first releases take the file's time, later ones that of the last message: both are the
        # moment of the last entry here, but for some milliseconds.
        modified = parse_now(ours["modified"], UTC).timestamp()
        assert abs(modified - other["modified"] / 1000) <= 1
        assert ours["trouble"] == []
        assert ours["branches"] == max(len(by_file[other["file"]]["tips"]), 1)
    assert [Path(one["path"]).name for one in listed if one["continued"]] == [expected["continued"]]


@every_release
def test_a_folder_of_ones_own_is_continued_as_the_present_pi_does(
    recording: Recording, tmp_path: Path
) -> None:
    """The newest file there is another project's."""
    own = tmp_path / "own"
    own.mkdir()
    mine, newest = recording.files[0], max(recording.files, key=lambda one: one.stat().st_mtime)
    shutil.copy2(mine, own)
    other = own / newest.name
    here, there = f'"cwd":"{recording.cwd}"', f'"cwd":"{HOME}/work/other"'
    other.write_text(newest.read_text("utf-8").replace(here, there), "utf-8")
    os.utime(other, (newest.stat().st_mtime, newest.stat().st_mtime))
    found = continued_session(Folder(own, recording.agent, "option"), recording.cwd)
    assert found is not None
    expected = recording.expected()["continuedInOwnFolder"]
    if expected is not None:  # 0.7.6 has no folders of one's own
        assert read_session(found).cwd == expected


@every_release
def test_an_id_that_the_release_lists_finds_its_session(recording: Recording) -> None:
    """Pi goes by the id in the header; the file's name is only a name."""
    for one in recording.truth["listed"]:
        for wanted in (one["id"], one["id"][:23]):
            found = find_by_id(recording.files, wanted)
            assert [path.name for path in found] == [one["file"]], wanted


@every_release
def test_settings_of_the_release_are_read(recording: Recording) -> None:
    """Its own settings file sets no session folder: what else stands in it changes nothing."""
    written = recording.agent / "settings.json"
    settings = recording.truth["settings"]
    if settings is None:
        assert not written.exists()  # 0.7.6 has none
    else:
        assert settings["sessionDir"] is None
        assert _json(written)["defaultProvider"] == settings["provider"]
    folder = session_folder(recording.cwd, recording.agent, None, {"HOME": HOME})
    assert (folder.source, folder.path) == ("default", recording.sessions)


@every_release
def test_a_session_is_looked_for_where_the_release_puts_it(
    recording: Recording, tmp_path: Path
) -> None:
    """The command of the release was run with each setting, and left a session there."""
    differences = {}
    for name, place in recording.expected()["folders"].items():
        home = tmp_path / name
        ours = _folder(place, home)
        if ours != home / place["folder"]:
            differences[name] = str(ours)
    assert differences == {}


def _folder(place: dict[str, Any], home: Path) -> Path:
    """Return the folder that is taken for settings as they were when the release was asked."""
    cwd, agent = home / place.get("cwd", "work/greet"), home / ".pi" / "agent"
    for folder, settings in (
        (agent, place.get("agentSettings")),
        (cwd / ".pi", place.get("projectSettings")),
    ):
        folder.mkdir(parents=True)
        if settings is not None:
            (folder / "settings.json").write_text(json.dumps(settings), "utf-8")
    environment = {"HOME": str(home), **place.get("environment", {})}
    found = session_folder(str(cwd), agent, place.get("option"), environment).path
    # The name of a default folder holds that of the home folder, which is another here.
    flat = str(home).removeprefix("/").replace("/", "-")
    return Path(str(found).replace(flat, HOME.removeprefix("/").replace("/", "-")))


@every_release
def test_nothing_is_found_that_was_not_played(recording: Recording) -> None:
    """No alarm on a whole session of an old release, and no rule that fails on one."""
    for number, file in enumerate(recording.files):
        diagnosis = _diagnosis(recording, file)
        lost = LOST.get((recording.release, number), set())
        assert lost <= diagnosis.codes(), file.name
        assert diagnosis.codes("error") <= lost, file.name
        failed = [one.reason for one in diagnosis.outcomes.values() if one.outcome == "failed"]
        assert failed == [], file.name


@every_release
def test_a_whole_session_raises_no_warning(recording: Recording) -> None:
    """But that the folder where it was recorded is not on this machine (PI117)."""
    for number, file in enumerate(recording.files):
        if (recording.release, number) not in LOST:
            alarms = _diagnosis(recording, file).codes("warning", "error")
            assert alarms == {"PI117"}, file.name


def _diagnosis(recording: Recording, file: Path) -> Diagnosis:
    """Walk the rules over a session, asked in the evening about the day on which it was begun.

    A fork is named after the day on which it was made, which may be later than all that it holds.
    """
    held = datetime.fromtimestamp(file.stat().st_mtime, UTC).date()
    day = min(file.name[:10], held.isoformat())
    question = ask("forgot today", parse_now(f"{day}T22:00:00Z", UTC), UTC)
    asked = Request(question, cwd=recording.cwd, agent_dir=str(recording.agent), session=str(file))
    case = open_case(asked, {"HOME": str(recording.agent)})
    assert case.session is not None
    return Diagnosis(case, walk(case, pipeline()))


@every_release
def test_the_command_says_what_became_of_the_session(recording: Recording, tmp_path: Path) -> None:
    """As a person would ask: the session is found, nothing is written, no traceback."""
    before = {one: one.read_bytes() for one in recording.files}
    ran = run(
        *("check", "forgot today", "--format", "json", "--tz", "UTC"),
        *("--now", f"{recording.truth['continued'][:10]}T22:00:00Z"),
        *("--cwd", recording.cwd, "--agent-dir", recording.agent),
        cwd=tmp_path,
    )
    assert "Traceback" not in ran.err
    number = [one.name for one in recording.files].index(recording.truth["continued"])
    assert ran.status == int((recording.release, number) in LOST), ran.err
    subject = ran.report["subject"]
    assert Path(subject["path"]).name == recording.truth["continued"]
    header = recording.truth["sessions"][recording.truth["continued"]]["header"]
    assert subject["id"] == header["id"]
    assert {one: one.read_bytes() for one in recording.files} == before


# ---- with the present Pi -------------------------------------------------------------------------


def _asked(script: str, *given: str | Path, home: Path) -> list[Any]:
    done = subprocess.run(
        [NODE, HERE / script, *given],
        env={**ENVIRONMENT, "HOME": str(home), "TMPDIR": str(home)},
        capture_output=True,
        timeout=PATIENCE,  # ends it with SIGKILL
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return [json.loads(line) for line in done.stdout.rstrip(b"\n").split(b"\n")]


class TestThePresentPi:
    pytestmark: ClassVar = asks_pi
    package: ClassVar = PACKAGES / "pi-coding-agent"

    @every_release
    def test_reads_a_session_as_we_do(self, recording: Recording, tmp_path: Path) -> None:
        """Wholly: with entries, wire and totals, of copies, as Pi writes older files anew."""
        theirs = _asked("ask_pi.mjs", PACKAGES, *recording.files, home=tmp_path)
        ours = _ours(recording.files, tmp_path)
        found = [difference(one, other) for one, other in zip(ours, theirs, strict=True)]
        assert found == [None] * len(recording.files)

    @every_release
    def test_lists_and_continues_as_expected(self, recording: Recording, tmp_path: Path) -> None:
        """What `differs.json` says of the present Pi is true, and it says all."""
        data = DATA / recording.release
        (theirs,) = _asked("older_pi.mjs", "ask", self.package, data, home=tmp_path)
        expected = recording.expected()
        for part in ("file", "id", "firstMessage"):
            assert [one[part] for one in theirs["listed"]] == [
                one[part] for one in expected["listed"]
            ]
        assert theirs["continued"] == expected["continued"]
        if expected["continuedInOwnFolder"] is not None:
            assert theirs["continuedInOwnFolder"] == expected["continuedInOwnFolder"]

    def test_puts_a_session_where_we_look_for_it(self, tmp_path: Path) -> None:
        (places,) = _asked("older_pi.mjs", "folders", self.package, home=tmp_path)
        assert len(places) > 5
        for name, place in places.items():
            home = tmp_path / name
            assert _folder(place, home) == home / place["folder"], name
        for release in RELEASES:
            expected = Recording(release, tmp_path / release).expected()["folders"]
            assert {name: one["folder"] for name, one in expected.items()} == {
                name: one["folder"] for name, one in places.items()
            }, release


# ---- with the release itself ---------------------------------------------------------------------


class TestTheReleaseItself:
    """Still says what `truth.json` says that it said."""

    pytestmark: ClassVar = [
        *asks_pi,
        pytest.mark.skipif(
            INSTALLED is None, reason="PI_DIAGNOSE_OLDER_PIS names no folder of older releases"
        ),
    ]

    def package(self, recording: Recording) -> Path:
        place = Path(
            INSTALLED or "", recording.release, "node_modules", recording.origin["package"]
        )
        if not place.is_dir():
            pytest.skip(f"{recording.release} is not installed there")
        version = _json(place / "package.json")["version"]
        assert version == recording.origin["version"] == recording.release
        return place

    @every_release
    def test_reads_the_data_as_it_did(self, recording: Recording, tmp_path: Path) -> None:
        package = self.package(recording)
        data = DATA / recording.release
        (answer,) = _asked("older_pi.mjs", "ask", package, data, home=tmp_path)
        recorded = {"requested", "folders"}
        assert answer == {
            key: recording.truth[key] for key in recording.truth if key not in recorded
        }

    @every_release
    def test_puts_a_session_where_it_did(self, recording: Recording, tmp_path: Path) -> None:
        package = self.package(recording)
        (places,) = _asked("older_pi.mjs", "folders", package, home=tmp_path)
        assert places == recording.truth["folders"]

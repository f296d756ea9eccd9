"""Session files that no Pi wrote: each is read for what it holds, or refused in a line."""

from __future__ import annotations

import json
import os
import random
import time
from datetime import UTC
from typing import TYPE_CHECKING, Any, Self

import pytest
from command import run
from diagnose.casefiles import names, unpack
from entries import NOW, assistant, chain, entry, result, user, yesterday
from hostile import Scene

from diagnose.evidence import UnreadableError
from diagnose.pipeline.opening import NothingToExamineError, Request, open_case
from diagnose.pipeline.question import ask, parse_now
from diagnose.pipeline.registry import pipeline
from diagnose.pipeline.walk import walk
from diagnose.sessions import reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def _talk() -> list[dict[str, Any]]:
    return chain(user("00000001", yesterday(1)), assistant("00000002", yesterday(2)))


# What is no file


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _dangling(path: Path) -> None:
    path.symlink_to(path.with_name("gone"))


def _folder(path: Path) -> None:
    path.mkdir()


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sealed(path: Path) -> None:
    path.write_bytes(b"{}\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user reads files that nobody may read")


# It opens, and each read of it fails, whoever asks.
def _failing(path: Path) -> None:
    path.symlink_to("/proc/self/mem")


_NO_FILES = [
    (_fifo, "it is no regular file"),
    (_loop, "symbolic link"),
    (_dangling, "there is no such file"),
    (_folder, "it is a folder"),
    (_device, "it is no regular file"),
    (_sealed, "permission denied"),
    (_failing, "input/output error"),
]


@pytest.mark.parametrize(("make", "says"), _NO_FILES)
def test_what_is_no_readable_file_is_refused_at_once(
    scene: Scene, make: Callable[[Path], None], says: str
) -> None:
    path = scene.root / "it.jsonl"
    make(path)
    for arguments in (("forgot", "--session", path), ("context", path), ("--events", path)):
        ran = scene.ask(*arguments)
        assert (ran.status, ran.out) == (3, ""), arguments
        assert says in ran.err


@pytest.mark.parametrize(("make", "says"), _NO_FILES)
def test_a_neighbour_that_is_no_readable_file_is_passed_over(
    scene: Scene, make: Callable[[Path], None], says: str
) -> None:
    path = scene.write(scene.header(), *_talk())
    make(scene.sessions / "2026-10-20T09-30-00-000Z_ffff.jsonl")
    make(scene.sessions / ".2026-10-20T09-30-00-000Z_eeee.jsonl.1.tmp")
    ran = scene.check("--format", "json")
    assert ran.report["subject"]["path"] == str(path)
    listed = scene.ask("sessions", "--agent-dir", scene.agent_dir, "--cwd", scene.project)
    assert listed.status == 0
    assert says in listed.out
    # An id that begins like none is looked for in every file.
    assert scene.ask("forgot", "--session", "0a", "--agent-dir", scene.agent_dir).status in (0, 1)


@pytest.mark.parametrize("make", [make for make, _ in _NO_FILES])
def test_settings_that_are_no_readable_file_are_passed_over(
    scene: Scene, make: Callable[[Path], None]
) -> None:
    path = scene.write(scene.header(), *_talk())
    (scene.project / ".pi").mkdir()
    make(scene.project / ".pi" / "settings.json")
    make(scene.agent_dir / "settings.json")
    assert scene.check("--format", "json").report["subject"]["path"] == str(path)


def test_a_link_to_evidence_is_not_written_through(scene: Scene) -> None:
    path = scene.write(scene.header(), *_talk())
    held = path.read_bytes()
    (scene.project / ".git").mkdir()
    (scene.project / "report.txt").symlink_to(path)
    (scene.project / "report.json").symlink_to(scene.project / ".git" / "config")
    for name in ("report.txt", "report.json"):
        ran = run(*("forgot", "--session", path, "-o", scene.project / name), cwd=scene.outside())
        assert (ran.status, ran.out) == (2, "")
        assert "evidence" in ran.err
    assert path.read_bytes() == held
    assert list((scene.project / ".git").iterdir()) == []


# Lines


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(b"[" * 100_000, id="brackets that never close"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, id="brackets"),
        pytest.param(b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="braces"),
        pytest.param(
            b'{"type":"custom","id":"d","parentId":"00000002","data":'
            + b"[" * 100_000
            + b"]" * 100_000
            + b"}",
            id="a nested field",
        ),
        pytest.param(
            b'{"type":"message","id":"d","parentId":"00000002","message":{"role":"assistant",'
            b'"content":[{"type":"toolCall","id":"c","name":"read","arguments":{"path":'
            + b"[" * 100_000
            + b"]" * 100_000
            + b"}}]}}",
            id="a nested argument",
        ),
        pytest.param(b"9" * 10_000, id="digits"),
        pytest.param(
            b'{"type":"compaction","id":"d","parentId":"00000002","tokensBefore":'
            + b"9" * 10_000
            + b',"summary":"s","firstKeptEntryId":"00000001"}',
            id="digits in a field",
        ),
        pytest.param(
            b'{"type":"message","id":"d","parentId":"00000002","message":{"role":"user",'
            b'"content":"x","timestamp":' + b"9" * 10_000 + b"}}",
            id="digits for a time",
        ),
        pytest.param(b'{"type":"custom","id":-1e999999999,"parentId":1e-999}', id="exponents"),
        pytest.param(b"\0" * 10_000, id="NUL"),
        pytest.param(b'{"type":"message","id":"\0"}', id="NUL in an entry"),
        pytest.param(bytes(range(128, 256)) * 40, id="invalid UTF-8"),
        pytest.param(
            b'{"type":"message","id":"\xff\xfe","parentId":"00000002","message":{"role":"user",'
            b'"content":"\xc0\xaf\xed\xa0\x80"}}',
            id="invalid UTF-8 in an entry",
        ),
        pytest.param(
            b'{"type":"message","id":"\\ud800","parentId":"00000002","timestamp":"\\udfff",'
            b'"message":{"role":"user","content":"\\udc00\\ud800","\\ud800":"\\ud800"}}',
            id="lone surrogates",
        ),
        pytest.param(b'{"type":"\\ud800","id":"\\ud801","parentId":"\\ud802"}', id="a lone type"),
        pytest.param(b'[]\n[[]]\n[1]\n7\n-0\n1e5\ntrue\nfalse\nnull\n"x"', id="no entries"),
        pytest.param(b'{"type":"message","id":[1],"parentId":{"a":1}}\n{"id":7}', id="odd ids"),
        pytest.param(
            b'{"type":"custom","id":7,"parentId":"00000002"}\n'
            b'{"type":"custom","id":true,"parentId":7}\n'
            b'{"type":"message","id":null,"parentId":true,"message":{"role":"user","content":1}}',
            id="ids of other types",
        ),
    ],
)
def test_a_hostile_line_is_an_entry_or_is_named(scene: Scene, hostile: bytes) -> None:
    """In the middle and at the end, of the session asked about and of the capture."""
    first, second = _talk()
    path = scene.write(scene.header(), first, hostile, second, hostile)
    for format_ in ("text", "json"):
        assert scene.check("-v", "--format", format_).status in (0, 1)
        assert scene.ask("context", path, "--format", format_).status in (0, 1)
    listed = scene.ask("sessions", "--agent-dir", scene.agent_dir, "--cwd", scene.project)
    assert listed.status == 0
    capture = scene.root / "events.jsonl"
    capture.write_bytes(json.dumps(scene.header()).encode() + b"\n" + hostile + b"\n")
    assert scene.check("--events", capture).status in (0, 1)


@pytest.mark.parametrize("version", [None, 1, 2, "x", 1e400, {}])
def test_hostile_lines_of_an_older_version_are_taken_as_pi_takes_them(
    scene: Scene, version: object
) -> None:
    lines = [b"[" * 6000 + b"]" * 6000, b"[]", b'{"type":"compaction","firstKeptEntryIndex":1e9}']
    scene.write(scene.header(version=version), *_talk(), *lines)
    assert scene.check("-v").status in (0, 1)


@pytest.mark.parametrize("length", [1, 2, 3, 50])
def test_a_cycle_of_parents_is_named_and_not_followed(scene: Scene, length: int) -> None:
    ring = [
        user(f"{place:08x}", yesterday(place), parentId=f"{(place + 1) % length:08x}")
        for place in range(length)
    ]
    path = scene.write(scene.header(), *ring)
    ran = scene.check("--format", "json")
    assert ran.status == 1
    assert "PI202" in ran.rules("error") or any(
        "cycle" in f["name"] for f in ran.report["findings"]
    )
    assert scene.ask("context", path).status == 1
    listed = scene.ask("sessions", "--agent-dir", scene.agent_dir, "--cwd", scene.project)
    assert listed.status == 0


# Size


@pytest.mark.slow
def test_a_line_of_300_mb_is_read_in_memory_that_it_needs(scene: Scene) -> None:
    """Ten times its size at most: it is held as bytes, as text, and as its escape."""
    first, second = _talk()
    path = scene.write(scene.header(), first)
    head, tail = json.dumps(second).encode().split(b"Done.")
    with path.open("ab") as file:
        file.write(head)
        file.write(b"x" * 300_000_000)
        file.write(tail + b"\n")
    os.utime(path, (1792488000, 1792488000))
    begun = time.monotonic()
    before = _peak()
    ran = scene.check("--format", "json")
    assert time.monotonic() - begun < 20
    assert ran.report["subject"]["entries"] == 2
    assert max(_peak(), before) < 3_000_000_000


@pytest.mark.slow
def test_a_hole_of_300_mb_is_one_line_that_is_no_entry(scene: Scene) -> None:
    path = scene.write(scene.header(), *_talk())
    os.truncate(path, path.stat().st_size + 300_000_000)
    os.utime(path, (1792488000, 1792488000))
    begun = time.monotonic()
    ran = scene.check("--format", "json")
    assert time.monotonic() - begun < 20
    assert ran.report["subject"]["entries"] == 2
    assert max(_peak(), 0) < 3_000_000_000


def _peak() -> int:
    """Return the most memory (bytes) that any command so far has taken."""
    import resource  # noqa: PLC0415 (not on every system)

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"0", b"[]", b"{}", b"x", b'{"type":"custom","id":"d"}'])
def test_a_million_tiny_lines_take_less_than_a_minute(scene: Scene, line: bytes) -> None:
    path = scene.write(scene.header(), *_talk(), b"\n".join([line] * 1_000_000))
    begun = time.monotonic()
    ran = scene.check("--format", "json")
    assert time.monotonic() - begun < 60
    assert ran.report["subject"]["lines"] == 1_000_003
    assert len(ran.out) < 1_000_000
    begun = time.monotonic()
    scene.ask("context", path)
    assert time.monotonic() - begun < 60


# A file that another process writes to


class _Meddled:
    """A file whose reads are preceded by something that is done to it."""

    def __init__(self, file: BinaryIO, meddle: Callable[[int], None]) -> None:
        self._file = file
        self._meddle = meddle
        self._reads = 0

    def read(self, size: int = -1) -> bytes:
        self._reads += 1
        self._meddle(self._reads)
        return self._file.read(size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _long(scene: Scene) -> Path:
    padding = entry("custom", "0000000f", yesterday(3), parentId="00000002", data="x" * 600_000)
    return scene.write(scene.header(), *_talk(), padding)


def _outcomes(scene: Scene, path: Path | None = None) -> dict[str, str]:
    """Open the case and ask every rule, within this process; no rule may fail."""
    question = ask("forgot yesterday", parse_now(NOW, UTC), UTC)
    request = Request(
        question,
        cwd=str(scene.project),
        agent_dir=str(scene.agent_dir),
        session=str(path) if path else None,
    )
    outcomes = walk(open_case(request, {"HOME": str(scene.root)}), pipeline())
    assert [(o.rule.code, o.reason) for o in outcomes if o.outcome == "failed"] == []
    return {one.rule.code: one.outcome for one in outcomes}


@pytest.mark.parametrize("change", ["grows", "shrinks", "vanishes", "is replaced"])
def test_a_file_that_changes_while_it_is_read_is_said_to(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path = _long(scene)

    def meddle(count: int) -> None:
        if count != 2:
            return
        if change == "grows":
            with path.open("ab") as file:
                file.write(b'{"type":"custom","id":"0000000e","parentId":"0000000f"}\n')
        elif change == "shrinks":
            os.truncate(path, 300_000)
        else:
            path.unlink()
            if change == "is replaced":
                path.write_bytes(b'{"type":"session","id":"other"}\n')

    real = reading.open_evidence
    meddled = False

    def opened(where: Path | str) -> Any:
        nonlocal meddled
        if meddled:
            return real(where)
        meddled = True
        return _Meddled(real(where), meddle)

    monkeypatch.setattr(reading, "open_evidence", opened)
    session = reading.read_session(path)
    assert session.changed_while_read or change in ("vanishes", "is replaced")
    assert session.header is not None
    meddled = False
    if change in ("vanishes", "is replaced"):
        _long(scene)
    outcomes = _outcomes(scene, path)
    assert outcomes


@pytest.mark.parametrize("change", ["is cut", "vanishes", "is overwritten", "becomes a FIFO"])
def test_a_file_that_changes_before_it_is_read_again_leaves_rules_unasked(
    scene: Scene, change: str
) -> None:
    """Rules look a text up by its place; where it is gone they say so, and none fails."""
    path = scene.write(
        scene.header(),
        *chain(
            user("00000001", yesterday(1)),
            assistant("00000002", yesterday(2), calls=(("c", "bash", {"command": "make"}),)),
            result("00000003", yesterday(3), "c"),
            entry(
                *("compaction", "00000004", yesterday(4)),
                summary="s",
                firstKeptEntryId="00000003",
                tokensBefore=9,
            ),
            user("00000005", yesterday(5)),
        ),
    )
    question = ask("forgot yesterday", parse_now(NOW, UTC), UTC)
    request = Request(question, cwd=str(scene.project), agent_dir=str(scene.agent_dir))
    case = open_case(request, {"HOME": str(scene.root)})
    if change == "is cut":
        os.truncate(path, 200)
    elif change == "is overwritten":
        path.write_bytes(b"[7]\n" * 1000)
    else:
        path.unlink()
        if change == "becomes a FIFO":
            os.mkfifo(path)
    outcomes = walk(case, pipeline())
    assert [(one.rule.code, one.reason) for one in outcomes if one.outcome == "failed"] == []


def test_a_read_that_fails_half_way_is_a_reason(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _long(scene)

    def fail(count: int) -> None:
        if count == 2:
            raise OSError(5, "Input/output error")

    real = reading.open_evidence
    monkeypatch.setattr(
        reading,
        "open_evidence",
        lambda where: _Meddled(real(where), fail),
    )
    with pytest.raises(UnreadableError, match="input/output error"):
        reading.read_session(path)


# Fields of wrong types

_WRONG = (None, True, 7, "x", [], {})
# So many values of each case are replaced; all of them take an hour.
_SAMPLE = 12


def _paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Give the way to each value inside a value, itself first."""
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(item, (*path, key))


def _replaced(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    if not path:
        return other
    key, *rest = path
    copy = value.copy()
    copy[key] = _replaced(value[key], tuple(rest), other)
    return copy


@pytest.mark.parametrize("name", names())
def test_a_field_of_any_type_fails_no_rule(tmp_path: Path, name: str) -> None:
    """Each value of a recorded session in turn is replaced by one of each type, all rules asked."""
    case = unpack(name, tmp_path)
    paths = sorted(case.agent_dir.rglob("*.jsonl"))
    chance = random.Random(name)  # noqa: S311 (a sample, the same in each run)
    now = parse_now(case.now, UTC)
    question = ask(case.symptom, now, UTC)
    places = []
    for path in paths:
        values = [json.loads(one) for one in path.read_bytes().splitlines()]
        places += [
            (path, values, number, way)
            for number, value in enumerate(values)
            for way in _paths(value)
        ]
    failed = []
    for path, values, number, way in chance.sample(places, min(_SAMPLE, len(places))):
        whole, status = path.read_bytes(), path.stat()
        for other in _WRONG:
            changed = [*values]
            changed[number] = _replaced(values[number], way, other)
            path.write_text("".join(json.dumps(one) + "\n" for one in changed), "utf-8")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            request = Request(
                question,
                cwd=case.cwd,
                project=str(case.project),
                agent_dir=str(case.agent_dir),
                session=chance.choice([None, str(path)]),
            )
            what = (path.name, number + 1, way, other)
            try:
                outcomes = walk(open_case(request, {"HOME": str(tmp_path)}), pipeline())
            except NothingToExamineError:
                continue
            except Exception as error:  # noqa: BLE001 (all of them are told at the end)
                failed.append((what, repr(error)))
                continue
            failed += [
                (what, f"{o.rule.code}: {o.reason}") for o in outcomes if o.outcome == "failed"
            ]
        path.write_bytes(whole)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert failed == []

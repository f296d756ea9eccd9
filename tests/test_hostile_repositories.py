"""Repositories that a stranger made: none runs anything, and what cannot be told is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import unicodedata
from typing import TYPE_CHECKING

import pytest
from entries import Json, assistant, chain, result, user, yesterday
from hostile import Scene

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command import Ran

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "A"),
            ("EMAIL", "a@example.com"),
            ("DATE", "2026-10-20T08:00:00Z"),
        )
    },
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", *arguments],
        cwd=folder,
        env={**_ENVIRONMENT, "HOME": str(folder)},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def _commit(folder: Path, message: str = "c") -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-gpg-sign", "-m", message)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """Give a project whose one file was read yesterday and committed twice; it has not changed."""
    scene = Scene(tmp_path)
    scene.project.mkdir()
    (scene.project / "a.txt").write_text("one\n", "utf-8")
    git(scene.project, "init", "-q", "-b", "main", "--template=")
    _commit(scene.project)
    (scene.project / "b.txt").write_text("two\n", "utf-8")
    _commit(scene.project)
    _read(scene, "a.txt", "gone.txt")
    return scene


def _read(scene: Scene, *paths: str, texts: list[str] | None = None) -> None:
    """Record a session in which each path was read, and held its text, one line by default."""
    calls = [(f"c{place}", "read", {"path": path}) for place, path in enumerate(paths)]
    lines: list[Json] = [
        user("00000001", yesterday(1)),
        assistant("00000002", yesterday(2), calls=tuple(calls)),
        *(
            result(f"1{place:07x}", yesterday(3), call, text, message={"toolName": "read"})
            for place, ((call, _, _), text) in enumerate(
                zip(calls, texts or ["one\n"] * len(calls), strict=True)
            )
        ),
        assistant("00000004", yesterday(4)),
    ]
    scene.write(scene.header(), *chain(*lines))


def _mark(scene: Scene) -> Path:
    """Return a path that no file is under, unless something ran that should not."""
    return scene.root / "mark"


def _diagnosed(scene: Scene, *arguments: str | Path) -> Ran:
    """Diagnose twice, as text and as JSON; nothing is changed and nothing runs."""
    scene.outside()
    before = _state(scene)
    assert scene.check("-v", *arguments).err == ""
    ran = scene.check("--format", "json", *arguments)
    assert _state(scene) == before
    assert not _mark(scene).exists()
    return ran


def _state(scene: Scene) -> dict[str, tuple[int, int, int]]:
    found = {}
    for folder, folders, files in os.walk(scene.root):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)  # noqa: PTH118 (a text, however odd)
            status = os.lstat(path)
            found[path] = (status.st_mode, status.st_size, status.st_mtime_ns)
    return found


def _source(ran: Ran) -> str:
    """Return what the layer and the checks say of the source, in one text."""
    report = ran.report
    found = [f["message"] for f in report["findings"] if f["layer"] == "source"]
    unsure = [str(c["reason"]) for c in report["checks"] if c["outcome"] == "not-checked"]
    return "\n".join([*found, *unsure, *(one["summary"] for one in report["layers"])])


# How a repository is broken, and what is said of it


def _bare(scene: Scene) -> None:
    git(scene.project, "config", "core.bare", "true")


def _only_bare(scene: Scene) -> None:
    shutil.move(scene.project / ".git", scene.root / "bare")
    shutil.rmtree(scene.project)
    shutil.move(scene.root / "bare", scene.project)
    git(scene.project, "config", "core.bare", "true")


def _no_objects(scene: Scene) -> None:
    shutil.rmtree(scene.project / ".git" / "objects")
    (scene.project / ".git" / "objects").mkdir()


def _no_blobs_and_trees(scene: Scene) -> None:
    kept = git(scene.project, "rev-list", "HEAD").split()
    for path in (scene.project / ".git" / "objects").glob("??/*"):
        if path.parent.name + path.name not in kept:
            path.unlink()


def _no_old_commit(scene: Scene) -> None:
    first = git(scene.project, "rev-parse", "HEAD~1")
    (scene.project / ".git" / "objects" / first[:2] / first[2:]).unlink()


def _cut_pack(scene: Scene) -> None:
    git(scene.project, "repack", "-adq")
    (pack,) = (scene.project / ".git" / "objects" / "pack").glob("*.pack")
    pack.chmod(0o644)
    os.truncate(pack, 60)


def _head_garbage(scene: Scene) -> None:
    (scene.project / ".git" / "HEAD").write_bytes(b"\x1b[31m\0garbage\n" * 10)


def _head_loop(scene: Scene) -> None:
    (scene.project / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")


def _head_nowhere(scene: Scene) -> None:
    (scene.project / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")


def _head_up(scene: Scene) -> None:
    (scene.project / ".git" / "HEAD").write_text("ref: ../../../etc/passwd\n")


def _packed_refs_garbage(scene: Scene) -> None:
    (scene.project / ".git" / "packed-refs").write_bytes(b"garbage\n\0")


def _blob_garbage_and_bad_refs(scene: Scene) -> None:
    """Of a file that is gone and was deleted, with refs that lead to no object."""
    blob = git(scene.project, "rev-parse", "HEAD:b.txt")
    (scene.project / "b.txt").rename(scene.project / "c.txt")
    _commit(scene.project)
    (scene.project / "c.txt").unlink()
    path = scene.project / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"garbage")
    (scene.project / ".git" / "refs" / "heads" / "bad").write_text("1" * 40 + "\n")
    _read(scene, "a.txt", "b.txt")


def _index_garbage(scene: Scene) -> None:
    (scene.project / ".git" / "index").write_bytes(b"garbage" * 100)


def _config_garbage(scene: Scene) -> None:
    (scene.project / ".git" / "config").write_bytes(b"[core\x1b[31m\n\0\xff")


def _config_fifo(scene: Scene) -> None:
    (scene.project / ".git" / "logs").exists()
    shutil.rmtree(scene.project / ".git" / "logs")
    (scene.project / ".git" / "logs").mkdir()
    os.mkfifo(scene.project / ".git" / "logs" / "HEAD")


def _future_format(scene: Scene) -> None:
    git(scene.project, "config", "core.repositoryFormatVersion", "99")


def _unknown_extension(scene: Scene) -> None:
    git(scene.project, "config", "core.repositoryFormatVersion", "1")
    git(scene.project, "config", "extensions.evil\x01x".replace("\x01", ""), "true")


def _git_is_a_file_of_garbage(scene: Scene) -> None:
    shutil.rmtree(scene.project / ".git")
    (scene.project / ".git").write_bytes(b"\x1b]52;c;AAAA\x07" * 100)


def _git_leads_nowhere(scene: Scene) -> None:
    shutil.rmtree(scene.project / ".git")
    (scene.project / ".git").write_text("gitdir: /nowhere/\x1b[31m/at/all\n")


def _git_is_a_loop(scene: Scene) -> None:
    shutil.rmtree(scene.project / ".git")
    (scene.project / ".git").symlink_to(".git")


def _worktree_gone(scene: Scene) -> None:
    main = scene.root / "main"
    shutil.copytree(scene.project, main)
    shutil.rmtree(scene.project)
    git(main, "worktree", "add", "-q", "-b", "other", str(scene.project))
    shutil.rmtree(main)


def _worktree_elsewhere(scene: Scene) -> None:
    (scene.root / "elsewhere").mkdir()
    git(scene.project, "config", "core.worktree", str(scene.root / "elsewhere"))


def _worktree_above(scene: Scene) -> None:
    git(scene.project, "config", "core.worktree", "/")


def _of_another_person(scene: Scene) -> None:
    if os.geteuid():
        pytest.skip("only root gives a folder away")
    for folder, folders, files in os.walk(scene.project):
        for path in [folder, *(f"{folder}/{name}" for name in [*folders, *files])]:
            os.lchown(path, 12345, 12345)


def _alternates(scene: Scene) -> None:
    path = scene.project / ".git" / "objects" / "info"
    path.mkdir(exist_ok=True)
    (path / "alternates").write_text("/dev/zero\n../objects\n/nowhere\n")


def _graft(scene: Scene) -> None:
    head = git(scene.project, "rev-parse", "HEAD")
    (scene.project / ".git" / "info").mkdir(exist_ok=True)
    (scene.project / ".git" / "info" / "grafts").write_text(f"{head} {head}\n{head} {'1' * 40}\n")


def _commit_graph_garbage(scene: Scene) -> None:
    path = scene.project / ".git" / "objects" / "info"
    path.mkdir(exist_ok=True)
    (path / "commit-graph").write_bytes(b"CGPH\1\1\3\0" + b"\xff" * 2000)


_BROKEN: list[tuple[Callable[[Scene], None], str]] = [
    (_bare, "bare"),
    (_only_bare, "bare"),
    (_no_objects, "the commit that is checked out cannot be read"),
    (_no_blobs_and_trees, "unable to read tree"),
    (_no_old_commit, "there is no history to ask"),
    (_cut_pack, "the commit that is checked out cannot be read"),
    (_head_garbage, "not a git repository"),
    (_head_loop, "no commit"),
    (_head_nowhere, "the commit that is checked out cannot be read"),
    (_head_up, ""),
    (_packed_refs_garbage, "unterminated line in .git/packed-refs"),
    (_blob_garbage_and_bad_refs, "is gone, deleted by"),
    (_index_garbage, "index file corrupt"),
    (_config_garbage, "bad config"),
    (_config_fifo, ""),
    (_future_format, "Expected git repo version"),
    (_unknown_extension, "unknown repository extension"),
    (_git_is_a_file_of_garbage, "invalid gitfile format"),
    (_git_leads_nowhere, "not a git repository"),
    (_git_is_a_loop, "not a git repository"),
    (_worktree_gone, "not a git repository"),
    (_worktree_elsewhere, "working tree is set to another folder"),
    (_worktree_above, "working tree is set to another folder"),
    (_of_another_person, "dubious ownership"),
    (_alternates, ""),
    (_graft, ""),
    (_commit_graph_garbage, ""),
]


@pytest.mark.parametrize(("broken", "says"), _BROKEN)
def test_a_broken_repository_is_a_reason_and_no_fault(
    scene: Scene, broken: Callable[[Scene], None], says: str
) -> None:
    """The file itself is compared wherever it is there: its text needs no history."""
    broken(scene)
    ran = _diagnosed(scene)
    assert says in _source(ran)
    failed = [check for check in ran.report["checks"] if check["outcome"] == "failed"]
    assert failed == []


def test_a_shallow_clone_is_said_to_know_no_more(scene: Scene) -> None:
    deep = scene.root / "deep"
    scene.project.rename(deep)
    git(scene.root, "clone", "-q", "--depth=1", f"file://{deep}", str(scene.project))
    ran = _diagnosed(scene)
    assert "PI510" in ran.rules("note")


def test_a_repository_of_sha256_is_compared_like_any(scene: Scene) -> None:
    shutil.rmtree(scene.project / ".git")
    git(scene.project, "init", "-q", "-b", "main", "--object-format=sha256", "--template=")
    _commit(scene.project)
    (scene.project / "a.txt").write_text("three\n", "utf-8")
    _commit(scene.project, "third")
    ran = _diagnosed(scene)
    assert "PI501" in ran.rules() or any("changed" in f["name"] for f in ran.report["findings"])


# What would run or fetch


def test_missing_objects_of_a_partial_clone_are_not_fetched(scene: Scene) -> None:
    deep = scene.root / "deep"
    scene.project.rename(deep)
    git(deep, "config", "uploadpack.allowFilter", "true")
    clone = ("clone", "-q", "--no-checkout", "--filter=tree:0", f"file://{deep}")
    git(scene.root, *clone, str(scene.project))
    (scene.project / "a.txt").write_text("three\n", "utf-8")
    ran = _diagnosed(scene)
    assert ran.report["findings"]
    git(scene.project, "config", "protocol.ext.allow", "always")
    git(scene.project, "config", "remote.origin.url", f"ext::sh -c 'touch {_mark(scene)}'")
    _diagnosed(scene)


def test_a_submodule_is_never_entered(scene: Scene) -> None:
    trap = f"ext::sh -c touch% {_mark(scene)}"
    (scene.project / ".gitmodules").write_text(f'[submodule "s"]\n\tpath = s\n\turl = {trap}\n')
    git(scene.project, "config", "submodule.s.url", trap)
    git(scene.project, "config", "submodule.s.update", "checkout")
    git(scene.project, "config", "submodule.recurse", "true")
    git(scene.project, "config", "protocol.ext.allow", "always")
    inner = scene.project / "s"
    inner.mkdir()
    git(inner, "init", "-q", "--template=")
    (inner / "x.txt").write_text("one\n", "utf-8")
    _commit(inner)
    git(inner, "config", "core.fsmonitor", f"touch {_mark(scene)}")
    _commit(scene.project)
    _read(scene, "a.txt", "s/x.txt", "s/gone.txt")
    _diagnosed(scene)


@pytest.mark.parametrize("key", ["include.path", "includeIf.gitdir:/.path"])
def test_an_included_configuration_runs_nothing(scene: Scene, key: str) -> None:
    trap = scene.project / ".git" / "trap"
    trap.write_text(
        f'[core]\n\tfsmonitor = "touch {_mark(scene)}"\n\tpager = "touch {_mark(scene)}"\n'
        f'\tsshCommand = "touch {_mark(scene)}"\n\thooksPath = "{scene.project}/hooks"\n'
        f'[diff]\n\texternal = "touch {_mark(scene)}"\n[alias]\n\tlog = "!touch {_mark(scene)}"\n'
        f'[filter "t"]\n\tclean = "touch {_mark(scene)}"\n\tprocess = "touch {_mark(scene)}"\n'
    )
    (scene.project / "hooks").mkdir()
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (scene.project / "hooks" / name).write_text(f"#!/bin/sh\ntouch {_mark(scene)}\n")
        (scene.project / "hooks" / name).chmod(0o755)
    (scene.project / ".gitattributes").write_text("* filter=t diff=t\n", "utf-8")
    git(scene.project, "config", key, str(trap))
    # The same bytes at another time, so that an index that is refreshed asks the filter.
    (scene.project / "a.txt").write_text("one\n", "utf-8")
    _diagnosed(scene)
    # Beside the history, what is above the project is a stranger's too.
    (scene.project / "inner").mkdir()
    _diagnosed(scene, "--project", scene.project / "inner")


def test_a_git_in_the_project_is_not_the_one_that_runs(scene: Scene) -> None:
    (scene.project / "git").write_text(f"#!/bin/sh\ntouch {_mark(scene)}\n")
    (scene.project / "git").chmod(0o755)
    ran = scene.check(PATH=f"{os.environ['PATH']}:.:")
    assert ran.status in (0, 1)
    assert not _mark(scene).exists()


# Paths

_NAMES = [
    "-rf",
    "--output=x",
    "new\nline.txt",
    "\x1b[31mred.txt",
    "tab\there",
    'quo"te.txt',
    "quo'te.txt",
    "back\\slash.txt",
    "$(touch mark)",
    "`touch mark`",
    ":(top)magic",
    ":!not",
    "*.txt",
    "[a].txt",
    " space ",
    "..txt",
    "昨天.md",
    unicodedata.normalize("NFD", "é.txt"),
    "\u202etxt.exe",
    "a" * 250,
    "bytes\udcff.txt",
]


@pytest.mark.parametrize(
    ("fate", "rule"),
    [("kept", "PI510"), ("changed", "PI501"), ("renamed", "PI502"), ("deleted", "PI503")],
)
def test_files_of_any_name_are_compared(scene: Scene, fate: str, rule: str) -> None:
    texts = {name: f"{place}\n" * 9 for place, name in enumerate(_NAMES)}
    for name, text in texts.items():
        (scene.project / name).write_text(text, "utf-8")
    _commit(scene.project)
    for place, name in enumerate(_NAMES):
        path = scene.project / name
        if fate == "changed":
            path.write_text(f"{place}\nand more\n", "utf-8")
        elif fate == "deleted":
            path.unlink()
        elif fate == "renamed":
            path.rename(path.with_name(path.name[:100] + "-moved"))
    if fate != "kept":
        _commit(scene.project)
    # A session is JSON: what is no text in a name reaches it as a replacement character.
    said = {
        name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"): text
        for name, text in texts.items()
    }
    _read(scene, *(f"./{name}" for name in said), texts=list(said.values()))
    ran = _diagnosed(scene)
    other = {"PI501", "PI502", "PI503"} - {rule}
    found = [one for one in ran.report["findings"] if one["rule"] == rule]
    assert len(found) >= (1 if fate == "kept" else len(_NAMES) - 1)
    # The name that no session can hold is all that is missed.
    missed = [one["message"] for one in ran.report["findings"] if one["rule"] in other]
    assert len(missed) <= 1


def test_paths_that_lead_out_of_the_project_are_not_followed(scene: Scene) -> None:
    secret = scene.root / "secret"
    secret.write_text("a secret that nobody asked for\n", "utf-8")
    os.utime(secret, (1, 1))
    (scene.project / "link").symlink_to(secret)
    (scene.project / "folder").symlink_to(scene.root)
    (scene.project / "device").symlink_to("/dev/zero")
    (scene.project / "loop").symlink_to("loop")
    os.mkfifo(scene.project / "fifo")
    (scene.project / "dangling").symlink_to("nowhere")
    _read(
        scene,
        *("link", "folder/secret", "device", "loop", "fifo", "dangling", "../secret"),
        *("/dev/zero", "/proc/self/mem", "a/../../secret", "//secret", "~/secret", "~root/x"),
        *("", ".", "..", "/", "a.txt/b", "file:///dev/zero", "x\0y", "\ud800", "x/" * 5000, "@a"),
    )
    ran = _diagnosed(scene)
    assert "PI509" in ran.rules("note")
    assert "a secret that nobody" not in ran.out
    assert secret.stat().st_atime == 1


@pytest.mark.slow
def test_a_repository_of_20000_files_is_asked_in_seconds(scene: Scene) -> None:
    for place in range(200):
        folder = scene.project / f"f{place}"
        folder.mkdir()
        for number in range(100):
            (folder / f"{number}.txt").write_text(f"{place} {number}\n", "utf-8")
    _commit(scene.project)
    _read(scene, "a.txt", *(f"f{place}/{place % 100}.txt" for place in range(200)), "f0/gone.txt")
    begun = time.monotonic()
    _diagnosed(scene)
    assert time.monotonic() - begun < 20

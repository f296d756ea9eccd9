"""Where sessions are: the folder that Pi takes, its files, and the one that `--continue` opens.

Pi 1.6.0: config.js `getAgentDir`, main.js (session folder), core/session-manager.js
`getDefaultSessionDirPath`, `findMostRecentSession`, `readSessionHeader`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from diagnose.evidence import UnreadableError, open_evidence
from diagnose.sessions.entry import on_calendar, parse_time, read_entry
from diagnose.sessions.javascript import is_truthy, parse, parse_line
from diagnose.sessions.reading import HEADER_SCAN_LIMIT, is_blank, split_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

AGENT_DIR_VARIABLE: Final = "PI_CODING_AGENT_DIR"
SESSION_DIR_VARIABLE: Final = "PI_CODING_AGENT_SESSION_DIR"
# A settings file of a stranger's project is read no further than this (bytes).
_SETTINGS_LIMIT: Final = 1024 * 1024
# The end of a session file in which its last message is looked for first (bytes).
_TAIL: Final = 64 * 1024
# Of the folders `~/.pi*`, so many are looked at.
_AGENTS: Final = 20
_NAME: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-(\d{3})Z_(?P<id>.+)\.jsonl\Z"
)


class Folder(msgspec.Struct, frozen=True):
    """A session folder and how it was found; in a custom one Pi looks at each header's `cwd`."""

    path: Path
    agent_dir: Path
    # "option", "environment", "project settings", "agent settings" or "default"
    source: str
    # Folders in which sessions of the working directory may lie too, and Pi does not look now.
    beside: tuple[Path, ...] = ()

    @property
    def how(self) -> str:
        """How the folder was found, in words."""
        return {
            "option": "from --session-dir",
            "environment": f"from {SESSION_DIR_VARIABLE}",
            "project settings": "from the project's .pi/settings.json",
            "agent settings": "from the agent folder's settings.json",
            "default": "Pi's default for this working directory",
        }[self.source]

    @property
    def is_default(self) -> bool:
        """Whether it is the folder that Pi names after the working directory."""
        return self.source == "default"


def expand(path: str, home: str | None) -> str:
    """Return a path as Pi's `normalizePath` makes it: `~` and `file://` are resolved."""
    if home is not None and (path == "~" or path.startswith("~/")):
        return home + path[1:]
    return unquote(urlsplit(path).path) if path.startswith("file://") else path


def home_folder(environment: Mapping[str, str]) -> str | None:
    """Return the person's home folder, None where there is none."""
    found = os.path.expanduser("~") if "HOME" not in environment else environment["HOME"]  # noqa: PTH111 (Path.home raises where there is none)
    return found if found.startswith("/") else None


def agent_folder(option: str | None, environment: Mapping[str, str]) -> Path | None:
    """Return Pi's agent folder: the option, else the environment, else `~/.pi/agent`.

    None where only the home folder could tell, and there is none.
    """
    home = home_folder(environment)
    given = option or environment.get(AGENT_DIR_VARIABLE)
    if given:
        return Path(os.path.abspath(expand(given, home)))  # noqa: PTH100 (a symlink stays one)
    return Path(home, ".pi", "agent") if home else None


def encode(cwd: str) -> str:
    """Return the name of the session folder of a working directory; it is not reversible."""
    relative = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return "--" + re.sub(r"[/\\:]", "-", relative) + "--"


def session_folder(
    cwd: str,
    agent_dir: Path,
    option: str | None,
    environment: Mapping[str, str],
    project: Path | None = None,
) -> Folder:
    """Return the session folder of a working directory, first that is set as Pi asks.

    `project` is where the working directory is now, for its `.pi/settings.json`.
    """
    home = home_folder(environment)
    settings = settings_files(Path(project or cwd), agent_dir)
    for source, given in (
        ("option", option),
        ("environment", environment.get(SESSION_DIR_VARIABLE)),
        ("project settings", _setting(settings[0])),
        ("agent settings", _setting(settings[1])),
    ):
        if given:
            return Folder(Path(os.path.normpath(Path(cwd, expand(given, home)))), agent_dir, source)
    return Folder(agent_dir / "sessions" / encode(cwd), agent_dir, "default")


def folders_beside(folder: Folder, cwd: str, agents: list[Path]) -> tuple[Path, ...]:
    """Return where sessions of a working directory may lie that Pi passes by, those that are there.

    In its own agent folder and in other ones: the default folder, where a setting leads to another
    one now; and above it, where files were put by hand or by release 0.30.0.
    """
    found: list[Path] = []
    for agent in dict.fromkeys([folder.agent_dir, *agents]):
        sessions = agent / "sessions"
        places = (sessions / encode(cwd), sessions, agent)
        found += [place for place in places if os.path.isdir(place)]  # noqa: PTH112 (raises not)
    own = os.path.realpath(folder.path)
    return tuple(one for one in dict.fromkeys(found) if os.path.realpath(one) != own)


def broken_link(folder: Path) -> Path | None:
    """Return the link on the way to a folder that leads nowhere, None where there is none."""
    for place in (folder, *folder.parents):
        if os.path.islink(place) and not os.path.exists(place):  # noqa: PTH110, PTH114 (raise not)
            return place
    return None


def known_agent_folders(environment: Mapping[str, str]) -> list[Path]:
    """Return the agent folders that Pi may have been told of before: `~/.pi*`, and the variable's.

    Pi keeps no list of them; one that is elsewhere is not known of.
    """
    home = home_folder(environment)
    given = environment.get(AGENT_DIR_VARIABLE)
    found = [Path(os.path.abspath(expand(given, home)))] if given else []  # noqa: PTH100 (as above)
    if home is not None:
        try:
            names = sorted(name for name in os.listdir(home) if name.startswith(".pi"))  # noqa: PTH208
        except OSError:
            names = []
        for name in names[:_AGENTS]:
            found += [Path(home, name, "agent"), Path(home, name)]
    return found


def settings_files(project: Path, agent_dir: Path) -> tuple[Path, Path]:
    """Return where settings stand: the project's own go before the agent folder's."""
    return project / ".pi" / "settings.json", agent_dir / "settings.json"


def _setting(path: Path) -> str | None:
    """Return `sessionDir` of a settings file; None where there is none or it cannot be read."""
    found = read_settings(path).get("sessionDir")
    return found if isinstance(found, str) and found else None


def read_settings(path: Path) -> dict[str, Any]:
    """Return what a settings file says; nothing where there is none or it cannot be read."""
    try:
        with open_evidence(path) as file:
            data = file.read(_SETTINGS_LIMIT)
        value = parse(data.decode("utf-8", "replace"))
    except (UnreadableError, OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def session_files(folder: Path) -> list[Path]:
    """Return the `.jsonl` files of a folder, newest mtime first; empty where there is no folder."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".jsonl")]  # noqa: PTH208 (names suffice)
    except OSError:
        return []
    stamped = [(mtime_ns(folder / name), name) for name in names]
    # Pi leaves equal mtimes as the file system lists them; by name is at least always the same.
    return [folder / name for _, name in sorted(stamped, reverse=True)]


def mtime_ns(path: Path) -> int:
    """Return the time of the last change in nanoseconds, 0 where the file is gone."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def discovered_header(path: Path) -> dict[str, Any] | None:
    """Return the header as `--continue` finds it; None where it passes the file over."""
    try:
        with open_evidence(path) as file:
            for offset, line, ended in split_lines(file):
                if offset + len(line) + ended > HEADER_SCAN_LIMIT:
                    return None
                if is_blank(line):
                    continue
                try:
                    value = parse_line(line)
                except ValueError:
                    continue
                if not is_truthy(value):
                    continue
                is_header = isinstance(value, dict) and value.get("type") == "session"
                return value if is_header and isinstance(value.get("id"), str) else None
    except (UnreadableError, OSError):
        return None
    return None


def continued_session(folder: Folder, cwd: str) -> Path | None:
    """Return the session that `pi --continue` opens, None where it would begin a new one."""
    for path in session_files(folder.path):
        header = discovered_header(path)
        if header is None:
            continue
        recorded = header.get("cwd")
        if folder.is_default or (isinstance(recorded, str) and same_path(recorded, cwd)):
            return path
    return None


def last_activity(path: Path) -> float | None:
    """Return the time (milliseconds) of the last user or assistant message, from the file's end.

    No more than the last 8 MiB are read; None where they hold no such message.
    """
    try:
        with open_evidence(path) as file:
            size = file.seek(0, os.SEEK_END)
            for reach in (_TAIL, 16 * _TAIL, 128 * _TAIL):
                file.seek(max(size - reach, 0))
                lines = file.read(reach).split(b"\n")
                found = _last_message(lines if reach >= size else lines[1:])
                if found is not None or reach >= size:
                    return found
    except (UnreadableError, OSError):
        pass
    return None


def _last_message(lines: list[bytes]) -> float | None:
    for line in reversed(lines):
        # Nearly all lines at a file's end are messages; the others are not parsed.
        if b'"user"' not in line and b'"assistant"' not in line:
            continue
        try:
            entry = read_entry(parse_line(line), 0, 0, len(line))
        except ValueError:
            continue
        if entry.is_activity and entry.message is not None:
            said = on_calendar(entry.message.timestamp)
            return said if said is not None else entry.time
    return None


def same_path(one: str, other: str) -> bool:
    """Tell whether two paths are one place, without looking at the disk."""
    return bool(one) and os.path.normpath(one) == os.path.normpath(other)


def created(path: Path) -> float | None:
    """Return the time in a session file's name in milliseconds UTC, None where it has none."""
    found = _NAME.match(path.name)
    if not found:
        return None
    day, hour, minute, second, milli = found.group(1, 2, 3, 4, 5)
    return parse_time(f"{day}T{hour}:{minute}:{second}.{milli}+00:00")


def named_id(path: Path) -> str | None:
    """Return the session id in a session file's name, None where it has none."""
    found = _NAME.match(path.name)
    return found["id"] if found else None


def project_folders(agent_dir: Path) -> list[Path]:
    """Return the session folders of all projects under an agent folder, by name."""
    root = agent_dir / "sessions"
    try:
        return sorted(entry for entry in root.iterdir() if entry.is_dir())
    except OSError:
        return []


def find_by_id(files: list[Path], wanted: str) -> list[Path]:
    """Return the files whose session id is, or else begins with, the given text."""
    exact: list[Path] = []
    starting: list[Path] = []
    for path in files:
        # By the header, as Pi looks: Pi 0.30 named its files after another id.
        header = discovered_header(path)
        found = header.get("id") if header else named_id(path)
        if found == wanted:
            exact.append(path)
        elif isinstance(found, str) and found.startswith(wanted):
            starting.append(path)
    return exact or starting

"""Opening a case: where the sessions are, which one is examined, and which day is looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from diagnose.evidence import UnreadableError
from diagnose.pipeline.case import Case, active_days
from diagnose.pipeline.question import end_of
from diagnose.sessions.events import read_events
from diagnose.sessions.folder import (
    agent_folder,
    broken_link,
    continued_session,
    find_by_id,
    folders_beside,
    home_folder,
    known_agent_folders,
    mtime_ns,
    project_folders,
    session_files,
    session_folder,
)
from diagnose.sessions.reading import Session, read_session
from diagnose.sessions.schema import fits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from diagnose.pipeline.question import Question
    from diagnose.sessions.folder import Folder


# Sessions of other directories, the newest, that are asked for a day of this project; and days.
_STRANGERS = 100
_DAYS = 5


class NothingToExamineError(Exception):
    """There is no evidence, or it cannot be read; one line for a person."""


class CallError(Exception):
    """The call itself is wrong; one line for a person."""


class Request(msgspec.Struct, frozen=True):
    """What a person asked for, options as they were given."""

    question: Question
    cwd: str | None = None
    project: str | None = None
    agent_dir: str | None = None
    session_dir: str | None = None
    session: str | None = None
    events: str | None = None
    # Whether the report tells the digest of the session.
    digests: bool = False


class Place(msgspec.Struct, frozen=True):
    """A working directory as Pi saw it, and the folder of its sessions."""

    cwd: str
    folder: Folder


def place(
    cwd: str | None,
    agent_dir: str | None,
    session_dir: str | None,
    environment: Mapping[str, str],
    root: str | None = None,
) -> Place:
    """Return where the sessions of a working directory are; `root` is where its project is now.

    Raise NothingToExamineError where only a home folder could tell, and there is none.
    """
    here = working_directory(environment)
    agent = agent_folder(agent_dir, environment)
    if agent is None:
        raise NothingToExamineError(
            "there is no home folder to look for Pi's sessions in; --agent-dir DIR says where they"
            " are"
        )
    found = os.path.normpath(os.path.join(here, cwd)) if cwd else here  # noqa: PTH118 (as Pi saw it)
    project = Path(here, root) if root else Path(found)
    folder = session_folder(found, agent, session_dir, environment, project)
    # Of evidence that was copied from elsewhere, this person's own sessions are no part.
    agents = [] if agent_dir else known_agent_folders(environment)
    return Place(
        found, msgspec.structs.replace(folder, beside=folders_beside(folder, found, agents))
    )


def open_case(request: Request, environment: Mapping[str, str]) -> Case:
    """Return the case of a request.

    Raise NothingToExamineError where there is no session and none elsewhere could be this
    project's, and CallError where the request names what is not there.
    """
    here = working_directory(environment)
    session: Session | None = None
    capture = read_events(Path(here, request.events)) if request.events else None
    cwd = request.cwd
    if request.session is not None and looks_like_path(request.session):
        session = _read(Path(here, request.session), request)
        # A session given by its path is asked about where it was recorded.
        cwd = cwd or session.cwd
    found = place(cwd, request.agent_dir, request.session_dir, environment, request.project)
    cwd, folder = found.cwd, found.folder
    root = Path(here, request.project) if request.project else Path(cwd)
    if request.project and not root.is_dir():
        raise CallError(f"--project {request.project}: there is no such folder")
    continued = continued_session(folder, cwd)
    if request.session is not None and session is None:
        session = _read(_by_id(request.session, folder), request)
    elif session is None and capture is not None and capture.session_id is not None:
        # Whose capture it is decides which session is meant.
        session = _read(_by_id(capture.session_id, folder), request)
    elif session is None and continued is not None:
        session = _read(continued, request)
    case = Case(
        question=request.question,
        cwd=cwd,
        root=root,
        moved=request.project is not None,
        folder=folder,
        home=home_folder(environment),
        session=session,
        continued=continued,
        capture=capture,
    )
    case = _settle_day(case)
    if session is None and not (
        session_files(folder.path) or case.others or case.strangers or case.leftovers
    ):
        raise NothingToExamineError(_nothing(case))
    return case


def working_directory(environment: Mapping[str, str]) -> str:
    """Return the working directory as Pi sees it, which is the real one (Node's process.cwd)."""
    try:
        return os.getcwd()  # noqa: PTH109 (a text is needed)
    except OSError:
        # The folder was deleted under the shell; PWD still says where it was.
        return environment.get("PWD", "/")


def looks_like_path(text: str) -> bool:
    """Tell whether `--session` takes a text for a path, as Pi does."""
    return "/" in text or "\\" in text or text.endswith(".jsonl")


def _read(path: Path, request: Request) -> Session:
    try:
        session = read_session(path, fits, digested=request.digests)
    except UnreadableError as error:
        raise NothingToExamineError(str(error)) from error
    if session.header is None and not session.entries:
        what = "it is empty" if session.size == 0 else "no line of it is an entry of a session"
        raise NothingToExamineError(f"{path}: {what}")
    return session


def _by_id(wanted: str, folder: Folder) -> Path:
    """Return the session with an id, in this project's folder, then in all, as Pi looks."""
    found = find_by_id(session_files(folder.path), wanted)
    if not found:
        everywhere = [
            path for other in project_folders(folder.agent_dir) for path in session_files(other)
        ]
        found = find_by_id(everywhere, wanted)
    if not found:
        beside = [path for other in folder.beside for path in session_files(other)]
        there = find_by_id(beside, wanted)
        told = f"; {there[0]} has it, in a folder where Pi does not look now" if there else ""
        raise CallError(f"--session {wanted}: no session has this id, or one that begins so{told}")
    if len(found) > 1:
        names = ", ".join(path.name for path in found[:3])
        raise CallError(f"--session {wanted}: {len(found)} sessions begin so: {names}")
    return found[0]


def _settle_day(case: Case) -> Case:
    """Take the last earlier day with activity where nothing happened on the asked one.

    Where no day was named, the last day before today on which anything happened is looked at.
    """
    question = case.question
    if question.day is not None and (
        (case.session is not None and case.active_on_day(case.session.entries))
        or case.others_on_day
        or case.passed_over_on_day
        or case.kin_on_day
    ):
        return case
    anytime = msgspec.structs.replace(question, day=None)
    wide = replace_question(case, anytime)
    days: set[date] = set()
    if case.session is not None:
        days.update(active_days(case.session, question))
    for other in wide.others:
        try:
            days.update(active_days(other.session, question))
        except UnreadableError as error:
            case.unreadable[str(other.path)] = error.reason
    limit = question.day or question.today
    earlier = max((day for day in days if day < limit), default=None)
    if question.day is None and (found := _with_kin(case, wide, earlier)):
        return found
    if earlier is not None:
        return replace_question(case, question.moved_to(earlier))
    if question.day is None and days:
        return replace_question(case, question.moved_to(max(days)))
    return case


def _with_kin(case: Case, wide: Case, own: date | None) -> Case | None:
    """Take a later day than this directory's own last one, where the project has it elsewhere.

    A project whose folder was renamed has begun anew, and its last day is under the old name.
    """
    question = case.question
    after = end_of(own, question.zone) if own else 0.0
    days: set[date] = set()
    # A file that was changed last before then holds nothing later.
    recent = [path for path in wide.everywhere() if mtime_ns(path) / 1e6 >= after]
    newest = sorted(recent, key=mtime_ns, reverse=True)[:_STRANGERS]
    for one in wide.strangers_among(newest):
        try:
            if wide.kinship(one) is not None:
                days.update(active_days(one.session, question))
        except UnreadableError as error:
            case.unreadable[str(one.path)] = error.reason
    later = [day for day in days if day < question.today and (own is None or day > own)]
    for day in sorted(later, reverse=True)[:_DAYS]:
        moved = replace_question(case, question.moved_to(day))
        if moved.kin_on_day:
            return moved
    return None


def replace_question(case: Case, question: Question) -> Case:
    """Return the same evidence under another question, its views not yet worked out."""
    return Case(
        question=question,
        cwd=case.cwd,
        root=case.root,
        moved=case.moved,
        folder=case.folder,
        home=case.home,
        session=case.session,
        continued=case.continued,
        capture=case.capture,
        unreadable=case.unreadable,
    )


def _nothing(case: Case) -> str:
    link = broken_link(case.folder.path)
    told = f"; {link} is a link to {link.readlink()}, which is not there" if link else ""
    return (
        f"there is no Pi session for {case.cwd}: looked in {case.folder.path}"
        f" ({case.folder.how}){told}, and no other folder beside it holds one; --cwd, --agent-dir"
        " or --session say where to look"
    )

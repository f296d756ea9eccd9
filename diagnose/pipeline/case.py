"""The case: the evidence in hand and the question, with the views that rules look at.

A view is worked out once, when the first rule asks for it. One that cannot be built raises
NotChecked with the reason, and every rule on it is reported so.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import msgspec

from diagnose.evidence import UnreadableError, open_evidence
from diagnose.pipeline.finding import Evidence, Layer, NotChecked, NotGiven
from diagnose.pipeline.kinship import (
    Kinship,
    by_place,
    by_prompt,
    by_record,
    by_repository,
    is_versioned,
)
from diagnose.pipeline.question import end_of, local
from diagnose.pipeline.words import shortened
from diagnose.project.freshness import Asked, Project, Seen, State, judge
from diagnose.project.paths import below
from diagnose.sessions.account import session_name
from diagnose.sessions.branches import LeftBranch, left_branches
from diagnose.sessions.calls import PairedCall, Pairing, pair, results_elsewhere
from diagnose.sessions.characters import Broken, broken
from diagnose.sessions.context import content_text, context_entries, edits, latest_compaction
from diagnose.sessions.damage import Damage, damages
from diagnose.sessions.files import Observation, observations, resolve
from diagnose.sessions.folder import (
    Folder,
    created,
    discovered_header,
    mtime_ns,
    project_folders,
    read_settings,
    same_path,
    session_files,
    settings_files,
)
from diagnose.sessions.javascript import UNDEFINED, PiThrowsError, get
from diagnose.sessions.reading import Session, read_session, split_lines
from diagnose.sessions.schema import Violation, violations
from diagnose.sessions.tree import CycleError, Tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from diagnose.pipeline.question import Question
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.events import Capture, Execution
    from diagnose.sessions.reading import Skipped

# A session begun this much (milliseconds) after the day's end by its name's clock, or changed last
# before the day's start, cannot hold the day: clocks of two machines differ by less.
_SLACK = 3_600_000
# So much of a damaged line (bytes) is shown.
_BEGINNING = 240
# Of the files that Pi does not list, so many are looked at.
_LEFTOVERS = 50
# So much of a header (bytes) is looked at for its line end.
_HEADER = 65_536
# An id is cut to so many characters; Pi's have eight.
_ID = 40
# So many runs of lines are named one by one.
_RUNS = 4


class Recorded(msgspec.Struct):
    """A session file beside the one under examination, read when it is first asked for."""

    path: Path
    header: dict[str, object]
    _session: Session | None = None

    @property
    def cwd(self) -> str | None:
        """The working directory that its header records."""
        found = self.header.get("cwd")
        return found if isinstance(found, str) else None

    @property
    def was_read(self) -> bool:
        """Whether the session has been read already."""
        return self._session is not None

    @property
    def session(self) -> Session:
        """The session itself; raise UnreadableError where it cannot be read."""
        if self._session is None:
            self._session = read_session(self.path)
        return self._session


class Standing(msgspec.Struct, frozen=True):
    """An observation of the branch and what has become of it."""

    observation: Observation
    # Its path below the project; None where it lies outside.
    path: str | None
    state: State


class Case(msgspec.Struct, dict=True):
    """The evidence in hand and the question."""

    question: Question
    cwd: str
    # Where the working directory is now: the same, or what `--project` says.
    root: Path
    moved: bool
    folder: Folder
    home: str | None
    session: Session | None
    # The file that `pi --continue` opens for this working directory.
    continued: Path | None
    # What a capture of `pi --mode json` says, where one was given.
    capture: Capture | None = None
    # Files that could not be read while looking for the day, each with the reason.
    unreadable: dict[str, str] = msgspec.field(default_factory=dict)

    # The session under examination

    @property
    def subject(self) -> Session:
        """The session under examination; raise NotChecked where there is none."""
        if self.session is None:
            raise NotChecked("there is no session for this working directory")
        return self.session

    @property
    def opened(self) -> Session:
        """The session, where Pi opens it; raise NotChecked where it refuses."""
        session = self.subject
        if session.refusal is not None:
            raise NotChecked(f"Pi refuses the file: {session.refusal.reason}")
        return session

    @cached_property
    def tree(self) -> Tree:
        """The tree of the session."""
        return Tree(self.opened)

    @cached_property
    def branch(self) -> list[Entry]:
        """The active branch, root first."""
        try:
            return self.tree.branch
        except CycleError as error:
            raise NotChecked(str(error)) from error

    @cached_property
    def compaction(self) -> Entry | None:
        """The compaction that decides what the context holds."""
        return latest_compaction(self.branch)

    @cached_property
    def context(self) -> list[Entry]:
        """The entries of the context, the compaction first."""
        return context_entries(self.branch)

    @cached_property
    def in_context(self) -> set[int]:
        """The lines of the entries in the context."""
        return {entry.line for entry in self.context}

    @cached_property
    def off_branch(self) -> list[Entry]:
        """The entries that Pi can reach and that are not on the active branch."""
        if len(self.branch) == len(self.tree.live):
            return []  # all that Pi can reach is on it
        lines = self.tree.on_branch
        return [entry for entry in self.tree.live if entry.line not in lines]

    @cached_property
    def left(self) -> list[LeftBranch]:
        """The branches beside the active one that hold a conversation, in the file's order."""
        _ = self.branch  # says why there is none, where Pi would hang
        return [branch for branch in left_branches(self.tree) if branch.conversation]

    @cached_property
    def damages(self) -> list[Damage]:
        """What befell the lines that Pi passes over, the first of them (see LOOKED_AT)."""
        return damages(self.subject)

    @cached_property
    def violations(self) -> list[Violation]:
        """The ways in which entries do not fit the schema, in the order of the file."""
        return violations(self.subject)

    @cached_property
    def broken(self) -> list[Broken]:
        """The characters that are none in the lines that Pi reads, each kind once."""
        return broken(self.subject)

    @cached_property
    def compacted(self) -> list[Entry]:
        """The entries of the branch that only a summary stands for, system messages aside."""
        lines = self.in_context
        return [e for e in self.branch if e.line not in lines and e.role != "system"]

    @cached_property
    def pairing(self) -> Pairing:
        """The tool calls of the branch and their results."""
        return pair(self.branch)

    @cached_property
    def commands_run(self) -> list[PairedCall]:
        """The shell commands of the branch that have a result."""
        calls = self.pairing.calls
        return [call for call in calls if call.call.name == "bash" and call.result is not None]

    @cached_property
    def _open_calls(self) -> tuple[list[PairedCall], list[tuple[PairedCall, Entry]]]:
        """The calls that could have run and have no result here, and those answered elsewhere."""
        waiting = [
            call for call in self.pairing.calls if call.result is None and not call.never_ran
        ]
        elsewhere = results_elsewhere(self.tree, waiting)
        here = [call for place, call in enumerate(waiting) if place not in elsewhere]
        return here, [(waiting[place], entry) for place, entry in sorted(elsewhere.items())]

    @property
    def unanswered(self) -> list[PairedCall]:
        """The calls of the branch that no result answers, on no branch."""
        return self._open_calls[0]

    @property
    def answered_elsewhere(self) -> list[tuple[PairedCall, Entry]]:
        """The calls of the branch whose result hangs on another one, with that result."""
        return self._open_calls[1]

    @cached_property
    def sent_lines(self) -> set[int]:
        """The lines of the entries that are in the context and that no edit removes from it."""
        removed = {
            target
            for target, edit in edits(self.context).items()
            if edit.edit is not None and edit.edit.effect == "removes"
        }
        return {entry.line for entry in self.context if entry.id not in removed}

    def knows_file(self, path: str) -> bool:
        """Tell whether a path of the session is a file of the project now, or was one."""
        cwd = self.subject.cwd or self.cwd
        inner = below(resolve(path, cwd, None), cwd)
        if inner is None or self.session_root != self.root or not self.root.is_dir():
            return False
        if not self.project.file(inner).is_absent:
            return True
        repository = self.project.repository
        return repository is not None and self.project.in_repository(inner) in repository.by_path

    @property
    def captured(self) -> Capture:
        """The events capture; raise NotChecked where there is none, or it is of another session."""
        if self.capture is None:
            raise NotGiven("no events capture was given (--events FILE)")
        own = self.session.id if self.session else None
        if self.capture.session_id is not None and self.capture.session_id != own:
            raise NotChecked(
                f"the events capture is of session {self.capture.session_id}, not of {own}"
            )
        return self.capture

    @cached_property
    def started_and_not_ended(self) -> dict[str, Execution]:
        """The tools that the events capture shows starting and not ending, by call id.

        Empty where no capture of this session was given.
        """
        try:
            executions = self.captured.executions
        except NotChecked:
            return {}
        return {one.call_id: one for one in executions if one.end_line is None}

    @cached_property
    def compactions(self) -> list[Entry]:
        """The compactions of the branch, oldest first."""
        return [entry for entry in self.branch if entry.type == "compaction"]

    @cached_property
    def boundary_is_lost(self) -> bool:
        """Whether the latest compaction keeps nothing because its boundary is not before it."""
        compaction = self.compaction
        if compaction is None or compaction.boundary is None:
            return False
        target = compaction.boundary.target
        before = self.branch[: self.branch.index(compaction)]
        return target != compaction.id and not any(entry.id == target for entry in before)

    @property
    def boundary_words(self) -> str:
        """From where on the latest compaction keeps entries, in words."""
        end = self.branch.index(self.compaction) if self.compaction is not None else 0
        kept = next((e for e in self.branch[:end] if e.line in self.in_context), None)
        return f"what stands from {named(kept)} on" if kept else "nothing before it"

    def setting(self, *names: str) -> tuple[object, Path] | None:
        """Return a setting and the file that gives it, the project's own first."""
        for path in settings_files(self.root, self.folder.agent_dir):
            value: object = read_settings(path)
            for name in names:
                value = get(value, name) if isinstance(value, dict) else UNDEFINED
            if value is not UNDEFINED:
                return value, path
        return None

    def on_day(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return those of the entries that were written on the day."""
        bounds = self.question.bounds()
        if bounds is None:
            return list(entries)
        start, end = bounds
        return [e for e in entries if e.time is not None and start <= e.time < end]

    def active_on_day(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the user and assistant messages of the day among the entries."""
        return [entry for entry in self.on_day(entries) if entry.is_activity]

    @cached_property
    def day_here(self) -> list[Entry]:
        """The user and assistant messages of the day in the session under examination, if any."""
        return self.active_on_day(self.session.entries) if self.session else []

    @cached_property
    def is_own(self) -> bool:
        """Whether the session under examination is this project's, so that its day is the asked.

        `--continue` opens another working directory's where two names come out alike.
        """
        session = self.session
        if session is None:
            return False
        if session.cwd is None or same_path(session.cwd, self.cwd):
            return True
        return self.kinship(Recorded(session.path, {"cwd": session.cwd}, session)) is not None

    # Texts

    def value(self, entry: Entry) -> object:
        """Read an entry again."""
        return self.subject.value(entry)

    def text(self, entry: Entry) -> str:
        """Return the text that a person would know an entry by."""
        return entry_text(self.subject, entry)

    def mentions(self, text: str) -> bool:
        """Tell whether a text holds what was asked about."""
        about = self.question.about
        return bool(about) and about is not None and about.casefold() in text.casefold()

    def shown(self, skipped: Skipped) -> str:
        """Return the beginning of a line that Pi passes over, for a quote."""
        raw = self.subject.raw(skipped.offset, min(skipped.length, _BEGINNING))
        return raw.decode("utf-8", "replace")

    def first_child(self, entry_id: str | None) -> Entry | None:
        """Return the first entry that names an id as its parent, whether or not it is there."""
        return next(iter(self._children.get(entry_id, ())), None) if entry_id else None

    @cached_property
    def _children(self) -> dict[object, list[Entry]]:
        """The children of each id, also in a file that Pi refuses."""
        return Tree(self.subject).children

    def evidence(self, entry: Entry, quote: str | None = None) -> Evidence:
        """Cite an entry of the session; by its own text where no quote is given."""
        return cite(self.subject, entry, quote)

    # Words for a person

    def clock(self, time: float | None) -> str:
        """Return a moment (milliseconds) on the person's clock, to the minute."""
        if time is None:
            return "an unknown time"
        return local(time, self.question.zone).strftime("%Y-%m-%d %H:%M")

    def command_to_open(self, session: Session) -> str:
        """Return the command that opens a session in the folder where it was recorded."""
        command = f"pi --session {quote(str(session.path))}"
        recorded = session.cwd
        if recorded is None or same_path(recorded, self.cwd) or not os.path.isdir(recorded):  # noqa: PTH112 (a text is at hand)
            # Where the folder is gone, Pi asks whether to go on in the present one.
            return command
        return f"cd {quote(recorded)} && {command}"

    @property
    def day_name(self) -> str:
        """The day as a person reads it: 2026-10-20, Tuesday."""
        day = self.question.day
        return day.strftime("%Y-%m-%d, %A") if day else "any day"

    def standing_of(self, layer: Layer) -> str:
        """Say in a few words how a layer stands where no rule found fault with it."""
        try:
            return self._standing_of(layer)
        except (NotChecked, UnreadableError) as error:
            return str(error)

    def _standing_of(self, layer: Layer) -> str:
        if layer == "storage":
            stored = self.on_day(self.subject.entries)
            where = f", lines {stored[0].line}-{stored[-1].line}" if stored else ""
            of_day = f"{len(stored)} entries of {self.question.day or 'that day'}"
            return f"{of_day} are stored{where}{self._line_ends()}"
        if layer == "branch":
            stored = self.on_day(self.tree.live)
            lines = {entry.line for entry in self.branch}
            reached = sum(entry.line in lines for entry in stored)
            return f"{reached} of {len(stored)} entries of the day are on the active branch"
        if layer == "compaction":
            return self._standing_of_compaction() + self._asked_about_is_sent()
        same = sum(standing.state.status == "unchanged" for standing in self.standings)
        return f"{same} of {len(self.standings)} files that were observed are as they were"

    def _line_ends(self) -> str:
        """Say how many lines end in CRLF, where the header does: an editor saved the file."""
        session = self.subject
        if b"\r" not in session.raw(0, _HEADER).partition(b"\n")[0]:
            return ""
        with open_evidence(session.path) as file:
            ended = sum(ends and line.endswith(b"\r") for _, line, ends in split_lines(file))
        return f"; {ended} lines end in CRLF, which Pi reads as well"

    def _standing_of_compaction(self) -> str:
        if self.compaction is None:
            other = [e for e in self.tree.live if e.type == "compaction"]
            beside = f" ({len(other)} beside it, {lines_of(other)})" if other else ""
            return f"no compaction on the branch{beside}: the model is sent the originals"
        kept = self.on_day(self.context)
        return (
            f"{len(kept)} entries of the day are kept beside the summary in"
            f" {named(self.compaction)}, which keeps {self.boundary_words}"
        )

    def _asked_about_is_sent(self) -> str:
        """Say where what was asked about stands in what the model is sent, "" where it does not."""
        sent = self.sent_lines if self.question.about is not None else set()
        said = (e for e in self.branch if e.line in sent and e.is_activity)
        found = next((e for e in said if self.mentions(self.text(e))), None)
        if found is None or self.question.about is None:
            return ""
        return f"; {shortened(self.question.about)!r} is in {named(found)}, which the model is sent"

    # Other sessions

    def read_sessions(self) -> Iterator[Session]:
        """Give every session that has been read so far, the one under examination first."""
        if self.session is not None:
            yield self.session
        # Views that no rule asked for are not built for this.
        for name in ("others", "strangers"):
            for recorded in self.__dict__.get(name, []):
                if recorded.was_read:
                    yield recorded.session

    def is_relative(self, session: Session) -> bool:
        """Tell whether the session under examination was forked from another, or it from this."""
        own = self.session
        if own is None:
            return False
        return _parent_name(own) == session.path.name or _parent_name(session) == own.path.name

    @cached_property
    def others(self) -> list[Recorded]:
        """The other sessions of this working directory, newest mtime first.

        First those of its folder, then those that lie where Pi does not look now, those that open
        by their path only, and copies under another name of sessions that are not there otherwise.
        """
        beside = [path for place in self.folder.beside for path in session_files(place)]
        found = [
            *self._recorded([*session_files(self.folder.path), *beside]),
            *self._out_of_reach,
            *self._only_copies,
        ]
        return [
            recorded
            for recorded in found
            if same_path(recorded.cwd or "", self.cwd)
            or (recorded.cwd is None and recorded.path.parent == self.folder.path)
        ]

    @property
    def _out_of_reach(self) -> list[Recorded]:
        """Those of `passed_over` that Pi opens all the same, told where they are."""
        return [
            Recorded(one.path, one.header.value, one)
            for one in self.passed_over
            if one.header is not None and one.refusal is None
        ]

    @property
    def _only_copies(self) -> list[Recorded]:
        """The files that Pi does not list whose session no listed file is."""
        copies = list(self._recorded(self._unlisted))
        listed = {one.header.get("id") for one in self.neighbours} if copies else set()
        return [one for one in copies if one.header.get("id") not in listed]

    @cached_property
    def strangers(self) -> list[Recorded]:
        """The sessions of other working directories, by folder and newest mtime first."""
        return self.strangers_among(self.everywhere())

    def everywhere(self) -> list[Path]:
        """Return the session files of all folders, this project's first, newest mtime first."""
        folders = dict.fromkeys([self.folder.path, *project_folders(self.folder.agent_dir)])
        return [path for folder in folders for path in session_files(folder)]

    def strangers_among(self, paths: list[Path]) -> list[Recorded]:
        """Return those files that are sessions of other working directories."""
        return [
            recorded
            for recorded in self._recorded(paths)
            if recorded.cwd is not None and not same_path(recorded.cwd, self.cwd)
        ]

    @cached_property
    def neighbours(self) -> list[Recorded]:
        """Every session that Pi discovers in this project's folder, of any day and directory.

        The one under examination is among them where it lies there; newest mtime first.
        """
        found = ((path, discovered_header(path)) for path in session_files(self.folder.path))
        return [Recorded(path, header) for path, header in found if header is not None]

    @cached_property
    def passed_over(self) -> list[Session]:
        """The files of this project's folder that may hold the day and that Pi does not discover.

        The one under examination is left out.
        """
        own = os.path.realpath(self.session.path) if self.session else None
        found = []
        for path in session_files(self.folder.path):
            if (
                os.path.realpath(path) == own
                or not self.may_hold_day(path)
                or discovered_header(path) is not None
            ):
                continue
            try:
                session = read_session(path)
            except UnreadableError as error:
                self.unreadable[str(path)] = error.reason
                continue
            if session.size:
                found.append(session)
        return found

    @cached_property
    def passed_over_on_day(self) -> list[Session]:
        """Those of `passed_over` that hold messages of the day."""
        return [one for one in self.passed_over if self.active_on_day(one.entries)]

    @cached_property
    def _unlisted(self) -> list[Path]:
        """The files of this project's folder that may be sessions, by names that Pi does not list.

        A rewrite that was cut off leaves such a file (`.NAME.jsonl.….tmp`), and so does a backup.
        """
        try:
            names = sorted(os.listdir(self.folder.path))  # noqa: PTH208 (names suffice)
        except OSError:
            return []
        found = [name for name in names if ".jsonl" in name and not name.endswith(".jsonl")]
        return [self.folder.path / name for name in found[:_LEFTOVERS]]

    @cached_property
    def leftovers(self) -> list[Session]:
        """The files of this project's folder that hold a session and that Pi does not list."""
        found = []
        for path in self._unlisted:
            if discovered_header(path) is not None:
                with suppress(UnreadableError):
                    found.append(read_session(path))
        return found

    @property
    def searched(self) -> list[Path]:
        """The files in which this project's sessions are, listed or not: the examined one first.

        Those of the project under another name are among them where they hold the day.
        """
        own = [self.session.path] if self.session else []
        beside = [path for place in self.folder.beside for path in session_files(place)]
        kin = [] if self.day_here else [one.session.path for one, _ in self.kin_on_day]
        paths = [*own, *session_files(self.folder.path), *beside, *self._unlisted, *kin]
        return list({os.path.realpath(path): path for path in reversed(paths)}.values())[::-1]

    @property
    def origin_name(self) -> str | None:
        """The name of the file from which the session under examination was forked."""
        return _parent_name(self.subject)

    @cached_property
    def origin(self) -> Recorded | None:
        """The session from which the one under examination was forked, wherever Pi keeps it.

        It is looked for by name among Pi's sessions: the path in the header is a stranger's text.
        """
        name = self.origin_name
        folders = [self.subject.path.parent, self.folder.path]
        for folder in [*folders, *project_folders(self.folder.agent_dir)] if name else []:
            path = folder / str(name)
            header = discovered_header(path) if path.name == name else None
            if header is not None:
                return Recorded(path, header)
        return None

    @cached_property
    def forks(self) -> list[Recorded]:
        """The sessions of this project's folder that were forked from the one under examination."""
        own = self.subject.path.name
        return [one for one in self.neighbours if _name_of(one.header.get("parentSession")) == own]

    @cached_property
    def nearest(self) -> list[tuple[date, Session, list[Entry]]]:
        """The messages of the last day before the asked one and of the first after it.

        Each is given with the session that holds them; a day without any is left out.
        """
        asked = self.question.day_asked
        if asked is None:
            return []
        sessions = [self.session] if self.session else []
        end = end_of(asked, self.question.zone)
        for one in self.neighbours:
            is_own = self.session is not None and same_path(str(one.path), str(self.session.path))
            known = one.cwd is None or same_path(one.cwd, self.cwd)
            # A file that was changed last before the asked day's end holds nothing of a later one.
            later = mtime_ns(one.path) / 1e6 >= end - _SLACK or self.may_hold_day(one.path)
            if known and later and not is_own:
                try:
                    sessions.append(one.session)
                except UnreadableError as error:
                    self.unreadable[str(one.path)] = error.reason
        by_day: dict[date, tuple[Session, list[Entry]]] = {}
        for session in sessions:
            for day, entries in messages_by_day(session, self.question).items():
                by_day.setdefault(day, (session, entries))
        earlier = max((day for day in by_day if day < asked), default=None)
        after = min((day for day in by_day if day > asked), default=None)
        return [(day, *by_day[day]) for day in (earlier, after) if day is not None]

    def _recorded(self, paths: list[Path]) -> Iterator[Recorded]:
        own = os.path.realpath(self.session.path) if self.session else None
        for path in paths:
            if os.path.realpath(path) != own and self.may_hold_day(path):
                header = discovered_header(path)
                if header is not None:
                    yield Recorded(path, header)

    def may_hold_day(self, path: Path) -> bool:
        """Tell whether a file's name and time of change allow it to hold the day."""
        bounds = self.question.bounds()
        if bounds is None:
            return True
        begun = created(path)
        changed = mtime_ns(path) / 1e6
        return (begun is None or begun < bounds[1] + _SLACK) and (
            begun is None or changed < begun or changed >= bounds[0] - _SLACK
        )

    def active(self, recorded: Iterable[Recorded]) -> list[Recorded]:
        """Return those sessions that have user or assistant messages on the day."""
        found = []
        for one in recorded:
            try:
                if self.active_on_day(one.session.entries):
                    found.append(one)
            except UnreadableError as error:
                self.unreadable[str(one.path)] = error.reason
        return found

    @cached_property
    def others_on_day(self) -> list[Recorded]:
        """The other sessions of this project with activity on the day, newest mtime first."""
        return self.active(self.others)

    @cached_property
    def kin_on_day(self) -> list[tuple[Recorded, Kinship]]:
        """The sessions of the day whose other working directory is this project all the same."""
        found = []
        for one in self.active(self.strangers):
            kinship = self.kinship(one)
            if kinship is not None:
                found.append((one, kinship))
        return found

    def kinship(self, one: Recorded) -> Kinship | None:
        """Return how it is known that a session of another working directory is this project's.

        It is read only where its directory alone does not tell.
        """
        other, known = one.cwd or "", self._known_kin
        if other not in known:
            known[other] = by_place(self.cwd, self.root, other) or (
                by_repository(self.project, other) if self.root.is_dir() else None
            )
        found = known[other]
        if found is None and one.path.parent == self.folder.path:
            # Only what lies here can have been opened from here by `--continue`.
            found = by_prompt(self.cwd, one.session, self.question)
        if found is None and self.root.is_dir() and not is_versioned(other):
            found = by_record(self.project, one.session, self.question)
        return found

    @cached_property
    def _known_kin(self) -> dict[str, Kinship | None]:
        return {}

    # The project

    @cached_property
    def project(self) -> Project:
        """The project's files and history."""
        if not self.root.is_dir():
            raise NotChecked(
                f"{self.root} does not exist here; --project DIR says where the project is now"
            )
        return Project.at(self.root)

    @property
    def session_root(self) -> Path:
        """Where the session's own working directory is now."""
        recorded = self.subject.cwd
        if recorded is None or same_path(recorded, self.cwd):
            return self.root
        return Path(recorded)

    @cached_property
    def observations(self) -> list[Observation]:
        """What the branch knows last of each file that its tools read or wrote, by path."""
        home = None if self.moved else self.home
        found = observations(self.opened, self.pairing.calls, home)
        return sorted(found.values(), key=lambda one: one.path)

    @cached_property
    def standings(self) -> list[Standing]:
        """Each observation of the branch and what has become of it."""
        if self.observations and self.session_root != self.root:
            raise NotChecked(
                f"the session was recorded in {self.subject.cwd}; ask with that as --cwd, and with"
                " --project where it is now"
            )
        found: list[Standing] = []
        asked: list[tuple[Observation, str]] = []
        for one in self.observations:
            path = below(one.path, self.subject.cwd or self.cwd)
            if path is None:
                state = State("unknown", reason="it lies outside the project")
                found.append(Standing(one, None, state))
            else:
                asked.append((one, path))
        if asked:
            files = [Asked(path, partial(self._seen, one, path)) for one, path in asked]
            states = judge(self.project, files)
            found += [
                Standing(one, path, state) for (one, path), state in zip(asked, states, strict=True)
            ]
        return sorted(found, key=lambda standing: standing.observation.path)

    def _seen(self, one: Observation, path: str) -> Seen:
        known = one.contents(self.opened)
        runs = tuple((run.start, run.lines) for run in known.runs)
        return Seen(path, known.text, runs, one.result.time, known.obstacle)

    def bears_on_question(self, observation: Observation) -> bool:
        """Tell whether an observation is the day's, or of what was asked about."""
        if self.question.kind == "outdated" and self.question.day_asked is None:
            return True
        return self.question.includes(observation.result.time) or self.mentions(observation.path)


def entry_text(session: Session, entry: Entry) -> str:
    """Return the text that a person would know an entry by, "" where it has none."""
    return text_in(entry, session.value(entry))


def text_in(entry: Entry, value: object) -> str:
    """Return the text that a person would know an entry by, of its value as it was read again."""
    try:
        if entry.type == "message":
            message = get(value, "message")
            command = get(message, "command")
            text = content_text(get(message, "content"))
            return command if isinstance(command, str) else text
        for name in ("summary", "content", "name", "label"):
            found = get(value, name)
            if isinstance(found, str):
                return found
    except PiThrowsError:
        return ""
    return ""


def cite(session: Session, entry: Entry, quote: str | None = None) -> Evidence:
    """Cite an entry of a session; by its own text where no quote is given."""
    return Evidence(
        str(session.path),
        entry.line,
        entry.entry_id,
        quote=(entry_text(session, entry) if quote is None else quote) or None,
    )


def named(entry: Entry) -> str:
    """Return an entry as a person finds it: line 8 (e3fc6fa7)."""
    own = f" ({shortened(entry.entry_id, _ID)})" if entry.entry_id else ""
    return f"line {entry.line}{own}"


def lines_of(entries: list[Entry]) -> str:
    """Return where entries stand in the file, in words: lines 9-18, or line 4; the first runs."""
    runs: list[list[int]] = []
    for entry in entries:
        if runs and entry.line == runs[-1][1] + 1:
            runs[-1][1] = entry.line
        else:
            runs.append([entry.line, entry.line])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:_RUNS]]
    if len(runs) > _RUNS:
        shown.append("…")
    word = "line" if len(runs) == 1 and runs[0][0] == runs[0][1] else "lines"
    return f"{word} {', '.join(shown)}"


def _parent_name(session: Session) -> str | None:
    """Return the file name of the session that this one was forked from (`parentSession`)."""
    return _name_of(session.header.text("parentSession")) if session.header else None


def _name_of(path: object) -> str | None:
    """Return the last part of a path of any system, None where it is no path."""
    return re.split(r"[/\\]", path)[-1] or None if isinstance(path, str) else None


def title(session: Session) -> str:
    """Return what a person would know a session by: its name, or its first prompt."""
    name = session_name(session)
    if name:
        return name
    prompt = next((entry for entry in session.entries if entry.role == "user"), None)
    return entry_text(session, prompt) if prompt else ""


def activity(session: Session) -> list[float]:
    """Return the times (milliseconds) of the user and assistant messages, as Pi counts them."""
    return [
        entry.message.timestamp if entry.message.timestamp is not None else entry.time or 0.0
        for entry in session.entries
        if entry.is_activity and entry.message is not None
    ]


def messages_by_day(session: Session, question: Question) -> dict[date, list[Entry]]:
    """Return the user and assistant messages of a session by the person's calendar day."""
    found: dict[date, list[Entry]] = {}
    for entry in session.entries:
        if entry.is_activity and entry.time is not None:
            found.setdefault(question.day_of(entry.time), []).append(entry)
    return found


def active_days(session: Session, question: Question) -> list[date]:
    """Return the person's calendar days on which a session has messages, in order."""
    return sorted(messages_by_day(session, question))

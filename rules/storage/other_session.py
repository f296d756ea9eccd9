"""Another session of this project holds the day.

What it finds
    The session under examination has nothing of the day, or is another project's, and another
    session of the same working directory has. Or both have, and what was asked about is only in
    the other one.
Why it matters
    `pi` without `--continue` begins a new session, and so do a job and a program that resets its
    conversation every day; the agent then knows nothing of yesterday, though all of it is on disk.
What proves it
    The other session's file, its user and assistant messages of the day, the entry that holds what
    was asked about, and both headers: the examined session may have been begun after the other's
    last message, and name none that it was forked from. Files that lie where Pi does not look now
    are told so: another agent folder (`~/.pi*`), the default folder where a setting leads to
    another one, or above it. A copy that Pi does not list (a rewrite that was cut off) counts where
    no listed file is the same session.
What it cannot tell
    Which of several sessions of the day was meant, and who or what began a new one. An agent folder
    elsewhere is not known of.
What to do
    Open the other session with the command that stands beside the finding, which copies what Pi
    does not list.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from diagnose.pipeline.case import cite, entry_text, lines_of, title
from diagnose.pipeline.finding import Evidence, Finding, Remedy, rule
from diagnose.pipeline.words import counted, shortened
from diagnose.sessions.entry import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry
    from diagnose.sessions.reading import Session

# Sessions beyond these, the oldest, are counted.
_SHOWN = 10
# So many entries that hold what was asked about are cited.
_CITED = 3
_HOUR = 3_600_000
_DAY = 24 * _HOUR


@rule("PI104", "other-session", layer="storage", levels=("error", "warning"), verdict="elsewhere")
def other_session(case: Case) -> Iterator[Finding]:
    """Find the day in another session of the same working directory."""
    # Where the day is here too, or is not the asked one, of which nothing is stored (PI102), the
    # other session explains nothing by itself.
    is_aside = (bool(case.day_here) and case.is_own) or case.question.is_moved
    others, own = case.others_on_day, case.session
    # Entries of version 1 have no ids, and a fork of one is none that could be told by them.
    shared = {e.entry_id for e in own.entries if e.entry_id} if own and others else set()
    found = []
    for other in others:
        new = [e for e in case.on_day(other.session.entries) if e.entry_id not in shared]
        day = [e for e in new if e.is_activity]
        asked = _asked_about(case, other.session, new) if day else []
        # A fork carries its parent's entries under their ids; that is PI205's to tell.
        if day and (asked or not case.is_relative(other.session)):
            found.append((other.session, day, asked))
    for session, day, asked in found[:_SHOWN]:
        told, pieces = _examined(case, day[-1])
        yield Finding(
            f"the day's activity is in another session, {shortened(title(session))!r}:"
            f" {counted(len(day), 'message')}, the last at {case.clock(day[-1].time)}"
            f"{_asked(case, asked)}{_lies(case, session)}{told}",
            (
                cite(session, day[-1]),
                cite(session, day[0]),
                *(cite(session, entry) for entry in asked[:_CITED]),
                *_header(session),
                *pieces,
            ),
            level="warning" if is_aside and not asked else None,
            remedy=(_way_to(case, session),),
        )
    if len(found) > _SHOWN:
        rest = found[_SHOWN:]
        yield Finding(
            f"the day's activity is in {counted(len(rest), 'more session')} of this project",
            tuple(cite(session, day[-1]) for session, day, _ in rest[:_SHOWN]),
            level="warning" if is_aside and not any(asked for _, _, asked in rest) else None,
        )


def _asked_about(case: Case, session: Session, entries: list[Entry]) -> list[Entry]:
    """Return the entries that hold what was asked about, none where the examined session does too.

    What was said there after the day, such as a question about it, does not count.
    """
    if case.question.about is None:
        return []
    found = [entry for entry in entries if case.mentions(entry_text(session, entry))]
    own, bounds = case.session, case.question.bounds()
    if not found or own is None:
        return found
    for entry in own.entries:
        if bounds is not None and entry.time is not None and entry.time >= bounds[1]:
            continue
        # All of the entry: what a tool was given, or an extension noted, is known there as well.
        if case.mentions(own.raw(entry.offset, entry.length).decode("utf-8", "replace")):
            return []
    return found


def _asked(case: Case, entries: list[Entry]) -> str:
    if not entries:
        return ""
    about = shortened(case.question.about or "")
    return f"; what was asked about, {about!r}, is in its {lines_of(entries)} and not here"


def _lies(case: Case, session: Session) -> str:
    """Say where a session lies, where Pi does not look there now."""
    place = session.path.parent
    if not session.path.name.endswith(".jsonl"):
        return (
            f"; it is session {shortened(session.id or '')} in {session.path.name}, which Pi does"
            " not list: a rewrite that was cut off, or a copy"
        )
    if place not in case.folder.beside:
        return ""
    moved = (
        "; Pi moves it into its folder at its next start" if place == case.folder.agent_dir else ""
    )
    return f"; it lies in {place}, and Pi looks in {case.folder.path} ({case.folder.how}){moved}"


def _way_to(case: Case, session: Session) -> Remedy:
    """Return how a session is opened; one that Pi does not list is copied first, being evidence."""
    path = session.path
    if path.name.endswith(".jsonl"):
        return Remedy("Open that session.", case.command_to_open(session))
    listed = path.with_name(path.name.lstrip(".").partition(".jsonl")[0] + ".jsonl")
    return Remedy(
        "Copy it to a name that Pi lists, where there is none yet, and open the copy.",
        f"cp -n {quote(str(path))} {quote(str(listed))}",
    )


def _examined(case: Case, last: Entry) -> tuple[str, tuple[Evidence, ...]]:
    """Say how the examined session stands to a message of another one, and cite its header."""
    session = case.session
    if session is None or session.header is None:
        return "", ()
    if not case.is_own:
        return f"; the session that is examined was recorded in {session.cwd}", _header(session)
    begun = parse_time(session.header.value.get("timestamp"))
    named = session.header.text("parentSession")
    if begun is None or last.time is None or begun < last.time or named is not None:
        return "", ()
    told = (
        f"; the session that is examined was begun at {case.clock(begun)},"
        f" {_gap(begun - last.time)} later, and from none (its header has no parentSession)"
    )
    return told, _header(session)


def _header(session: Session) -> tuple[Evidence, ...]:
    if session.header is None:
        return ()
    return (Evidence(str(session.path), session.header.line, quote=session.cwd),)


def _gap(milliseconds: float) -> str:
    if milliseconds < 2 * _HOUR:
        return counted(round(milliseconds / 60_000), "minute")
    if milliseconds < 2 * _DAY:
        return counted(round(milliseconds / _HOUR), "hour")
    return counted(round(milliseconds / _DAY), "day")

"""The symptom and the day: what a person asks, in a few words of English or Chinese."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property
from typing import Final

import msgspec

from diagnose.pipeline.words import find, words

_DATE: Final = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?!\d)")
_POSSESSIVE: Final = re.compile(r"\A['’]s(?![A-Za-z])")
_STOPS: Final = " .,;:!?'\"，。？！、；："
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class QuestionError(ValueError):
    """A day or time that cannot be understood; one line for a person."""


class Question(msgspec.Struct, frozen=True, dict=True):
    """What is asked: the kind of trouble, the day it is about, and what it is about.

    `day_asked` is the day that the person named; `day` the one that is looked at, which is earlier
    where nothing happened on the other. `day` is None where nothing ever happened.
    """

    text: str
    kind: str
    day_asked: date | None
    day: date | None
    about: str | None
    today: date
    zone: tzinfo | None = None

    def bounds(self) -> tuple[float, float] | None:
        """Return the day in milliseconds since the epoch, from and (without it) to."""
        return self._bounds

    @cached_property
    def _bounds(self) -> tuple[float, float] | None:
        if self.day is None:
            return None
        return start_of(self.day, self.zone), end_of(self.day, self.zone)

    @property
    def is_moved(self) -> bool:
        """Whether another day is looked at than the one that was asked about."""
        return self.day_asked is not None and self.day != self.day_asked

    def includes(self, time: float | None) -> bool:
        """Tell whether a moment (milliseconds) is on the day; without a day, all are."""
        bounds = self._bounds
        if bounds is None:
            return True
        return time is not None and bounds[0] <= time < bounds[1]

    def day_of(self, time: float) -> date:
        """Return the person's calendar day of a moment (milliseconds)."""
        return local(time, self.zone).date()

    def moved_to(self, day: date) -> Question:
        """Return the question about another day than was asked."""
        return msgspec.structs.replace(self, day=day)


def local(time: float, zone: tzinfo | None) -> datetime:
    """Return a moment (milliseconds) on the person's clock; zone None is the system's."""
    moment = datetime.fromtimestamp(time / 1000, UTC)
    return moment.astimezone(zone)


def start_of(day: date, zone: tzinfo | None) -> float:
    """Return the first moment of a day in milliseconds since the epoch."""
    moment = datetime(day.year, day.month, day.day, tzinfo=zone)
    return moment.timestamp() * 1000


def end_of(day: date, zone: tzinfo | None) -> float:
    """Return the first moment after a day in milliseconds since the epoch."""
    return start_of(day + timedelta(days=1), zone)


def ask(
    text: str, now: datetime, zone: tzinfo | None, day: str | None = None, about: str | None = None
) -> Question:
    """Read a symptom; `day` and `about` take the place of what the symptom says of them.

    Raise QuestionError where `day` is none.
    """
    today = now.astimezone(zone).date()
    left = text
    kind = "unknown"
    for name, phrases in words("symptoms").items():
        if found := find(left, phrases):
            kind = name
            left = left[: found.start()] + " " + left[found.end() :]
            break
    found_day, left = _day(left, today)
    if day is not None:
        found_day, rest = _day(day, today)
        if found_day is None or rest.strip():
            raise QuestionError(
                f"{day!r} is no day: give yesterday, today, a weekday, or a date like 2026-10-20"
            )
    about = about or _about(left)
    return Question(text, kind, found_day, found_day, about, today, zone)


def _day(text: str, today: date) -> tuple[date | None, str]:
    """Return the day that a text names, and the text without it."""
    if found := _DATE.search(text):
        try:
            day = date(*map(int, found.groups()))
        except ValueError as error:
            raise QuestionError(f"{found[0]!r} is no date: {error}") from error
        return day, text[: found.start()] + " " + text[found.end() :]
    # The longest phrase first over all days: "the day before yesterday" holds "yesterday".
    for days, phrases in sorted(words("days").items(), reverse=True):
        if found := find(text, phrases):
            day = today - timedelta(days=int(days))
            return day, _without(text, found)
    for name, phrases in words("weekdays").items():
        if found := find(text, phrases):
            back = (today.weekday() - _WEEKDAYS.index(name)) % 7 or 7
            return today - timedelta(days=back), _without(text, found)
    return None, text


def _without(text: str, found: re.Match[str]) -> str:
    """Return a text without the day in it: of "yesterday's deploy" the deploy is left."""
    return text[: found.start()] + " " + _POSSESSIVE.sub("", text[found.end() :])


def _about(text: str) -> str | None:
    """Return what is left of a symptom once the words that say nothing are gone."""
    fillers = set(words("fillers"))
    # Chinese is written without spaces: there the fillers come off both ends of a word.
    edges = "|".join(re.escape(word) for word in fillers if not word.isascii())
    bare = [re.sub(f"^(?:{edges})+|(?:{edges})+$", "", word) for word in text.split()]
    kept = [word for word in bare if word.strip(_STOPS).lower() not in fillers]
    return " ".join(kept).strip(_STOPS) or None


def parse_now(text: str | None, zone: tzinfo | None) -> datetime:
    """Return the moment that `--now` gives, the clock's without it; raise QuestionError."""
    if text is None:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise QuestionError(
            f"{text!r} is no time: give one like 2026-10-21T10:00:00Z or 2026-10-21"
        ) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=zone).astimezone(zone)

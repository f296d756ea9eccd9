"""The symptom and the day, in English and Chinese."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from diagnose.pipeline.question import QuestionError, ask, parse_now

# A Wednesday.
NOW = datetime(2026, 10, 21, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "kind", "day", "about"),
    [
        ("forgot yesterday", "forgot", "2026-10-20", None),
        ("忘了昨天", "forgot", "2026-10-20", None),
        ("昨天的检查都忘记了", "forgot", "2026-10-20", "检查"),
        ("it forgot src/greet.ts yesterday", "forgot", "2026-10-20", "src/greet.ts"),
        ("outdated", "outdated", None, None),
        ("过时", "outdated", None, None),
        ("wrong project today", "wrong-project", "2026-10-21", None),  # not "wrong"
        ("lost the details on friday", "lost-details", "2026-10-16", None),  # not "lost"
        ("repeated 2026-10-19", "repeated", "2026-10-19", None),
        ("重复 2026年10月19日", "repeated", "2026-10-19", None),
        ("forgot the day before yesterday", "forgot", "2026-10-19", None),
        ("前天丢失细节", "lost-details", "2026-10-19", None),
        ("wrong about yesterday's deploy", "outdated", "2026-10-20", "deploy"),
        ("wrong since friday’s deploy", "outdated", "2026-10-16", "deploy"),
        # A weekday is the last one before today; on a Wednesday, Wednesday is a week ago.
        ("forgot wednesday", "forgot", "2026-10-14", None),
        ("忘了星期一", "forgot", "2026-10-19", None),
        ("is the build green?", "unknown", None, "build green"),
        ("", "unknown", None, None),
        ("lostness", "unknown", None, "lostness"),  # a word that only begins like a symptom
    ],
)
def test_a_symptom_is_understood(text: str, kind: str, day: str | None, about: str | None) -> None:
    question = ask(text, NOW, UTC)
    assert question.kind == kind
    assert question.day_asked == (date.fromisoformat(day) if day else None)
    assert question.about == about


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("UTC", "2026-10-20"),
        ("Pacific/Kiritimati", "2026-10-21"),  # there it is the 22nd already
        ("America/Los_Angeles", "2026-10-20"),
    ],
)
def test_yesterday_is_the_persons_own_calendar_day(zone: str, day: str) -> None:
    question = ask("forgot yesterday", NOW, ZoneInfo(zone))
    assert question.day == date.fromisoformat(day)


def test_a_day_has_its_own_length_when_the_clocks_change() -> None:
    """On 25 October 2026 Berlin's day has 25 hours."""
    zone = ZoneInfo("Europe/Berlin")
    question = ask("forgot yesterday", datetime(2026, 10, 26, 12, tzinfo=zone), zone)
    bounds = question.bounds()
    assert bounds is not None
    assert bounds[1] - bounds[0] == 25 * 3_600_000
    assert question.includes(bounds[0])
    assert not question.includes(bounds[1])


def test_options_take_the_place_of_the_symptoms_words() -> None:
    question = ask("forgot yesterday", NOW, UTC, day="monday", about="README")
    assert (question.day, question.about) == (date(2026, 10, 19), "README")


@pytest.mark.parametrize("day", ["someday", "2026-02-30", "yesterday evening", ""])
def test_a_day_that_is_none_is_refused_in_words(day: str) -> None:
    with pytest.raises(QuestionError, match="is no da"):
        ask("forgot", NOW, UTC, day=day)


def test_now_without_a_zone_is_on_the_persons_clock() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    assert parse_now("2026-10-21T10:00", zone) == datetime(2026, 10, 21, 2, 0, tzinfo=UTC)
    assert parse_now("2026-10-21T10:00:00Z", zone) == NOW
    with pytest.raises(QuestionError, match="is no time"):
        parse_now("noonish", zone)

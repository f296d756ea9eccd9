"""Storage: is it on disk, whole, and in the file that Pi opens?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from entries import assistant, chain, today, user, yesterday

if TYPE_CHECKING:
    from diagnosis import Diagnose, Write


def test_the_day_in_another_session_is_told_with_the_command_to_open_it(
    write_session: Write, diagnose: Diagnose
) -> None:
    write_session(*chain(user("a1", today(1)), assistant("a2", today(2))))
    other = write_session(*chain(user("b1", yesterday(1)), assistant("b2", yesterday(2))))
    found = diagnose().one("PI104")
    assert found.level == "error"
    assert found.remedy[0].command == f"pi --session {other}"

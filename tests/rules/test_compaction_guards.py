"""Compaction, at its edges: what people met, and where the checker must keep silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from entries import Json, assistant, chain, entry, on, result, today, user, yesterday

if TYPE_CHECKING:
    from diagnosis import Diagnose, Write

FULL = """## Goal
Make the build pass

## Constraints & Preferences
- (none)

## Progress
### Done
- [x] Looked at the build

## Key Decisions
- **Retries**: three

## Next Steps
1. Ask about the release

## Critical Context
- The build takes an hour
"""


def compaction(id_: str, at: str, kept: Any, summary: Any = FULL, **more: Any) -> Json:
    fields = {"summary": summary, "tokensBefore": 9000, "firstKeptEntryId": kept, **more}
    return entry("compaction", id_, at, **fields)


def bash(command: str, at: float = 2, text: str = "ok", **message: Any) -> list[Json]:
    """Return a turn that runs a command, three entries, and says nothing of it."""
    return [
        user(f"u{at}", yesterday(at), "Go on"),
        assistant(
            f"b{at}", yesterday(at + 0.1), "Now.", calls=((f"c{at}", "bash", {"command": command}),)
        ),
        result(f"r{at}", yesterday(at + 0.2), f"c{at}", text, message),
    ]


def later() -> list[Json]:
    return [user("z1", today(1), "Still so?"), assistant("z2", today(2), "Yes.")]


def said(text: str) -> list[Json]:
    return [user("a1", yesterday(1), "Check it"), assistant("a2", yesterday(2), text)]


class TestTheDay:
    def test_another_days_messages_are_noted_where_they_hold_what_was_asked_about(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        old = [
            user("o1", on("2026-10-15", 1), "Retry three times"),
            assistant("o2", on("2026-10-15", 2)),
        ]
        write_session(*chain(*old, *said("Fine."), compaction("k1", today(0), "a1"), *later()))
        one = diagnose(about="retry").one("PI301")
        assert (one.level, [piece.entry for piece in one.evidence]) == ("note", ["k1", "o1"])
        assert diagnose()["PI301"] == []

    def test_a_compaction_that_kept_the_message_did_not_summarise_it(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Two stand after it, and it went through one."""
        write_session(
            *chain(
                user("o1", on("2026-10-15", 1)),
                *said("Fine."),
                compaction("k1", yesterday(5), "a1"),
                *later(),
                compaction("k2", today(3), "z1"),
            )
        )
        found = diagnose()
        assert len(found["PI301"]) == 1
        assert found["PI307"] == []


class TestTheForm:
    def _thin(self, write_session: Write, diagnose: Diagnose, summary: Any) -> list[str]:
        write_session(
            *chain(*said("Fine."), compaction("k1", yesterday(5), "k1", summary), *later())
        )
        return [one.message for one in diagnose()["PI304"]]

    @pytest.mark.parametrize(
        "summary",
        [
            FULL.replace("## ", "## 1. "),
            FULL.replace("## Goal\n", "**Goal:** ").replace("## Next Steps", "**Next Steps**"),
            FULL.replace("## Goal", "Goal:").replace("## Progress", "### Progress"),
            FULL.replace("- **Retries**: three", "**Retries**: three"),
            FULL.replace("- **Retries**: three", "- (none)"),
        ],
        ids=["numbered", "bold", "plain", "a bold word is no heading", "an honest none"],
    )
    def test_a_section_may_be_headed_in_several_ways(
        self, write_session: Write, diagnose: Diagnose, summary: str
    ) -> None:
        assert self._thin(write_session, diagnose, summary) == []

    @pytest.mark.parametrize("body", ["x", "...", "", "[Any data needed to continue]", "TODO"])
    def test_a_placeholder_is_no_honest_none(
        self, write_session: Write, diagnose: Diagnose, body: str
    ) -> None:
        summary = FULL.replace("The build takes an hour", body)
        (message,) = self._thin(write_session, diagnose, summary)
        assert "only placeholders under Critical Context" in message

    def test_a_summary_that_was_cut_off_is_told_by_its_end(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        (message,) = self._thin(
            write_session, diagnose, FULL.split("## Next", maxsplit=1)[0] + "and then it"
        )
        assert "has no Next Steps, Critical Context; it ends with" in message
        assert message.endswith("and then it'")

    def test_a_summary_that_is_missing_is_read_as_the_word_undefined(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        kept = compaction("k1", yesterday(5), "k1")
        del kept["summary"]
        write_session(*chain(*said("Fine."), kept, *later()))
        assert "'undefined'" in diagnose().one("PI304").message


class TestWhatIsDropped:
    def _dropped(
        self,
        write_session: Write,
        diagnose: Diagnose,
        *before: Json,
        summary: str = FULL,
        **asked: Any,
    ) -> list[str]:
        write_session(*chain(*before, compaction("k1", yesterday(30), "k1", summary), *later()))
        return [one.message for one in diagnose(**asked)["PI306"]]

    @pytest.mark.parametrize(
        "text",
        [
            "What was not checked?",
            "Build a todo list with untyped items.",
            "The release was not tested, so ask about it.",
        ],
        ids=["a question", "a todo list", "its words are in the summary"],
    )
    def test_what_states_no_limit_or_is_carried_is_not_dropped(
        self, write_session: Write, diagnose: Diagnose, text: str
    ) -> None:
        told = self._dropped(write_session, diagnose, *said(text), summary=FULL + "so test it")
        assert told == []

    def test_half_of_a_limit_is_not_the_limit(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        summary = FULL + "\nNot checked: call sites."
        told = self._dropped(
            write_session,
            diagnose,
            *said("Not checked: call sites, types, security."),
            summary=summary,
        )
        assert len(told) == 1

    @pytest.mark.parametrize(
        ("command", "dropped"),
        [
            ("npm test", "'npm test'"),
            ("cd app && git push origin topic", "'git push origin topic'"),
            ("rm -rf dist/old", "'rm -rf dist/old'"),
            ("cat > src/made.ts <<'EOF'\nx\nEOF", "'src/made.ts'"),
            ("grep -n a b.ts", None),
            ("mkdir -p out", None),
        ],
    )
    def test_a_command_is_told_that_lasts_or_tests(
        self, write_session: Write, diagnose: Diagnose, command: str, dropped: str | None
    ) -> None:
        """A file that the shell wrote is in none of Pi's own lists."""
        told = self._dropped(write_session, diagnose, *bash(command))
        assert [dropped in one for one in told if dropped] == ([True] if dropped else [])
        assert bool(told) is bool(dropped)

    @pytest.mark.parametrize(
        ("command", "summary"),
        [
            ("git push origin topic", "It was pushed."),
            ("rm -rf dist/old", "Removed dist/old."),
            ("cat > src/made.ts <<'EOF'\nx\nEOF", "Wrote made.ts."),
        ],
    )
    def test_a_command_is_named_by_its_verb_or_its_path(
        self, write_session: Write, diagnose: Diagnose, command: str, summary: str
    ) -> None:
        told = self._dropped(write_session, diagnose, *bash(command), summary=FULL + summary)
        assert told == []

    def test_what_failed_did_nothing_that_could_be_dropped(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        assert self._dropped(write_session, diagnose, *bash("git push", isError=True)) == []


class TestWhatWasAskedAbout:
    FACT = "quokka"

    def _asked(self, write_session: Write, diagnose: Diagnose, *entries: Json) -> list[str]:
        write_session(*chain(*entries))
        found = diagnose(about=self.FACT)["PI306"]
        assert {one.level for one in found} <= {"error"}
        return [one.message for one in found]

    def _cut(self, kept: str = "k1") -> Json:
        return compaction("k1", yesterday(30), kept)

    def test_a_fact_that_only_the_originals_have_is_told_with_its_line(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        told = self._asked(
            write_session, diagnose, *said("The code name is Quokka."), self._cut(), *later()
        )
        assert len(told) == 1
        assert "is in line 3 of what was compacted" in told[0]

    def test_a_fact_at_the_end_of_a_long_output_was_never_given_to_the_summary(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        output = "x" * 49_000 + self.FACT
        told = self._asked(
            write_session, diagnose, *bash("cat a", text=output), self._cut(), *later()
        )
        assert "at character 49,000 of a tool result" in told[0]

    def test_a_fact_that_was_only_thought_was_never_given_to_the_summary(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        thought = assistant(
            "a2", yesterday(2), message={"content": [{"type": "thinking", "thinking": self.FACT}]}
        )
        told = self._asked(
            write_session, diagnose, user("a1", yesterday(1)), thought, self._cut(), *later()
        )
        assert "in thinking, of which a summary is given nothing" in told[0]

    def test_a_fact_in_the_kept_part_is_whole(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The model has it word for word; compaction did not take it."""
        kept = self._cut("a2")
        told = self._asked(write_session, diagnose, *said("It is Quokka."), kept, *later())
        assert told == []

    def test_a_fact_that_a_tool_showed_again_is_there(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        again = bash("cat name", at=40, text=self.FACT)
        told = self._asked(write_session, diagnose, *said("Quokka."), self._cut(), *again, *later())
        assert told == []

    def test_asking_for_a_fact_brings_it_not_back(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        ask = [user("z1", today(1), "What is quokka?"), assistant("z2", today(2), "Quokka?")]
        assert len(self._asked(write_session, diagnose, *said("Quokka."), self._cut(), *ask)) == 1


class TestBetweenCompactions:
    TEXT = "The scheduler must keep seven workers alive because the upstream queue drops idle ones."

    @pytest.mark.parametrize(
        ("summary", "number"),
        [("## Goal\nother", 1), ("Scheduler: seven workers, the queue drops idle ones", 0)],
    )
    def test_words_that_no_summary_has_fell_between(
        self, write_session: Write, diagnose: Diagnose, summary: str, number: int
    ) -> None:
        """Some older Pis left what the first compaction kept out of the second summary."""
        write_session(
            *chain(
                user("o1", yesterday(0.5)),
                *said(self.TEXT),
                compaction("k1", yesterday(5), "a1"),
                *later(),
                compaction("k2", today(3), "z1", summary),
            )
        )
        found = diagnose()["PI314"]
        assert len(found) == number
        if found:
            assert [piece.entry for piece in found[0].evidence] == ["a1", "a2", "k2"]

    def test_an_overflow_that_no_compaction_followed_was_not_recovered_by_one(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """A later compaction, after the next prompt, is another matter."""
        failed = assistant(
            "f1",
            yesterday(3),
            "",
            message={"stopReason": "error", "errorMessage": "prompt is too long"},
        )
        edit = entry("context_edit", "e1", yesterday(4), targetId="f1", replacement=None)
        write_session(*chain(*said("x"), failed, edit, *later(), compaction("k1", today(3), "z1")))
        assert diagnose()["PI309"] == []

"""Compaction: whole, or as a summary?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from entries import USAGE, Json, assistant, chain, entry, result, today, user, yesterday

if TYPE_CHECKING:
    from pathlib import Path

    from diagnosis import Diagnose, Write

FULL = """## Goal
Check src/greet.ts

## Constraints & Preferences
- (none)

## Progress
### Done
- [x] Checked lines 1-3 of src/greet.ts
### Blocked
- (none)

## Key Decisions
- **Scope**: named functions only

## Next Steps
1. Check the call sites

## Critical Context
- greet is exported
"""
# Pi's own form for a turn that was split where nothing came before it.
SPLIT = """No prior history.

---

**Turn Context (split turn):**

## Original Request
Check it

## Progress So Far
- read it

## Context Needed to Continue
- one function
"""
CHINESE = """## 目标
检查
## 约束
- 无
## 进展
- 已读
## 关键决定
- 无
## 下一步
1. 测试
## 关键上下文
- 无
"""
LIMIT = "Checked it. Not checked: call sites, types."


def compaction(id_: str, at: str, kept: Any = "absent", summary: Any = FULL, **more: Any) -> Json:
    fields = {"summary": summary, "tokensBefore": 9000, **more}
    if kept != "absent":
        fields["firstKeptEntryId"] = kept
    return entry("compaction", id_, at, **fields)


def day(text: str = LIMIT) -> list[Json]:
    read = (("c1", "read", {"path": "src/greet.ts"}),)
    return [
        user("a1", yesterday(1), "Check src/greet.ts"),
        assistant("a2", yesterday(2), "Reading.", calls=read),
        result("a3", yesterday(3), "c1", "export function greet() {}\n", {"toolName": "read"}),
        assistant("a4", yesterday(4), text),
    ]


def later() -> list[Json]:
    return [user("b1", today(1), "Still so?"), assistant("b2", today(2), "Yes.")]


class TestWhatIsKept:
    def test_a_day_before_the_boundary_is_told_with_the_lines_of_the_originals(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), *later(), compaction("k1", today(3), "b1")))
        one = diagnose().one("PI301")
        assert one.level == "error"
        assert [piece.entry for piece in one.evidence] == ["k1", "a1", "a4"]
        assert "3 messages of the day, lines 2-3, 5" in one.message

    def test_a_day_after_the_boundary_is_whole(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), *later(), compaction("k1", today(3), "a1")))
        found = diagnose()
        assert {code for code in found.codes("error", "warning") if code[:3] == "PI3"} == set()

    @pytest.mark.parametrize(
        ("kept", "says"),
        [
            ("absent", "is not given"),
            (None, "is null"),
            (7, "is no id"),
            ("deadbeef", "deadbeef is not in the file"),
            ("b2", "b2 stands after it"),
        ],
    )
    def test_a_boundary_that_is_not_there_keeps_nothing(
        self, write_session: Write, diagnose: Diagnose, kept: object, says: str
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), kept), *later()))
        one = diagnose().one("PI302")
        assert one.level == "error"
        assert says in one.message
        assert [piece.entry for piece in one.evidence] == ["k1", "a4"]

    def test_a_boundary_on_another_branch_keeps_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        left = chain(user("x1", yesterday(4.5)), parent="a3")
        write_session(
            *chain(*day()), *left, *chain(compaction("k1", today(1), "x1"), *later(), parent="a4")
        )
        assert "x1 is on another branch, in line 6" in diagnose().one("PI302").message

    def test_a_compaction_that_names_itself_keeps_none_on_purpose(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "k1"), *later()))
        found = diagnose()
        assert found.one("PI303").level == "note"
        assert found["PI302"] == []

    def test_a_boundary_that_is_there_is_neither(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "a4"), *later()))
        found = diagnose()
        assert found["PI302"] == found["PI303"] == []

    def test_a_system_message_may_be_the_boundary(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """It is not kept itself, and what follows it is."""
        system = entry(
            "message",
            "s1",
            yesterday(0.5),
            message={"role": "system", "content": "", "timestamp": 0},
        )
        write_session(*chain(system, *day(), compaction("k1", yesterday(5), "s1"), *later()))
        found = diagnose()
        assert found["PI302"] == found["PI301"] == []

    def test_what_is_before_a_lost_boundary_is_told_as_its_fault(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "deadbeef"), *later()))
        found = diagnose()
        assert (found.one("PI302").level, found.one("PI301").level) == ("error", "note")

    def test_a_boundary_between_a_call_and_its_result_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Pi never cuts so; an extension or an editor does."""
        write_session(*chain(*day(), compaction("k1", yesterday(5), "a3"), *later()))
        one = diagnose().one("PI308")
        assert [piece.entry for piece in one.evidence] == ["k1", "a2", "a3"]

    def test_a_boundary_before_the_call_parts_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "a2"), *later()))
        assert diagnose()["PI308"] == []

    def test_two_compactions_make_a_summary_of_a_summary(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(
            *chain(
                *day(),
                compaction("k1", yesterday(5), "a4"),
                *later(),
                compaction("k2", today(3), "b2"),
            )
        )
        one = diagnose().one("PI307")
        assert "2 compactions" in one.message
        assert [piece.entry for piece in one.evidence] == ["k2", "k1"]

    def test_one_compaction_makes_none(self, write_session: Write, diagnose: Diagnose) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "a4"), *later()))
        assert diagnose()["PI307"] == []


class TestWhatTheSummarySays:
    def _with(self, write_session: Write, summary: Any, text: str = LIMIT, **more: Any) -> None:
        kept = compaction("k1", yesterday(5), "k1", summary, **more)
        write_session(*chain(*day(text), kept, *later()))

    @pytest.mark.parametrize(
        ("summary", "says"),
        [
            ("", "is empty"),
            ("done", "has no Goal, Constraints & Preferences, Progress"),
            (FULL.replace("1. Check the call sites", "1. None"), "placeholders under Next Steps"),
            (FULL.replace("## Goal\nCheck src/greet.ts", ""), "has no Goal"),
            ("No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nx", "has no"),
        ],
    )
    def test_a_thin_summary_is_told_with_what_it_lacks(
        self, write_session: Write, diagnose: Diagnose, summary: str, says: str
    ) -> None:
        self._with(write_session, summary)
        assert says in diagnose().one("PI304").message

    @pytest.mark.parametrize("summary", [FULL, SPLIT, CHINESE], ids=["whole", "split", "Chinese"])
    def test_a_summary_in_pis_form_is_not_thin(
        self, write_session: Write, diagnose: Diagnose, summary: str
    ) -> None:
        self._with(write_session, summary)
        assert diagnose()["PI304"] == []

    def test_an_extensions_summary_has_a_form_of_its_own(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, "memory: x", fromHook=True)
        found = diagnose()
        assert found["PI304"] == []
        assert found.one("PI310").level == "note"

    def test_pis_own_summary_is_no_extensions(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, FULL, fromHook=False)
        assert diagnose()["PI310"] == []

    def test_three_times_no_makes_a_summary_a_clue(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, "It went well.")
        one = diagnose().one("PI305")
        assert one.level == "warning"
        assert "its sources: no; its scope: no; what is unfinished: no" in one.message

    def test_a_summary_that_answers_is_quoted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, FULL)
        one = diagnose().one("PI305")
        assert one.level == "note"
        assert "'src/greet.ts'" in one.message
        assert "lines 1-3 of src/greet.ts" in one.message
        assert "'Check the call sites'" in one.message

    @pytest.mark.parametrize(
        ("text", "statement"),
        [
            (LIMIT, "Not checked: call sites, types."),
            (
                "Checked.\n\nNot checked:\n- call sites\n- types\n\nBye.",
                "Not checked: call sites, types",
            ),
            ("| file | not tested |\n|---|---|\n| a.ts | call sites |", "not tested: call sites"),
            ("已检查 greet。未检查：调用处、类型。", "未检查：调用处、类型。"),
            ("I did not test the error path. The rest works.", "I did not test the error path."),
        ],
    )
    def test_a_limit_that_the_summary_drops_is_quoted_with_its_line(
        self, write_session: Write, diagnose: Diagnose, text: str, statement: str
    ) -> None:
        """In a sentence, a list, a table and in Chinese."""
        self._with(write_session, FULL.replace("call sites", "rest"), text)
        one = diagnose().one("PI306")
        assert one.level == "warning"
        assert (one.evidence[0].line, one.evidence[0].quote) == (5, statement)

    def test_a_limit_that_was_asked_about_is_an_error(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, "done")
        asked = diagnose("forgot the call sites yesterday")["PI306"]
        assert [one.level for one in asked if "call sites" in one.message] == ["error"]

    def test_details_of_another_day_are_not_those_that_were_asked_about(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, "done")
        asked = diagnose("lost the details yesterday")["PI306"]
        assert {one.level for one in asked} == {"error"}
        assert diagnose("lost the details today")["PI306"] == []

    def test_a_limit_that_the_summary_keeps_is_not_dropped(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._with(write_session, FULL + "\nNot checked: types and call sites.")
        assert diagnose()["PI306"] == []

    def test_a_file_and_a_push_that_the_summary_does_not_name_are_dropped(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        work = [
            user("a1", yesterday(1)),
            assistant("a2", yesterday(2), calls=(("c1", "read", {"path": "src/secret.ts"}),)),
            result("a3", yesterday(3), "c1"),
            assistant(
                "a4", yesterday(4), calls=(("c2", "bash", {"command": "git push origin x"}),)
            ),
            result("a5", yesterday(5), "c2"),
        ]
        write_session(*chain(*work, compaction("k1", yesterday(6), "k1"), *later()))
        found = diagnose()["PI306"]
        assert [one.evidence[0].entry for one in found] == ["a2", "a4"]
        assert "src/secret.ts" in found[0].message
        assert "git push origin x" in found[1].message

    def test_files_in_the_lists_of_the_summary_are_not_dropped(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        lists = {"details": {"readFiles": ["src/greet.ts"], "modifiedFiles": []}}
        self._with(write_session, FULL.replace("src/greet.ts", "it"), "Fine.", **lists)
        assert diagnose()["PI306"] == []

    def test_what_fell_between_two_compactions_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Kept by the first and before the second's boundary, and in no list of the second."""
        write_session(
            *chain(
                *day("Fine."),
                compaction("k1", yesterday(5), "a2"),
                *later(),
                compaction("k2", today(3), "b1", "## Goal\nother"),
            )
        )
        one = diagnose().one("PI314")
        assert "src/greet.ts (line 3)" in one.message

    def test_what_the_second_compaction_lists_did_not_fall_between(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        lists = {"readFiles": ["src/greet.ts"], "modifiedFiles": []}
        write_session(
            *chain(
                *day("Fine."),
                compaction("k1", yesterday(5), "a2"),
                *later(),
                compaction("k2", today(3), "b1", "## Goal\nother", details=lists),
            )
        )
        assert diagnose()["PI314"] == []


class TestWhy:
    def _failed(self, message: str) -> Json:
        return assistant(
            "f1", yesterday(5), "", message={"stopReason": "error", "errorMessage": message}
        )

    @pytest.mark.parametrize(
        ("message", "fires"),
        [
            ("prompt is too long: 213462 tokens > 200000 maximum", True),
            ("ThrottlingException: Too many tokens, rate limit", False),
            ("529 overloaded", False),
        ],
    )
    def test_an_overflow_that_was_edited_out_and_compacted_is_told(
        self, write_session: Write, diagnose: Diagnose, message: str, fires: bool
    ) -> None:
        edit = entry("context_edit", "e1", yesterday(6), targetId="f1", replacement=None)
        write_session(
            *chain(
                *day(), self._failed(message), edit, compaction("k1", yesterday(7), "f1"), *later()
            )
        )
        found = diagnose()["PI309"]
        assert [[p.entry for p in one.evidence] for one in found] == (
            [["f1", "e1", "k1"]] if fires else []
        )

    def _replies(self, *sent: int, between: tuple[Json, ...] = ()) -> list[Json]:
        replies = []
        for number, tokens in enumerate(sent):
            if number:
                replies += between
            usage = {"usage": {**USAGE, "input": 0, "cacheRead": tokens}}
            replies.append(user(f"u{number}", yesterday(2 * number)))
            replies.append(assistant(f"r{number}", yesterday(2 * number + 1), message=usage))
        return chain(*replies)

    def test_a_context_that_shrank_for_no_reason_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*self._replies(50_000, 20_000))
        one = diagnose().one("PI311")
        assert "from 50,000 to 20,000" in one.message
        assert [piece.entry for piece in one.evidence] == ["r1", "r0"]

    def test_a_context_that_a_compaction_shrank_has_its_reason(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        kept = compaction("k1", yesterday(1.5), "r0")
        write_session(*self._replies(50_000, 20_000, between=(kept,)))
        assert diagnose()["PI311"] == []

    @pytest.mark.parametrize("sent", [(50_000, 30_000), (3_000, 100), (0, 0), (20_000, 50_000)])
    def test_a_context_that_hardly_shrank_needs_none(
        self, write_session: Write, diagnose: Diagnose, sent: tuple[int, ...]
    ) -> None:
        write_session(*self._replies(*sent))
        assert diagnose()["PI311"] == []


class TestEvents:
    def _capture(self, tmp_path: Path, session_id: str | None, *events: Json) -> str:
        path = tmp_path / "capture.events.jsonl"
        head = [{"type": "session", "id": session_id}] if session_id else []
        path.write_text("".join(json.dumps(one) + "\n" for one in [*head, *events]), "utf-8")
        return str(path)

    @pytest.mark.parametrize(
        ("end", "says"),
        [
            ({"type": "compaction_end", "aborted": True}, "was aborted"),
            ({"type": "compaction_end", "aborted": False, "errorMessage": "529"}, "failed: 529"),
            (None, "was never ended"),
        ],
    )
    def test_a_compaction_without_a_result_is_told(
        self,
        write_session: Write,
        diagnose: Diagnose,
        tmp_path: Path,
        end: Json | None,
        says: str,
    ) -> None:
        write_session(*chain(*day()), id_="s1")
        start = {"type": "compaction_start", "reason": "threshold"}
        events = self._capture(tmp_path, "s1", start, *([end] if end else []))
        one = diagnose(events=events).one("PI312")
        assert says in one.message
        assert one.evidence[0].path == events

    def test_a_compaction_of_the_capture_gives_both_counts_and_the_reason(
        self, write_session: Write, diagnose: Diagnose, tmp_path: Path
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "a4"), *later()), id_="s1")
        done = {"firstKeptEntryId": "a4", "tokensBefore": 9000, "estimatedTokensAfter": 1200}
        events = self._capture(
            tmp_path,
            "s1",
            {"type": "compaction_start", "reason": "overflow"},
            {"type": "compaction_end", "reason": "overflow", "aborted": False, "result": done},
        )
        found = diagnose(events=events)
        assert found["PI312"] == []
        one = found.one("PI313")
        assert "(overflow) was made of 9,000 tokens and left an estimated 1,200" in one.message

    def test_without_a_capture_the_reason_is_said_to_be_unknown(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), compaction("k1", yesterday(5), "a4"), *later()))
        found = diagnose()
        assert "the session does not record" in found.one("PI313").message
        assert found.outcomes["PI312"].outcome == "not-checked"

    def test_a_session_without_compaction_has_no_counts(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*day(), *later()))
        assert diagnose()["PI313"] == []

    def test_a_capture_of_another_session_is_not_taken_for_this_ones(
        self, write_session: Write, diagnose: Diagnose, tmp_path: Path
    ) -> None:
        path = write_session(*chain(*day()), id_="s1")
        events = self._capture(tmp_path, "s2", {"type": "compaction_start"})
        found = diagnose(events=events, session=str(path))
        assert found["PI312"] == []
        assert "is of session s2, not of s1" in str(found.outcomes["PI312"].reason)

    def test_a_tool_that_the_capture_shows_starting_and_not_ending_is_cited(
        self, write_session: Write, diagnose: Diagnose, tmp_path: Path
    ) -> None:
        """The process was killed: the session has the call, the capture that it was begun."""
        push = (("c1", "bash", {"command": "git push"}),)
        write_session(
            *chain(user("a1", yesterday(1)), assistant("a2", yesterday(2), calls=push)), id_="s1"
        )
        start = {"type": "tool_execution_start", "toolCallId": "c1", "toolName": "bash"}
        events = self._capture(tmp_path, "s1", {"type": "agent_start"}, start)
        one = diagnose(events=events).one("PI401")
        assert "started, in line 3, and never ended" in one.message
        assert (one.evidence[-1].path, one.evidence[-1].line) == (events, 3)

    def test_a_call_that_only_the_capture_holds_is_told(
        self, write_session: Write, diagnose: Diagnose, tmp_path: Path
    ) -> None:
        write_session(*chain(*day()), id_="s1")
        command = {"command": "npm publish"}
        start = {"type": "tool_execution_start", "toolCallId": "c9", "toolName": "bash"}
        events = self._capture(tmp_path, "s1", {**start, "args": command})
        one = diagnose(events=events).one("PI401")
        assert "class remote" in one.message
        assert one.evidence[0].path == events

    def test_a_tool_that_ended_is_no_open_call(
        self, write_session: Write, diagnose: Diagnose, tmp_path: Path
    ) -> None:
        write_session(*chain(*day()), id_="s1")
        start = {"type": "tool_execution_start", "toolCallId": "c9", "toolName": "bash"}
        end = {"type": "tool_execution_end", "toolCallId": "c9", "isError": False}
        assert diagnose(events=self._capture(tmp_path, "s1", start, end))["PI401"] == []

    def test_of_many_compactions_the_latest_are_told_one_by_one(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        many = [compaction(f"k{n}", yesterday(5 + n), "a4") for n in range(13)]
        write_session(*chain(*day(), *many, *later()))
        found = diagnose()["PI313"]
        assert len(found) == 11
        assert found[0].message == "3 earlier compactions, lines 6-8"
        assert found[-1].evidence[0].entry == "k12"

"""Branch: is it on the branch that the next request follows?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from entries import Json, assistant, chain, entry, on, result, today, user, yesterday

if TYPE_CHECKING:
    from diagnosis import Diagnose, Write

LIMITS = "Checked src/greet.ts. Not checked: call sites, types."


def trunk() -> list[Json]:
    """Return a finished turn of the day before yesterday."""
    return chain(user("t1", on("2026-10-19", 1)), assistant("t2", on("2026-10-19", 2)))


def day(name: str = "a", minute: float = 0, parent: str = "t2") -> list[Json]:
    """Return a turn of yesterday that reads a file, four entries, and says what it left out."""
    return chain(
        user(f"{name}1", yesterday(minute + 1), "Check src/greet.ts"),
        assistant(
            f"{name}2",
            yesterday(minute + 2),
            calls=((f"{name}-c", "read", {"path": "src/greet.ts"}),),
        ),
        result(f"{name}3", yesterday(minute + 3), f"{name}-c", "export function greet() {}"),
        assistant(f"{name}4", yesterday(minute + 4), LIMITS),
        parent=parent,
    )


def now(name: str = "n", parent: str = "t2", minute: float = 0) -> list[Json]:
    """Return a finished turn of today."""
    return chain(
        user(f"{name}1", today(minute + 1)), assistant(f"{name}2", today(minute + 2)), parent=parent
    )


def summary(of: str, text: str, **fields: object) -> Json:
    at = {"parentId": "t2", "fromId": of, "summary": text, **fields}
    return entry("branch_summary", "s1", today(0.5), **at)


class TestALeftBranch:
    def test_the_day_beside_the_active_branch_is_told_with_the_way_back(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        path = write_session(*trunk(), *day(), *now())
        found = diagnose()
        one = found.one("PI201")
        assert one.level == "error"
        assert found.lines("PI201") == [7, 3]
        assert "4 entries (3 messages of the day)" in one.message
        assert "lines 4-7, parting from it at line 3 (t2)" in one.message
        assert one.remedy[0].command == f"pi --session {path}"
        assert "choose 'Checked src/greet.ts." in one.remedy[0].text

    def test_a_branch_that_was_left_without_a_summary_is_noted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now())
        found = diagnose()
        assert found.one("PI206").level == "note"
        assert found.lines("PI206") == [7, 3]

    def test_another_days_branch_is_no_answer(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now())
        assert diagnose("forgot today")["PI201"] == []

    def test_unless_it_holds_what_was_asked_about(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now())
        assert diagnose("forgot today", about="call sites").one("PI201").level == "note"

    def test_a_prompt_that_was_stopped_and_put_otherwise_loses_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Nothing was found out in the attempt: an edited prompt is no loss of memory."""
        stopped = chain(
            user("x1", yesterday(0.2)),
            assistant("x2", yesterday(0.4), message={"stopReason": "aborted"}),
            parent="t2",
        )
        write_session(*trunk(), *stopped, *day(), *now(parent="a4"))
        assert diagnose().codes("error") & {"PI201", "PI204"} == set()

    def test_a_last_line_that_is_an_inner_entry_is_not_the_tip(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """A merge tool shuffled the lines; the leaf is the file's last line all the same."""
        write_session(*day(), *trunk())
        found = diagnose().one("PI201")
        assert found.level == "error"
        assert "going on from line 7, which Pi takes for the leaf" in found.message

    def test_many_left_branches_are_counted(self, write_session: Write, diagnose: Diagnose) -> None:
        many = [one for n in range(15) for one in day(f"m{n}-", n)]
        write_session(*trunk(), *many, *now())
        found = diagnose()["PI201"]
        assert len(found) == 11
        assert found[-1].message.startswith("5 more branches")


class TestASummary:
    def test_only_the_summary_of_the_day_is_seen_and_what_it_leaves_out_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        seen = summary("a4", "Checked src/greet.ts", details={"readFiles": ["src/greet.ts"]})
        write_session(*trunk(), *day(), seen, *now(parent="s1"))
        found = diagnose()
        one = found.one("PI203")
        assert one.level == "error"
        assert one.evidence[0].line == 8
        assert ("a4", "Not checked: call sites, types.") in {
            (piece.entry, piece.quote) for piece in one.evidence
        }
        assert "it names src/greet.ts, and does not carry" in one.message
        assert {"PI201", "PI206"} & found.codes() == set()

    def test_what_a_summary_carries_is_not_missing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        seen = summary("a4", LIMITS, details={"readFiles": ["src/greet.ts"]})
        write_session(*trunk(), *day(), seen, *now(parent="s1"))
        assert "nothing that was looked for is missing" in diagnose().one("PI203").message

    def test_an_empty_summary_carries_nothing_over(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), summary("a4", ""), *now(parent="s1"))
        found = diagnose()
        assert found["PI203"] == []
        assert found.one("PI201").level == "error"

    def test_a_summary_that_names_where_it_was_put_is_of_the_branch_written_before_it(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Older Pis recorded the destination as `fromId`."""
        write_session(*trunk(), *day(), summary("t2", "Checked it"), *now(parent="s1"))
        found = diagnose()
        assert found.one("PI203").level == "error"
        assert {"PI201", "PI206"} & found.codes() == set()

    def test_what_was_said_on_the_branch_after_its_summary_is_not_in_it(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        again = day("again", 30, parent="a4")
        seen = summary("a4", "Checked it", timestamp=yesterday(10))
        write_session(*trunk(), *day(), seen, *again, *now(parent="s1"))
        found = diagnose()
        assert "written after the summary of the branch in line 8" in found.one("PI201").message
        assert "4 entries in lines 4-7" in found.one("PI203").message


class TestAStaleLeaf:
    @pytest.mark.parametrize(
        "leaf",
        [
            entry("session_info", "leaf", today(3), name="Greet"),
            entry("label", "leaf", today(3), targetId="t1", label="x"),
            entry("custom", "leaf", today(3), customType="progress"),
            entry("model_change", "leaf", today(3), provider="p", modelId="m"),
        ],
        ids=lambda leaf: leaf["type"],
    )
    def test_bookkeeping_under_an_old_parent_hides_the_conversation(
        self, leaf: Json, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now(parent="a4"), *chain(leaf, parent="t2"))
        found = diagnose()
        one = found.one("PI202")
        assert one.level == "error"
        assert found.lines("PI202") == [10, 3, 9]
        assert "it hides 6 entries, lines 4-9" in one.message
        # The same branch is not told twice.
        assert {"PI201", "PI206"} & found.codes() == set()

    def test_a_name_and_a_label_at_the_tip_hide_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        given = chain(
            entry("session_info", "i1", today(3), name="Greet"),
            entry("label", "l1", today(4), targetId="t1", label="x"),
            parent="n2",
        )
        write_session(*trunk(), *day(), *now(parent="a4"), *given)
        assert diagnose()["PI202"] == []

    def test_a_branch_that_was_left_long_before_is_not_hidden_by_a_name_at_the_tip(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        name = chain(entry("session_info", "i1", today(3), name="Greet"), parent="n2")
        write_session(*trunk(), *day(), *now(), *name)
        found = diagnose()
        assert found["PI202"] == []
        assert found.one("PI201").level == "error"

    def test_what_is_hidden_from_before_the_day_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        leaf = chain(entry("custom", "leaf", today(3), customType="x"), parent="t2")
        write_session(*trunk(), *day(), *leaf)
        write_session(*now(), begun=today(), changed=yesterday())
        assert diagnose("forgot today").one("PI202").level == "warning"


class TestTwoWriters:
    def test_a_turn_that_goes_on_after_another_branch_began_needs_a_second_process(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Minutes lie between the lines; but /tree is refused while a reply is being written."""
        first, second = day("p"), now("q")
        write_session(*trunk(), first[0], second[0], *first[1:], second[1])
        found = diagnose()
        one = found.one("PI204")
        assert one.level == "error"
        assert found.lines("PI204") == [3, 8, 9]
        assert "lines 4, 6-8 and lines 5, 9" in one.message
        assert {"PI201", "PI202", "PI206"} & found.codes() == set()

    def test_prompts_on_two_branches_within_a_second_need_a_second_process(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        def turn(name: str, parent: str, second: int) -> list[Json]:
            at = today(second / 60)
            return chain(user(f"{name}1", at), assistant(f"{name}2", at), parent=parent)

        write_session(
            *trunk(),
            *turn("p", "t2", 1),
            *turn("q", "t2", 1),
            *turn("pp", "p2", 2),
            *turn("qq", "q2", 2),
        )
        found = diagnose()
        assert found.lines("PI204") == [3, 9, 11]

    def test_one_branch_after_the_other_is_tree(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now())
        assert diagnose()["PI204"] == []

    def test_to_and_fro_over_minutes_cannot_be_told_from_tree_and_is_told_as_such(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day("p"), *now("q"), *now("pp", "p4", 10), *now("qq", "q2", 20))
        found = diagnose()
        assert found["PI204"] == []
        assert "/tree to and fro, or two terminals" in found.one("PI201").message

    def test_what_was_hidden_before_the_day_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        first, second = day("p"), day("q", 0.5)
        write_session(*trunk(), first[0], second[0], *first[1:], *second[1:], *now("n", "q4"))
        assert diagnose("forgot today").one("PI204").level == "warning"


class TestAFork:
    def test_what_only_the_original_holds_of_the_day_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        original = write_session(*trunk(), *day())
        write_session(*trunk(), *now(), header={"parentSession": f"/old/{original.name}"})
        found = diagnose()
        one = found.one("PI205")
        assert one.level == "warning"
        assert [(piece.path, piece.line) for piece in one.evidence[:2]] == [
            (str(original), 4),
            (str(original), 7),
        ]
        assert "4 entries" in one.message
        assert found["PI104"] == []

    def test_what_only_a_fork_of_this_session_holds_is_noted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        original = write_session(*trunk(), *day(), changed=today(30))
        fork = write_session(
            *trunk(), *day(), *now(parent="a4"), header={"parentSession": f"/old/{original.name}"}
        )
        one = diagnose().one("PI205")
        assert one.level == "note"
        assert one.evidence[0].path == str(fork)
        assert "was forked from this session, and holds 2 entries" in one.message

    def test_an_original_that_is_gone_is_noted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *now(), header={"parentSession": "/old/2026_gone.jsonl"})
        one = diagnose().one("PI205")
        assert one.level == "note"
        assert "deleted, moved" in one.message
        assert one.evidence[0].line == 1

    def test_the_path_in_a_header_is_never_followed(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """It is a stranger's text; the file is looked for by name among Pi's sessions."""
        write_session(*trunk(), *now(), header={"parentSession": "/dev/zero"})
        assert "zero, which is in none of" in diagnose().one("PI205").message

    def test_a_clone_that_was_gone_on_with_lacks_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        original = write_session(*trunk(), *day())
        more = {"parentSession": f"/old/{original.name}"}
        write_session(*trunk(), *day(), *now(parent="a4"), header=more)
        assert diagnose()["PI205"] == []


class TestRoots:
    def test_an_edited_first_prompt_makes_a_new_root(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        first = chain(*day(parent=""))
        for one in first[:1]:
            one["parentId"] = None
        second = now()
        second[0]["parentId"] = None
        write_session(*first, *second)
        found = diagnose()
        assert found.one("PI207").level == "warning"
        assert found.lines("PI207") == [6, 2, 5]
        assert found.one("PI201").level == "error"

    def test_a_second_header_between_two_trees_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        second = now()
        second[0]["parentId"] = None
        header = {"type": "session", "id": "other", "version": 3, "cwd": "/x"}
        write_session(*trunk(), {**header, "timestamp": today()}, *second)
        found = diagnose("forgot 2026-10-19")
        assert "line 4 is a second header" in found.one("PI207").message

    def test_of_several_further_headers_the_last_before_the_tree_is_named(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        second = now()
        second[0]["parentId"] = None
        header = {"type": "session", "version": 3, "cwd": "/x", "timestamp": today()}
        write_session(*trunk(), {**header, "id": "other"}, {**header, "id": "third"}, *second)
        message = diagnose("forgot 2026-10-19").one("PI207").message
        assert "line 5 is a second header (of session third; the file's own is of " in message

    def test_one_tree_has_one_root(self, write_session: Write, diagnose: Diagnose) -> None:
        write_session(*trunk(), *day(), *now())
        assert diagnose()["PI207"] == []


class TestWhatIsNotSent:
    @pytest.mark.parametrize(
        ("replacement", "what"),
        [(None, "removes"), ({"content": "(elided)"}, "replaces the content of")],
    )
    def test_an_edit_of_the_days_result_keeps_it_from_the_model(
        self, replacement: object, what: str, write_session: Write, diagnose: Diagnose
    ) -> None:
        edit = entry("context_edit", "e1", today(0.5), targetId="a3", replacement=replacement)
        write_session(*trunk(), *day(), *chain(edit, *now(parent="e1"), parent="a4"))
        found = diagnose()
        assert found.one("PI208").level == "error"
        assert found.lines("PI208") == [8, 6]
        assert f"{what} the tool result in line 6 (a3)" in found.one("PI208").message

    def test_an_edit_of_another_days_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        edit = entry("context_edit", "e1", today(0.5), targetId="a3", replacement=None)
        write_session(*trunk(), *day(), *chain(edit, parent="a4"), *now(parent="e1"))
        assert diagnose("forgot today").one("PI208").level == "warning"
        assert diagnose("forgot today", about="function greet").one("PI208").level == "error"

    def test_overflow_recovery_takes_out_a_reply_that_was_not_sent_in_any_case(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        failed = assistant("f1", yesterday(5), "", message={"stopReason": "error"})
        edit = entry("context_edit", "e1", yesterday(5), targetId="f1", replacement=None)
        write_session(*trunk(), *day(), *chain(failed, edit, parent="a4"), *now(parent="e1"))
        found = diagnose()
        assert found.one("PI208").level == "warning"
        assert found["PI209"] == []

    def test_an_edit_without_a_replacement_makes_pi_throw(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        edit = entry("context_edit", "e1", today(0.5), targetId="t2")
        write_session(*trunk(), *chain(edit, parent="t2"), *now(parent="e1"))
        found = diagnose("forgot today")
        assert found.one("PI208").level == "error"
        assert "Pi throws" in found.one("PI208").message

    def test_an_edit_of_what_is_not_in_the_context_does_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        edit = entry("context_edit", "e1", today(0.5), targetId="elsewhere", replacement=None)
        write_session(*trunk(), *day(), *chain(edit, parent="a4"), *now(parent="e1"))
        assert diagnose()["PI208"] == []

    @pytest.mark.parametrize(
        ("told", "number"), [("Checked src/greet.ts, call sites and types", 1), ("Looked on", 0)]
    )
    def test_a_branch_summary_that_says_what_was_hidden_is_told(
        self, write_session: Write, diagnose: Diagnose, told: str, number: int
    ) -> None:
        """Older Pis made branch summaries of the originals."""
        edit = entry("context_edit", "e1", yesterday(5), targetId="a4", replacement=None)
        seen = summary("e1", told)
        write_session(*trunk(), *day(), *chain(edit, parent="a4"), seen, *now(parent="s1"))
        found = diagnose()["PI208"]
        assert [[p.entry for p in one.evidence] for one in found] == [["s1", "e1", "a4"]] * number

    def test_failed_replies_and_excluded_commands_are_shown_and_not_sent(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        failed = {"stopReason": "error", "errorMessage": "429 too many requests"}
        command = {"role": "bashExecution", "command": "env", "output": "", "timestamp": 0}
        more = chain(
            assistant("f1", yesterday(5), "", message=failed),
            assistant("f2", yesterday(6), "Half", message={"stopReason": "aborted"}),
            entry("message", "b1", yesterday(7), message={**command, "excludeFromContext": True}),
            entry("message", "b2", yesterday(8), message=command),
            parent="a4",
        )
        write_session(*trunk(), *day(), *more, *now(parent="b2"))
        found = diagnose()
        assert found.lines("PI209") == [8, 9, 10]
        assert {one.level for one in found["PI209"]} == {"warning"}
        assert "429 too many requests" in found["PI209"][0].message
        assert "was aborted" in found["PI209"][1].message
        assert "'env', is excluded" in found["PI209"][2].message

    def test_replies_that_came_to_an_end_are_sent(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now(parent="a4"))
        assert diagnose()["PI209"] == []


class TestSettings:
    def test_the_branch_brings_back_an_old_model(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        change = entry("model_change", "m1", yesterday(0.5), provider="p", modelId="big")
        reply = assistant("a2", yesterday(2), message={"provider": "p", "model": "big"})
        left = chain(change, user("a1", yesterday(1)), reply, parent="t2")
        write_session(*trunk(), *left, *now()[:1])
        found = diagnose()
        assert found.lines("PI210") == [3, 6]
        assert "restores the model faux/faux-1" in found.one("PI210").message

    def test_a_chosen_model_in_whose_place_another_answers_is_noted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        change = entry("model_change", "m1", today(0.5), provider="azure", modelId="gone")
        write_session(*trunk(), *day(), *chain(change, parent="a4"), *now(parent="m1"))
        assert "chose the model azure/gone, and faux/faux-1 answered" in (
            diagnose().one("PI210").message
        )

    @pytest.mark.parametrize(("given_back", "number"), [(False, 1), (True, 0)])
    def test_a_tool_that_was_taken_away_is_noted_until_it_is_back(
        self, write_session: Write, diagnose: Diagnose, given_back: bool, number: int
    ) -> None:
        def system(id_: str, at: str, **tools: object) -> Json:
            message = {"role": "system", "content": "", **tools, "timestamp": 0}
            return entry("message", id_, at, message=message)

        search = [{"name": "search", "description": "", "parameters": {}}]
        first = system("s1", yesterday(0.5), toolsAdded=search)
        gone = system("s2", today(0.2), toolsRemoved=[{"name": "search"}])
        back = [system("s3", today(0.4), toolsAdded=search)] if given_back else []
        tip = "s3" if given_back else "s2"
        write_session(*chain(first, *day(parent="s1"), gone, *back), *now(parent=tip))
        assert len(diagnose()["PI210"]) == number

    def test_the_settings_of_a_single_branch_are_the_latest(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        change = entry("model_change", "m1", today(0.5), provider="faux", modelId="faux-1")
        write_session(*trunk(), *day(), *chain(change, parent="a4"), *now(parent="m1"))
        assert diagnose()["PI210"] == []


class TestNotAnEntry:
    @pytest.mark.parametrize("last", [b"42", b"[]", b'"note"', b'{"type":"message"}', b"{}"])
    def test_a_last_line_that_is_no_entry_empties_the_context(
        self, last: bytes, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now(parent="a4"), last)
        found = diagnose()
        one = found.one("PI211")
        assert one.level == "error"
        assert found.lines("PI211") == [10, 9]
        assert "of 8 other entries the context holds none" in one.message
        # Nobody left a branch.
        assert {"PI201", "PI202", "PI206", "PI207"} & found.codes() == set()

    def test_null_as_the_last_line_does_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*trunk(), *day(), *now(parent="a4"), b"null")
        assert diagnose()["PI211"] == []

    def test_a_version_1_body_under_a_header_of_version_3_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        bare = [
            {k: v for k, v in one.items() if k not in ("id", "parentId")}
            for one in (*trunk(), *now())
        ]
        write_session(*bare)
        found = diagnose("forgot today").one("PI211")
        assert "4 entries have no id, as in version 1" in found.message

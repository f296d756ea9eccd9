"""Source, at its edges: what people met, and where the checker must keep silent."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from entries import Json, assistant, chain, entry, on, result, today, user, yesterday

if TYPE_CHECKING:
    from diagnosis import Diagnose, Place, Write

NIGHT = "2026-10-20T22:00:00Z"


def git(place: Place, *words: str, at: str = "2026-10-20T08:00:00Z") -> str:
    """Run git in the project, at a time (ISO 8601); the project's first call makes it."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.cwd),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_NAME": "Ann" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "ann@example.com" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_DATE": at for who in ("AUTHOR", "COMMITTER")},
    }
    if not (place.cwd / ".git").exists():
        subprocess.run(["git", "init", "-qb", "main"], cwd=place.cwd, env=environment, check=True)
    done = subprocess.run(
        ["git", *words], cwd=place.cwd, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(place: Place, message: str, at: str = "2026-10-20T08:00:00Z") -> str:
    git(place, "commit", "-q", "--allow-empty", "-m", message, at=at)
    return git(place, "rev-parse", "HEAD")


def put(place: Place, path: str, text: str = "export const x = 1;\n") -> None:
    file = place.cwd / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def calls(*named: tuple[str, Json], ids: str = "c", **message: Any) -> Json:
    """Return a reply with calls, whose ids are c1, c2 and so on."""
    listed = tuple((f"{ids}{i}", tool, given) for i, (tool, given) in enumerate(named, 1))
    return assistant("a2", yesterday(2), "Now.", calls=listed, message=message)


def bash(command: str) -> tuple[str, Json]:
    return "bash", {"command": command}


PROMPT = user("a1", yesterday(1), "Go on")
ABORTED = {"stopReason": "aborted"}


class TestWhatBecameOfACall:
    def _told(self, write_session: Write, diagnose: Diagnose, command: str) -> str:
        write_session(*chain(PROMPT, calls(bash(command))))
        return diagnose().one("PI401").message

    def _pushed(self, project: Place) -> str:
        head = commit(project, "Add")
        git(project, "update-ref", "refs/remotes/origin/main", head)
        return head

    @pytest.mark.parametrize(
        "command",
        [
            "git push origin $BRANCH",
            "git push --tags",
            "git push origin main topic",
            "git push origin deadbeef:main",
            "git push git@example.com:a/b.git main",
            "cd ../other && git push",
            "git -C ../other push",
        ],
    )
    def test_a_push_of_something_else_is_not_taken_for_done(
        self, project: Place, write_session: Write, diagnose: Diagnose, command: str
    ) -> None:
        """The remote-tracking branch of main has all of main; that says nothing of these."""
        self._pushed(project)
        told = self._told(write_session, diagnose, command)
        assert "cannot be known" in told
        assert "did happen" not in told

    @pytest.mark.parametrize(
        "command", ["git push", "git push -u origin HEAD", "git push origin main:main"]
    )
    def test_a_push_of_the_branch_is_found_under_each_of_its_names(
        self, project: Place, write_session: Write, diagnose: Diagnose, command: str
    ) -> None:
        self._pushed(project)
        assert "it did happen" in self._told(write_session, diagnose, command)

    def test_a_push_that_was_followed_by_more_work_did_happen(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._pushed(project)
        commit(project, "More", NIGHT)
        assert "it did happen" in self._told(write_session, diagnose, "git push")

    def test_of_a_commit_and_a_push_each_is_looked_for(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        self._pushed(project)
        commit(project, "Add x", NIGHT)
        told = self._told(write_session, diagnose, "git commit -qam 'Add x' && git push")
        assert "class remote for its part 'git push'" in told
        assert "its part \"git commit -qam 'Add x'\": it did happen: commit" in told

    def test_a_commit_beside_a_command_that_nobody_knows_is_looked_for(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add")
        told = self._told(write_session, diagnose, "./release.sh && git commit -m 'Add x'")
        assert "class unknown for its part './release.sh'" in told
        assert "it did not happen: there is no commit since" in told

    def test_a_message_of_several_lines_is_known_by_its_first(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add x\n\nBecause of y.", NIGHT)
        command = "git commit -m \"$(cat <<'EOF'\nAdd x\n\nBecause of y.\nEOF\n)\""
        assert "it did happen: commit" in self._told(write_session, diagnose, command)

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("a\nc\n", "it did happen"),
            ("a\nb\nc\n", "it did not happen"),
            ("z\n", "cannot be known"),
            ("a\nb\nc\na\nc\n", "cannot be known"),
        ],
    )
    def test_an_edit_that_takes_away_is_not_done_while_the_old_text_is_there(
        self, project: Place, write_session: Write, diagnose: Diagnose, text: str, says: str
    ) -> None:
        put(project, "n.txt", text)
        given = {"path": "n.txt", "edits": [{"oldText": "a\nb\nc", "newText": "a\nc"}]}
        write_session(*chain(PROMPT, calls(("edit", given))))
        assert says in diagnose().one("PI401").message

    def test_a_batch_that_was_recorded_in_part_ran_one_by_one(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The first without a result was running when it was killed, the next never began."""
        batch = calls(bash("make a"), bash("make b"), bash("make c"))
        write_session(*chain(PROMPT, batch, result("a3", yesterday(3), "c1")))
        second, third = (one.message for one in diagnose()["PI401"])
        assert "1 of the 3 calls of its reply are recorded" in second
        assert "likely begun" in second
        assert "likely never begun" in third

    def test_a_turn_that_was_aborted_by_hand_is_not_a_crash(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        batch = calls(bash("make a"), bash("make b"))
        cut = result("a3", yesterday(3), "c1", "Command aborted", {"isError": True})
        write_session(
            *chain(PROMPT, batch, cut, assistant("a4", yesterday(4), "", message=ABORTED))
        )
        found = diagnose()
        assert "was aborted by hand" in found.one("PI401").message
        assert "'make b' has no result, and was likely never begun" in found.one("PI405").message

    def test_a_result_under_another_form_of_the_id_is_likely_the_calls_own(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """One provider writes `call_9|fc_abc`, another `call_9`."""
        call = assistant("a2", yesterday(2), calls=(("call_9|fc_abc", *bash("git push")),))
        write_session(*chain(PROMPT, call, result("a3", yesterday(3), "call_9")))
        found = diagnose()
        assert found.one("PI401").level == "warning"
        assert "likely its own" in found.one("PI401").message
        assert "likely its own" in found.one("PI402").message

    def test_an_edit_that_hides_the_call_keeps_it_from_the_model(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        edit = entry("context_edit", "e1", yesterday(3), targetId="a2", replacement=None)
        write_session(*chain(PROMPT, calls(bash("git push")), edit))
        one = diagnose().one("PI401")
        assert one.level == "warning"
        assert "not among what the model is sent" in one.message

    def test_many_calls_are_counted(self, write_session: Write, diagnose: Diagnose) -> None:
        write_session(*chain(PROMPT, calls(*[bash(f"make {n}") for n in range(60)])))
        found = diagnose()["PI401"]
        assert len(found) == 51
        assert found[-1].message.startswith("10 more calls")


class TestResults:
    def test_a_stray_result_is_told_with_where_its_call_is(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(
            *chain(PROMPT, calls(bash("date"))),
            *chain(user("b1", today(1)), result("b2", today(2), "c1"), parent="a1"),
        )
        assert "the call is on another branch, in line 3 (a2)" in diagnose().one("PI402").message

    def test_a_stray_result_whose_call_is_lost_is_told_as_such(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(PROMPT, result("a3", yesterday(3), "c9")))
        assert "no reply of the file has such a call" in diagnose().one("PI402").message

    def test_a_result_of_a_reply_that_is_not_sent_stands_alone(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Pi drops the failed reply and keeps the result; the provider refuses the request."""
        failed = calls(bash("date"), stopReason="error")
        write_session(*chain(PROMPT, failed, result("a3", yesterday(3), "c1")))
        assert [piece.entry for piece in diagnose().one("PI402").evidence] == ["a3", "a2"]

    @pytest.mark.parametrize(
        ("between", "told"),
        [
            (entry("custom_message", "m1", yesterday(2.5), customType="note", content="x"), True),
            (user("m1", yesterday(2.5)), True),
            (entry("label", "m1", yesterday(2.5), targetId="a1", label="x"), False),
            (entry("custom", "m1", yesterday(2.5), customType="note", data={}), False),
            (
                entry(
                    "message",
                    "m1",
                    yesterday(2.5),
                    message={"role": "bashExecution", "command": "ls", "excludeFromContext": True},
                ),
                False,
            ),
        ],
        ids=["extension's message", "prompt", "label", "extension's state", "excluded command"],
    )
    def test_a_message_between_a_call_and_its_result_makes_two_answers(
        self, write_session: Write, diagnose: Diagnose, between: Json, told: bool
    ) -> None:
        """What the model does not see stands between nothing."""
        write_session(
            *chain(PROMPT, calls(bash("date")), between, result("a3", yesterday(3), "c1"))
        )
        found = diagnose()["PI403"]
        assert [[p.entry for p in one.evidence] for one in found] == (
            [["a2", "m1", "a3"]] if told else []
        )

    def test_a_failure_that_was_done_again_is_no_false_success(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The tests failed, were mended, and passed: the claim is true."""
        again = assistant("a4", yesterday(4), "Again.", calls=(("c2", *bash("npm test")),))
        write_session(
            *chain(
                PROMPT,
                calls(bash("npm test")),
                result("a3", yesterday(3), "c1", "exit 1", {"isError": True}),
                again,
                result("a5", yesterday(5), "c2"),
                assistant("a6", yesterday(6), "All tests pass."),
            )
        )
        assert [one.level for one in diagnose()["PI404"]] == ["note"]

    def test_a_time_limit_is_no_failure_and_no_duration_is_no_run(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        batch = calls(bash("./deploy"), ("deploy", {}), bash("date"))
        slow = "Command timed out after 120 seconds"
        write_session(
            *chain(
                PROMPT,
                batch,
                result("a3", yesterday(3), "c1", slow, {"isError": True, "durationMs": 120_000}),
                result("a4", yesterday(3), "c2", "Tool deploy not found", {"isError": True}),
                result("a5", yesterday(3), "c3", "x", {"durationMs": 3}),
            )
        )
        message = diagnose().one("PI404").message
        assert "line 5 never ran" in message
        assert "line 4 was cut off, and may have had part of the effect" in message

    @pytest.mark.parametrize(
        ("text", "more", "says"),
        [
            (
                "no match\n\nCommand exited with code 1",
                {"durationMs": 4},
                "ran and failed (line 4)",
            ),
            ("Command aborted", {"durationMs": 4}, "was cut off"),
            ("Tool execution was blocked", {}, "did not run"),
        ],
    )
    def test_not_every_error_of_an_aborted_turn_was_cut_off(
        self, write_session: Write, diagnose: Diagnose, text: str, more: Json, says: str
    ) -> None:
        batch = calls(bash("grep x a.ts"), bash("date"))
        write_session(
            *chain(
                PROMPT,
                batch,
                result("a3", yesterday(3), "c1", text, {"isError": True, **more}),
                result("a4", yesterday(3), "c2", "x", {"durationMs": 3}),
                assistant("a5", yesterday(4), "", message=ABORTED),
            )
        )
        assert f"'grep x a.ts' {says}" in diagnose().one("PI405").message


class TestMentions:
    CLAIM = "I checked it, and found no problems."

    def _levels(
        self,
        write_session: Write,
        diagnose: Diagnose,
        *lines: Json,
        symptom: str = "forgot yesterday",
    ) -> list[str | None]:
        write_session(*chain(*lines))
        return [one.level for one in diagnose(symptom)["PI406"]]

    def _turn(self, prompt: str, *seen: Json, reply: str = CLAIM) -> list[Json]:
        return [user("a1", yesterday(1), prompt), *seen, assistant("a9", yesterday(9), reply)]

    def _ran(self, *call: tuple[str, Json], text: str = "x", **message: Any) -> list[Json]:
        return [calls(*call), result("a3", yesterday(3), "c1", text, message)]

    @pytest.fixture(autouse=True)
    def _files(self, project: Place) -> None:
        for path in ("src/greet.ts", "src/data.ts"):
            put(project, path)

    @pytest.mark.parametrize(
        ("call", "more"),
        [
            (bash("ls -l src/greet.ts"), {}),
            (bash("git add src/greet.ts"), {}),
            (bash("cat src/mygreet.ts"), {}),
            (bash("cat src/greet.ts"), {"isError": True}),
            (("read", {"path": "src/greet.ts"}), {"isError": True}),
            (("ls", {"path": "src"}), {"text": "greet.ts"}),
        ],
        ids=["listed", "staged", "a longer name", "failed", "read failed", "listed by a tool"],
    )
    def test_what_shows_nothing_of_a_file_is_no_observation(
        self, write_session: Write, diagnose: Diagnose, call: tuple[str, Json], more: Json
    ) -> None:
        turn = self._turn("@src/greet.ts safe?", *self._ran(call, **more))
        assert self._levels(write_session, diagnose, *turn) == ["error"]

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (bash("cd src && cat greet.ts"), "x"),
            (bash("grep -rn x src"), "src/greet.ts:1:export const x = 1;"),
            (("grep", {"pattern": "x"}), "src/greet.ts:1: export const x = 1;"),
            (("edit", {"path": "src/greet.ts"}), "ok"),
            (("view_file", {"file": "src/greet.ts"}), "x"),
            (bash("echo x > src/greet.ts"), ""),
        ],
        ids=[
            "from its folder",
            "found",
            "found by a tool",
            "edited",
            "a tool of another",
            "written",
        ],
    )
    def test_what_shows_a_file_is_one(
        self, write_session: Write, diagnose: Diagnose, call: tuple[str, Json], text: str
    ) -> None:
        turn = self._turn("@src/greet.ts safe?", *self._ran(call, text=text))
        assert self._levels(write_session, diagnose, *turn) == []

    @pytest.mark.parametrize(
        "reply",
        [
            "I have not checked it; it may be fine.",
            "Without reading it I cannot say that it is fine.",
            "It should be checked first.",
            "Shall I say that it looks fine?",
            "It is not yet verified.",
        ],
    )
    def test_a_denial_or_a_question_claims_no_check(
        self, write_session: Write, diagnose: Diagnose, reply: str
    ) -> None:
        turn = self._turn("@src/greet.ts safe?", reply=reply)
        assert self._levels(write_session, diagnose, *turn) == ["warning"]

    def test_a_denial_in_another_sentence_takes_no_claim_back(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        reply = "I checked src/greet.ts and it is safe. I did not run the tests."
        turn = self._turn("@src/greet.ts safe?", reply=reply)
        assert self._levels(write_session, diagnose, *turn) == ["error"]

    def test_a_claim_about_another_file_is_none_about_this(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        read = self._ran(("read", {"path": "src/data.ts"}))
        turn = self._turn("@src/greet.ts @src/data.ts ok?", *read, reply="I checked data.ts.")
        assert self._levels(write_session, diagnose, *turn) == ["warning"]

    def test_a_later_reply_counts_only_where_it_names_the_file(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        first = self._turn("@src/greet.ts ok?", reply="Which part?")
        general = [user("b1", yesterday(10), "And?"), assistant("b2", yesterday(11), self.CLAIM)]
        assert self._levels(write_session, diagnose, *first, *general) == ["warning"]
        by_name = [user("b1", yesterday(10)), assistant("b2", yesterday(11), "I checked greet.ts.")]
        assert self._levels(write_session, diagnose, *first, *by_name) == ["error"]

    def test_a_file_that_was_read_after_the_claim_makes_it_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """What was said without looking was looked up one prompt later."""
        read = [
            user("b1", yesterday(10), "Really?"),
            assistant(
                "b2", yesterday(11), "Reading.", calls=(("d1", "read", {"path": "src/greet.ts"}),)
            ),
            result("b3", yesterday(12), "d1"),
        ]
        turn = self._turn("@src/greet.ts safe?")
        assert self._levels(write_session, diagnose, *turn, *read) == ["warning"]

    def test_a_file_that_was_read_before_it_was_mentioned_was_observed(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        read = [
            user("o1", on("2026-10-19", 1)),
            assistant("o2", on("2026-10-19", 2), calls=(("d1", "read", {"path": "src/greet.ts"}),)),
            result("o3", on("2026-10-19", 3), "d1"),
        ]
        assert self._levels(write_session, diagnose, *read, *self._turn("@src/greet.ts?")) == []

    def test_a_claim_of_another_day_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        lines = [*self._turn("@src/greet.ts ok?"), user("z1", today(1)), assistant("z2", today(2))]
        asked = "forgot today"
        assert self._levels(write_session, diagnose, *lines, symptom=asked) == ["warning"]

    @pytest.mark.parametrize(
        ("prompt", "told"),
        [
            ("@src/greet.ts:12-14 safe?", True),
            ("@src/greet.ts#L12 safe?", True),
            ('@"src/greet.ts" safe?', True),
            ("@src/ safe?", False),
            ("@src/gone.ts safe?", True),
            ("@NOTES.md says so", True),
            ("@app.route('/x') is wrong", False),
            ("@types/node is old", False),
            ("@a\u0000b.ts", False),
        ],
    )
    def test_a_file_is_told_from_what_is_none(
        self, write_session: Write, diagnose: Diagnose, prompt: str, told: bool
    ) -> None:
        assert bool(self._levels(write_session, diagnose, *self._turn(prompt))) is told

    def test_a_file_that_never_was_is_told_as_such(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add")
        write_session(*chain(*self._turn("@src/gone.ts?", reply="Which part?")))
        told = diagnose().one("PI406")
        assert "nothing of that name is in the project or its history" in told.message


class TestOwnChange:
    TEXT = "a\nb\n"

    def _written(self, text: str) -> list[Json]:
        read = assistant("o2", yesterday(0.2), calls=(("d1", "read", {"path": "n.txt"}),))
        seen = result("o3", yesterday(0.3), "d1", self.TEXT, {"toolName": "read"})
        return [
            user("o1", yesterday(0.1)),
            read,
            seen,
            calls(("write", {"path": "n.txt", "content": text})),
            result("a3", yesterday(3), "c1", message={"toolName": "write"}),
        ]

    @pytest.mark.parametrize(
        ("now", "says"),
        [
            ("a\nb\n", "is gone: it is as it was before"),
            ("a\nz\n", "is gone"),
            ("a\nb\nc\nd\ne\n", "what the session itself brought is still in it"),
            ("a\nb\nc\n", "of the 2 lines that the session itself brought, 1 are still there"),
        ],
    )
    def test_what_is_left_of_the_sessions_own_change_is_told(
        self, project: Place, write_session: Write, diagnose: Diagnose, now: str, says: str
    ) -> None:
        """A commit on top of an edit does not undo it."""
        put(project, "n.txt", now)
        write_session(*chain(*self._written("a\nb\nc\nd\n")))
        assert says in diagnose().one("PI501").message

    def test_of_many_files_the_last_told_stands_for_the_day(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Of what is counted, not told, one is of the day: that decides the level."""
        lines = [user("o1", on("2026-10-19", 1))]
        for number in range(60):
            put(project, f"f{number:02}.txt", "now\n")
            at = yesterday(5) if number == 59 else on("2026-10-19", 2)
            given = (("c", "read", {"path": f"f{number:02}.txt"}),)
            lines += [
                assistant(f"p{number}", at, calls=given),
                result(f"r{number}", at, "c", "then\n", {"toolName": "read"}),
            ]
        write_session(*chain(*lines, user("z1", yesterday(6))))
        found = diagnose()["PI501"]
        assert [one.level for one in found] == ["warning"] * 50 + ["error"]
        assert "9 further files" in found[-1].message

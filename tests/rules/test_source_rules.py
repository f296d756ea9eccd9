"""Source: was it ever observed, and is it still true?"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from entries import Json, assistant, chain, entry, result, today, user, yesterday

if TYPE_CHECKING:
    from diagnosis import Diagnose, Place, Write

GREET = "export function greet(name: string): string {\n  return 'Hello, ' + name;\n}\n"
MORE = GREET + "export function shout(name: string): string {\n  return greet(name) + '!';\n}\n"


def git(place: Place, *words: str, at: str = "2026-10-20T08:00:00Z") -> str:
    """Run git in the project as its author, at a time; the project's first call makes it."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(place.cwd),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "ann@example.com",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.com",
        "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_DATE": at,
    }
    if not (place.cwd / ".git").exists():
        subprocess.run(
            ["git", "init", "-q", "-b", "main"], cwd=place.cwd, env=environment, check=True
        )
    done = subprocess.run(
        ["git", *words], cwd=place.cwd, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(
    place: Place, message: str, at: str = "2026-10-20T08:00:00Z", **files: str | None
) -> str:
    """Write or delete files (None), commit all, and return the commit; `a__b` stands for a/b."""
    for name, text in files.items():
        path = place.cwd / name.replace("__", "/").replace("_ts", ".ts")
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    git(place, "add", "-A", at=at)
    git(place, "commit", "-q", "-m", message, at=at)
    return git(place, "rev-parse", "HEAD")


def read(path: str = "src/greet.ts", text: str = GREET, **arguments: Any) -> list[Json]:
    call = (("c1", "read", {"path": path, **arguments}),)
    return [
        user("a1", yesterday(1), "Read it"),
        assistant("a2", yesterday(2), "Reading.", calls=call),
        result("a3", yesterday(3), "c1", text, {"toolName": "read"}),
        assistant("a4", yesterday(4), "It greets."),
    ]


def calls(*named: tuple[str, Json], **message: Any) -> Json:
    listed = tuple((f"c{i}", tool, given) for i, (tool, given) in enumerate(named, 1))
    return assistant("a2", yesterday(2), "Now.", calls=listed, message=message)


NIGHT = "2026-10-20T22:00:00Z"


class TestFreshness:
    def test_a_file_that_is_as_it_was_is_told_with_its_blob(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        write_session(*chain(*read()))
        found = diagnose()
        blob = git(project, "rev-parse", "HEAD:src/greet.ts")
        assert blob[:12] in found.one("PI510").message
        assert found.codes("error", "warning") == set()

    def test_a_file_that_a_commit_changed_is_told_with_it(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        changing = commit(project, "Shout", NIGHT, src__greet_ts=MORE)
        write_session(*chain(*read()))
        one = diagnose().one("PI501")
        assert one.level == "error"
        assert "3 lines more, 0 lines fewer" in one.message
        assert changing in {piece.commit for piece in one.evidence}
        assert one.evidence[0].entry == "a3"

    def test_a_change_that_is_not_committed_is_told_as_such(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        (project.cwd / "src/greet.ts").write_text(MORE, "utf-8")
        write_session(*chain(*read()))
        assert "uncommitted" in diagnose().one("PI501").message

    def test_an_observation_of_another_day_is_a_warning(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=MORE)
        write_session(*chain(*read(), user("b1", today(1)), assistant("b2", today(2))))
        assert diagnose("forgot today").one("PI501").level == "warning"

    @pytest.mark.parametrize(
        ("code", "command", "after"),
        [
            (
                "PI501",
                "sed -i 1s/name/n/ src/greet.ts && git commit -qam x",
                {"src__greet_ts": MORE},
            ),
            (
                "PI502",
                "git mv src/greet.ts hi.ts; git commit -qm x",
                {"src__greet_ts": None, "hi_ts": GREET},
            ),
            ("PI503", "git rm src/greet.ts; git commit -qm x", {"src__greet_ts": None}),
        ],
    )
    def test_what_the_session_itself_did_by_a_command_is_a_note(
        self,
        project: Place,
        write_session: Write,
        diagnose: Diagnose,
        code: str,
        command: str,
        after: dict[str, str | None],
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "x", yesterday(5), **after)
        bash = (("c2", "bash", {"command": command}),)
        own = [
            user("b1", yesterday(5), "Change it"),
            assistant("b2", yesterday(5), "Changing.", calls=bash),
            result("b3", yesterday(5.1), "c2", "", {"toolName": "bash"}),
            assistant("b4", yesterday(6), "Changed."),
        ]
        write_session(*chain(*read(), *own))
        found = diagnose()
        assert found.one(code).level == "note"
        assert "own commands did this (line 7)" in found.one(code).message
        assert found.codes("error", "warning") == set()

    def test_what_another_did_after_the_sessions_own_command_is_told(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "x", yesterday(5), src__greet_ts=None, hi_ts=GREET)
        bash = (("c2", "bash", {"command": "git mv src/greet.ts hi.ts; git commit -qm x"}),)
        own = [
            user("b1", yesterday(5), "Move it"),
            assistant("b2", yesterday(5), "Moving.", calls=bash),
            result("b3", yesterday(5.1), "c2", "", {"toolName": "bash"}),
            assistant("b4", yesterday(6), "Moved."),
        ]
        write_session(*chain(*read(), *own))
        commit(project, "Shout", NIGHT, hi_ts=MORE)
        assert diagnose().one("PI502").level == "error"

    def test_a_command_between_a_read_and_an_edit_is_no_change_since(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The edit's diff shows the lines around it alone; the first line was read before."""
        text = "".join(f"line {number}\n" for number in range(1, 21))
        left = text.replace("line 1\n", "line one\n").replace("line 15\n", "line fifteen\n")
        commit(project, "Add", src__greet_ts=text)
        commit(project, "x", yesterday(8), src__greet_ts=left)
        sed = "sed -i '1s/1/one/' src/greet.ts"
        change = {"path": "src/greet.ts", "edits": [{"oldText": "15", "newText": "fifteen"}]}
        patch = "@@ -14,3 +14,3 @@\n line 14\n-line 15\n+line fifteen\n line 16\n"
        more = [
            assistant("b2", yesterday(6), calls=(("c2", "bash", {"command": sed}),)),
            result("b3", yesterday(6.1), "c2", "", {"toolName": "bash"}),
            assistant("b4", yesterday(7), calls=(("c3", "edit", change),)),
            result(
                "b5", yesterday(7.1), "c3", "", {"toolName": "edit", "details": {"patch": patch}}
            ),
            assistant("b6", yesterday(8), calls=(("c4", "bash", {"command": "git commit -am x"}),)),
            result("b7", yesterday(8.1), "c4", "", {"toolName": "bash"}),
            assistant("b8", yesterday(9), "Changed."),
        ]
        write_session(*chain(*read(text=text), user("b1", yesterday(5)), *more))
        assert diagnose().codes("error", "warning") == set()

    def test_a_command_that_names_another_file_explains_no_change(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """What it committed beside may have been a person's work."""
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "x", yesterday(5), src__greet_ts=MORE)
        bash = (("c2", "bash", {"command": "touch b && git add -A && git commit -qm x"}),)
        own = [
            user("b1", yesterday(5), "Add b"),
            assistant("b2", yesterday(5), "Adding.", calls=bash),
            result("b3", yesterday(5.1), "c2", "", {"toolName": "bash"}),
            assistant("b4", yesterday(6), "Added."),
        ]
        write_session(*chain(*read(), *own))
        assert diagnose().one("PI501").level == "error"

    def test_a_part_is_compared_as_a_part(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Line 2 was read; what came after it, and before it, is no change of what was seen."""
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "Head", NIGHT, src__greet_ts="// a head\n" + MORE)
        part = "  return 'Hello, ' + name;\n\n[2 more lines in file. Use offset=3 to continue.]"
        write_session(*chain(*read(text=part, offset=2, limit=1)))
        found = diagnose()
        assert found["PI501"] == []
        assert "1 lines further down" in found.one("PI510").message

    def test_a_file_that_grew_under_a_new_name_is_found_by_its_content(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Git's own detection sees nothing: the file doubled."""
        commit(project, "Add", src__greet_ts=GREET)
        moving = commit(project, "Move", NIGHT, src__greet_ts=None, src__hello_ts=MORE)
        write_session(*chain(*read()))
        found = diagnose()
        one = found.one("PI502")
        assert one.level == "error"
        assert "still whole in it" in one.message
        assert (one.evidence[1].commit, one.evidence[1].path) == (moving, "src/hello.ts")
        assert found["PI503"] == found["PI501"] == []

    def test_a_file_that_was_moved_and_not_committed_is_found(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        (project.cwd / "src/greet.ts").rename(project.cwd / "src/hello.ts")
        write_session(*chain(*read()))
        assert "src/hello.ts now, uncommitted" in diagnose().one("PI502").message

    def test_a_file_that_a_commit_deleted_is_told_with_it(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET, other="x\n")
        deleting = commit(project, "Drop", NIGHT, src__greet_ts=None)
        write_session(*chain(*read()))
        one = diagnose().one("PI503")
        assert (one.level, one.evidence[1].commit) == ("error", deleting)

    def test_a_written_file_that_was_never_committed_and_is_gone(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        write_session(
            *chain(
                user("a1", yesterday(1)),
                calls(("write", {"path": "new.ts", "content": "let x = 1;\n"})),
                result("a3", yesterday(3), "c1", message={"toolName": "write"}),
            )
        )
        assert "was never in history" in diagnose().one("PI503").message

    def test_an_edit_that_is_lost_is_a_change(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """What was read is there again, but what the session knows last is its own edit."""
        commit(project, "Add", src__greet_ts=GREET)
        patch = "@@ -3,1 +3,2 @@\n }\n+// more\n"
        write_session(
            *chain(
                *read(),
                user("d1", yesterday(5)),
                assistant("d2", yesterday(6), calls=(("c9", "edit", {"path": "src/greet.ts"}),)),
                result(
                    "d3",
                    yesterday(7),
                    "c9",
                    message={"toolName": "edit", "details": {"patch": patch}},
                ),
            )
        )
        found = diagnose()
        assert "what the session itself changed" in found.one("PI501").message
        assert found["PI510"] == []

    @pytest.mark.parametrize("path", ["/etc/hostname", "../../secret", "~/notes.txt"])
    def test_a_file_outside_the_project_is_not_opened(
        self, project: Place, write_session: Write, diagnose: Diagnose, path: str
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        write_session(*chain(*read(path)))
        assert "outside the project" in diagnose().one("PI509").message

    def test_a_link_that_leads_out_of_the_project_is_not_followed(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        (project.cwd / "link").symlink_to("/etc/passwd")
        write_session(*chain(*read("link")))
        assert "leads out of the project" in diagnose().one("PI509").message

    @pytest.mark.parametrize("kind", ["fifo", "folder", "loop"])
    def test_what_is_no_plain_file_is_not_opened(
        self, project: Place, write_session: Write, diagnose: Diagnose, kind: str
    ) -> None:
        path = project.cwd / "odd"
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to(path)
        write_session(*chain(*read("odd")))
        found = diagnose()
        assert len(found["PI509"]) == 1
        assert found.codes("error") == set()

    @pytest.mark.parametrize("state", ["none", "empty"])
    def test_a_project_without_history_is_compared_all_the_same(
        self, project: Place, write_session: Write, diagnose: Diagnose, state: str
    ) -> None:
        if state == "empty":
            git(project, "status")
        (project.cwd / "src").mkdir()
        (project.cwd / "src/greet.ts").write_text(GREET, "utf-8")
        write_session(*chain(*read()))
        assert len(diagnose()["PI510"]) == 1
        (project.cwd / "src/greet.ts").write_text(MORE, "utf-8")
        assert "there is no history to ask" in diagnose().one("PI501").message

    @pytest.mark.parametrize("trouble", ["shallow", "broken", "elsewhere", "bare"])
    def test_a_repository_that_cannot_tell_is_said_to_be_so(
        self, project: Place, write_session: Write, diagnose: Diagnose, trouble: str
    ) -> None:
        """The file is gone; by whom, and whether it ever was in history, is not made up."""
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "Drop", NIGHT, src__greet_ts=None, other="x\n")
        says = {
            "shallow": "cut off here, in a shallow clone",
            "broken": "the commit that is checked out cannot be read",
            "elsewhere": "its working tree is set to another folder",
            "bare": "it has no working tree",
        }[trouble]
        if trouble == "shallow":
            (project.cwd / ".git" / "shallow").write_text(git(project, "rev-parse", "HEAD") + "\n")
        elif trouble == "broken":
            head = git(project, "rev-parse", "HEAD")
            (project.cwd / ".git" / "objects" / head[:2] / head[2:]).unlink()
        else:
            value = "/" + "etc" if trouble == "elsewhere" else "true"
            name = "core.worktree" if trouble == "elsewhere" else "core.bare"
            git(project, "config", name, value)
        write_session(*chain(*read()))
        one = diagnose().one("PI503")
        assert says in one.message
        assert "never in history" not in one.message

    def test_a_branch_that_was_switched_is_told_by_the_reflog(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        git(project, "checkout", "-q", "-b", "other", at=NIGHT)
        write_session(*chain(*read()))
        assert "main was checked out then" in diagnose().one("PI507").message

    def test_a_commit_that_was_rewritten_is_told_by_the_reflog(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        then = commit(project, "Add", src__greet_ts=GREET)
        git(project, "commit", "-q", "--amend", "-m", "Add it", at=NIGHT)
        write_session(*chain(*read()))
        assert then[:12] in diagnose().one("PI507").message

    def test_a_branch_that_simply_went_on_has_not_moved(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "More", NIGHT, other="x\n")
        write_session(*chain(*read()))
        assert "PI507" not in diagnose().codes("warning")

    def test_commits_well_after_the_last_entry_are_work_that_no_session_holds(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """A note: who made them is not recorded. What was committed at once is the session's."""
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "At once", "2026-10-20T09:50:00Z", other="x\n")
        path = write_session(*chain(*read()))
        assert diagnose()["PI507"] == []
        late = commit(project, "Late", "2026-10-20T21:30:00Z", other="y\n")
        commit(project, "The next day", "2026-10-21T01:00:00Z", other="z\n")
        found = diagnose().one("PI507")
        assert found.level == "note"
        assert "2 commits of that day came after it, the first at 2026-10-20 09:50" in found.message
        assert "the last at 2026-10-20 21:30" in found.message
        assert found.evidence[0].path == str(path)
        assert found.evidence[-1].commit == late

    def test_commits_after_the_last_entry_are_explained_by_another_session_of_the_day(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        commit(project, "Late", "2026-10-20T21:30:00Z", other="y\n")
        write_session(user("o1", "2026-10-20T21:00:00.000Z", parentId=None))
        path = write_session(*chain(*read()))
        assert diagnose(session=str(path))["PI507"] == []


class TestCalls:
    def test_a_push_that_the_remote_tracking_branch_shows_did_happen(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        head = commit(project, "Add", src__greet_ts=GREET)
        git(project, "update-ref", "refs/remotes/origin/main", head)
        write_session(*chain(user("a1", yesterday(1)), calls(("bash", {"command": "git push"}))))
        one = diagnose().one("PI401")
        assert one.level == "error"
        assert "class remote" in one.message
        assert "it did happen" in one.message
        assert one.evidence[1].commit == head

    def test_a_push_that_it_does_not_show_cannot_be_known(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Git moves the ref only once the remote has answered; the remote may have taken it."""
        old = commit(project, "Add", src__greet_ts=GREET)
        commit(project, "More", other="x\n")
        git(project, "update-ref", "refs/remotes/origin/main", old)
        write_session(*chain(user("a1", yesterday(1)), calls(("bash", {"command": "git push"}))))
        assert "cannot be known" in diagnose().one("PI401").message

    @pytest.mark.parametrize(
        ("at", "message", "says"),
        [
            (NIGHT, "Add x", "it did happen: commit"),
            (NIGHT, "Other", "with another message"),
            ("2026-10-20T08:00:00Z", "Add x", "it did not happen: there is no commit since"),
        ],
    )
    def test_a_commit_is_looked_for_by_message_and_time(
        self,
        project: Place,
        write_session: Write,
        diagnose: Diagnose,
        at: str,
        message: str,
        says: str,
    ) -> None:
        commit(project, message, at, src__greet_ts=GREET)
        command = {"command": "git add -A && git commit -qm 'Add x'"}
        write_session(*chain(user("a1", yesterday(1)), calls(("bash", command))))
        one = diagnose().one("PI401")
        assert "class commit" in one.message
        assert says in one.message

    @pytest.mark.parametrize(
        ("content", "says"),
        [("new\n", "it did happen"), ("else\n", "cannot be known"), (None, "it did not happen")],
    )
    def test_a_write_is_looked_for_in_the_file(
        self,
        project: Place,
        write_session: Write,
        diagnose: Diagnose,
        content: str | None,
        says: str,
    ) -> None:
        if content is not None:
            (project.cwd / "n.txt").write_text(content, "utf-8")
        given = {"path": "n.txt", "content": "new\n"}
        write_session(*chain(user("a1", yesterday(1)), calls(("write", given))))
        assert says in diagnose().one("PI401").message

    def test_a_read_without_result_makes_nothing_unsafe(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(user("a1", yesterday(1)), calls(("read", {"path": "a.ts"}))))
        assert diagnose().one("PI401").level == "warning"

    def test_a_batch_is_recorded_only_when_all_have_ended(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        batch = calls(("bash", {"command": "make"}), ("bash", {"command": "git push"}))
        write_session(*chain(user("a1", yesterday(1)), batch))
        found = diagnose()["PI401"]
        assert len(found) == 2
        assert all("one of 2 calls" in one.message for one in found)

    def test_a_call_that_is_compacted_away_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        kept = entry(
            "compaction", "k1", yesterday(3), summary="s", tokensBefore=1, firstKeptEntryId="k1"
        )
        call = calls(("bash", {"command": "git push"}))
        write_session(*chain(user("a1", yesterday(1)), call, kept))
        assert diagnose().one("PI401").level == "warning"

    @pytest.mark.parametrize("reason", ["error", "aborted"])
    def test_calls_of_a_reply_that_failed_never_ran(
        self, write_session: Write, diagnose: Diagnose, reason: str
    ) -> None:
        call = calls(("bash", {"command": "git push"}), stopReason=reason)
        write_session(*chain(user("a1", yesterday(1)), call))
        assert diagnose()["PI401"] == []

    def test_a_call_that_is_answered_is_no_open_call(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        call = calls(("bash", {"command": "git push"}))
        write_session(*chain(user("a1", yesterday(1)), call, result("a3", yesterday(3), "c1")))
        found = diagnose()
        assert found["PI401"] == found["PI402"] == found["PI403"] == found["PI408"] == []

    def test_a_result_on_a_branch_that_was_left_answers_there(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        call = calls(("bash", {"command": "git push"}))
        write_session(
            *chain(user("a1", yesterday(1)), call, result("a3", yesterday(3), "c1")),
            *chain(user("b1", today(1)), parent="a2"),
        )
        found = diagnose()
        assert found["PI401"] == []
        assert [piece.entry for piece in found.one("PI408").evidence] == ["a2", "a3"]

    def test_a_result_without_its_call_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(user("a1", yesterday(1)), result("a3", yesterday(3), "c7")))
        one = diagnose().one("PI402")
        assert "c7" in one.message

    def test_two_results_of_one_call_are_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        call = calls(("bash", {"command": "date"}))
        results = [result("a3", yesterday(3), "c1"), result("a4", yesterday(4), "c1")]
        write_session(*chain(user("a1", yesterday(1)), call, *results))
        assert [p.entry for p in diagnose().one("PI403").evidence] == ["a2", "a3", "a4"]

    def test_an_id_that_comes_again_in_a_later_turn_is_no_second_answer(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Some providers count the calls of each turn from one."""
        again = assistant("b2", today(2), calls=(("c1", "bash", {"command": "date"}),))
        write_session(
            *chain(
                user("a1", yesterday(1)),
                calls(("bash", {"command": "date"})),
                result("a3", yesterday(3), "c1"),
                user("b1", today(1)),
                again,
                result("b3", today(3), "c1"),
            )
        )
        found = diagnose()
        assert found["PI403"] == found["PI402"] == found["PI401"] == []

    @pytest.mark.parametrize(
        ("reply", "levels"),
        [("Done, all tests pass.", {"warning", "note"}), ("The tests failed.", {"note"})],
    )
    def test_a_reply_that_claims_success_after_a_failure_is_a_warning(
        self, write_session: Write, diagnose: Diagnose, reply: str, levels: set[str]
    ) -> None:
        failed = result("a3", yesterday(3), "c1", "exit 1", {"isError": True})
        call = calls(("bash", {"command": "npm test"}))
        write_session(
            *chain(user("a1", yesterday(1)), call, failed, assistant("a4", yesterday(4), reply))
        )
        assert {one.level for one in diagnose()["PI404"]} == levels

    def test_a_call_that_did_not_fail_is_no_failure(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        call = calls(("bash", {"command": "npm test"}))
        write_session(*chain(user("a1", yesterday(1)), call, result("a3", yesterday(3), "c1")))
        assert diagnose()["PI404"] == []

    def test_an_aborted_turn_tells_of_each_call_whether_it_ran(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        batch = calls(("bash", {"command": "sleep 20"}), ("bash", {"command": "echo two"}))
        write_session(
            *chain(
                user("a1", yesterday(1)),
                batch,
                result(
                    "a3", yesterday(3), "c1", "Command aborted", {"isError": True, "durationMs": 9}
                ),
                result("a4", yesterday(3), "c2", "two", {"durationMs": 8}),
                assistant("a5", yesterday(4), "", message={"stopReason": "aborted"}),
            )
        )
        one = diagnose().one("PI405")
        assert "'sleep 20' was cut off" in one.message
        assert "'echo two' did run" in one.message

    def test_a_turn_that_came_to_its_end_was_not_aborted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*chain(*read()))
        assert diagnose()["PI405"] == []


class TestMentions:
    def _ask(self, text: str, reply: str, *more: Json) -> list[Json]:
        return chain(user("a1", yesterday(1), text), *more, assistant("a9", yesterday(9), reply))

    @pytest.mark.parametrize(
        ("prompt", "reply", "level"),
        [
            ("@src/greet.ts safe?", "I checked src/greet.ts and found no problems.", "error"),
            ("@src/greet.ts 有问题吗?", "已检查，没有问题。", "error"),
            ('<file name="/P/src/greet.ts">\nx\n</file>\nFine?', "It looks fine.", "error"),
            ("@src/greet.ts safe?", "I have not read it.", "warning"),
            ("@src/greet.ts safe?", "Which one do you mean?", "warning"),
        ],
    )
    def test_a_file_that_nobody_read_is_told_as_an_error_where_a_check_is_claimed(
        self,
        project: Place,
        write_session: Write,
        diagnose: Diagnose,
        prompt: str,
        reply: str,
        level: str,
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        write_session(*self._ask(prompt.replace("/P", str(project.cwd)), reply))
        one = diagnose().one("PI406")
        assert one.level == level
        assert one.message.startswith("src/greet.ts was")

    @pytest.mark.parametrize(
        "prompt",
        [
            "Install @earendil-works/pi-coding-agent",
            "Mail ann@example.com",
            "What does @property do?",
            "Ask @ann",
        ],
    )
    def test_what_is_no_file_is_no_mention_of_one(
        self, project: Place, write_session: Write, diagnose: Diagnose, prompt: str
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        write_session(*self._ask(prompt, "I checked it, no problems."))
        assert diagnose()["PI406"] == []

    def test_a_file_that_a_tool_read_was_observed(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit(project, "Add", src__greet_ts=GREET)
        call = assistant(
            "a2", yesterday(2), calls=(("c1", "bash", {"command": "cat src/greet.ts"}),)
        )
        seen = [call, result("a3", yesterday(3), "c1", GREET)]
        write_session(*self._ask("@src/greet.ts safe?", "I checked it, no problems.", *seen))
        assert diagnose()["PI406"] == []


class TestLedger:
    def test_usage_that_no_reply_shows_is_added_up(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        usage = {
            "input": 0,
            "output": 0,
            "cacheRead": 50_000,
            "cacheWrite": 0,
            "cost": {"total": 0.015},
        }
        warm = entry("usage", "w1", yesterday(5), kind="cache_warm", usage=usage)
        write_session(*chain(user("a1", yesterday(1)), assistant("a2", yesterday(2)), warm))
        one = diagnose().one("PI601")
        assert "50,000 tokens and 0.015 dollars" in one.message
        assert one.evidence[0].entry == "w1"

    def test_usage_of_replies_is_not_hidden(self, write_session: Write, diagnose: Diagnose) -> None:
        write_session(*chain(user("a1", yesterday(1)), assistant("a2", yesterday(2))))
        assert diagnose()["PI601"] == []

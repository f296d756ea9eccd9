"""Storage: is it on disk, whole, and in the file that Pi opens?"""

from __future__ import annotations

import json
import os
import re
import subprocess
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from entries import Json, assistant, chain, entry, on, result, today, user, yesterday

from diagnose.pipeline.opening import CallError
from diagnose.pipeline.verdict import decide

if TYPE_CHECKING:
    from pathlib import Path

    from diagnosis import Diagnose, Place, Write

BOM = b"\xef\xbb\xbf"


def raw(one: Json) -> bytes:
    return json.dumps(one, separators=(",", ":")).encode()


def day(*before: Json) -> list[Json]:
    """Return a prompt and its reply of yesterday, hanging on entries if any are given."""
    prompt = user("a1", yesterday(1), "Check src/greet.ts")
    return chain(*before, prompt, assistant("a2", yesterday(2)))


def later(parent: str = "a2") -> list[Json]:
    """Return a prompt and its reply of today, hanging on an entry."""
    return chain(user("b1", today(1)), assistant("b2", today(2)), parent=parent)


def head(cwd: object, **more: object) -> Json:
    return {"type": "session", "id": "x", "timestamp": yesterday(), "cwd": str(cwd), **more}


def test_a_session_that_was_simply_continued_has_nothing_wrong_with_it(
    write_session: Write, diagnose: Diagnose
) -> None:
    write_session(*day(), *later())
    found = diagnose()
    assert {code for code in found.codes() if code[:3] in ("PI1", "PI2")} == set()
    ours = {code: one for code, one in found.outcomes.items() if code[:3] in ("PI1", "PI2")}
    assert {one.outcome for one in ours.values()} == {"clear"}


def id_of(session: Path) -> str:
    """Return the id in a session's header."""
    header = json.loads(session.read_text("utf-8").partition("\n")[0])
    return str(header["id"])


class TestWhereTheDayIs:
    def test_a_folder_that_is_not_there_is_told_with_how_pi_comes_to_look_there(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), cwd="/elsewhere/other")
        found = diagnose().one("PI101")
        assert found.level == "error"
        assert found.evidence[0].path == str(project.folder())
        assert "Pi's default" in found.message

    def test_a_missing_folder_is_no_error_where_the_day_is_in_a_folder_inside_this_one(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The answer to the person is then where it is, which PI103 gives."""
        write_session(*day(), cwd=project.cwd / "packages" / "web")
        found = diagnose()
        assert found.one("PI101").level == "warning"
        assert found.one("PI103").level == "error"
        assert "a folder inside" in found.one("PI103").message

    def test_a_day_on_which_nothing_was_recorded_is_told_with_the_nearest_that_have_it(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later())
        before = write_session(
            *chain(user("c1", on("2026-10-15")), assistant("c2", on("2026-10-15", 1))),
            begun=on("2026-10-15"),
        )
        found = diagnose("forgot 2026-10-18")
        one = found.one("PI102")
        assert one.level == "error"
        assert [(piece.path, piece.entry) for piece in one.evidence] == [
            (str(before), "c2"),
            (str(found.case.session and found.case.session.path), "a2"),
        ]
        assert "2026-10-18, Sunday" in one.message
        assert "about 2026-10-15" in one.message

    def test_a_rewrite_that_was_cut_off_left_the_day_in_a_file_that_pi_does_not_list(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*later("gone"), begun=today())
        whole = write_session(*day())
        hidden = whole.rename(whole.with_name(f".{whole.name}.1f2e.tmp"))
        found = diagnose()
        assert found["PI102"] == []
        one = found.one("PI104")
        assert (one.evidence[0].path, one.evidence[0].entry) == (str(hidden), "a2")
        assert "which Pi does not list" in one.message
        # Evidence is copied, not opened: Pi would write to it.
        assert one.remedy[0].command == f"cp -n {hidden} {whole}"

    def test_an_older_copy_of_a_session_may_hold_what_it_has_no_more(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The copy and the listed file are one session: the day is not stored elsewhere."""
        listed = write_session(*later("gone"), begun=today())
        whole = write_session(*day())
        copy = listed.with_name(f"{listed.name}.bak")
        copy.write_text(whole.read_text("utf-8").replace(id_of(whole), id_of(listed)), "utf-8")
        whole.unlink()
        found = diagnose().one("PI102")
        assert (found.evidence[-1].path, found.evidence[-1].entry) == (str(copy), "a2")
        assert "2 messages of that day are in" in found.message

    def test_a_session_given_by_its_path_may_have_nothing_of_the_day(
        self, tmp_path: Path, write_session: Write, diagnose: Diagnose
    ) -> None:
        """It lies outside of Pi's folders, of which there are none for its directory."""
        copy = write_session(*day(), cwd="/gone/greet", folder=tmp_path)
        found = diagnose("forgot today", session=str(copy), cwd=None)
        assert found.one("PI102").level == "error"
        assert found["PI101"] == []

    def test_a_question_that_names_no_day_has_none_that_could_be_missing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*later())
        assert diagnose("forgot everything")["PI102"] == []

    def test_a_thing_that_no_entry_names_is_told_and_no_cause_is_made_up(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The question of today is no record of it; what it can be found by is cited."""
        path = write_session(
            *day(), user("q1", today(1), "Where is the voucher page?", parentId="a2")
        )
        found = diagnose("forgot the voucher page")
        one = found.one("PI102")
        assert one.level == "warning"
        assert "'voucher page' is named in no entry of this project" in one.message
        assert "it is first named after that, in line 4" in one.message
        assert [(p.path, p.line, p.entry) for p in one.evidence] == [
            (str(path), 4, "q1"),
            (str(path), None, None),
        ]
        verdict = decide(found.case, list(found.outcomes.values()))
        assert verdict.kind == "intact"
        assert verdict.summary.startswith("Nothing is lost that could be found. 'voucher page' is")

    @pytest.mark.parametrize(
        "text",
        ["The page of the Voucher", "vouchers, per page", "PAGE\nvoucher"],
    )
    def test_a_thing_that_is_named_in_another_order_or_case_is_stored(
        self, text: str, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), user("v1", yesterday(3), text, parentId="a2"), *later("v1"))
        assert diagnose("forgot the voucher page")["PI102"] == []

    def test_a_thing_is_looked_for_in_results_and_escapes_and_in_lines_that_pi_skips(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        whole = raw(user("v1", yesterday(3), "Gutscheinübersicht", parentId="a2"))
        escaped = whole.replace("ü".encode(), b"\\u00fc")
        said = '"Gutscheinübersicht"'.encode()
        for line in (whole, escaped, whole[:-5], whole.replace(b'"user"', b'"toolResult"'), said):
            path = write_session(*day(), line, *later())
            assert diagnose("forgot the Gutscheinübersicht")["PI102"] == [], line
            path.unlink()
        write_session(*day(), *later())
        assert diagnose("forgot the Gutscheinübersicht").one("PI102").level == "warning"

    def test_a_thing_is_looked_for_in_every_session_of_the_folder(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        other = user("v1", on("2026-10-12"), "The voucher page is done", parentId=None)
        write_session(other, begun=on("2026-10-12"))
        write_session(*day(), *later())
        assert diagnose("forgot the voucher page")["PI102"] == []
        told = diagnose("forgot the newsletter").one("PI102").message
        assert "in none of the 2 session files of this project" in told

    @pytest.mark.parametrize(
        ("symptom", "level"),
        [
            ("the answer about the newsletter is odd", "note"),
            ("wrong about the newsletter", None),
            ("forgot yesterday", None),
        ],
    )
    def test_a_thing_is_missed_where_the_question_is_what_is_missing(
        self, symptom: str, level: str | None, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later())
        assert [one.level for one in diagnose(symptom)["PI102"]] == [level] * bool(level)

    def test_the_day_in_another_session_is_told_with_the_command_to_open_it(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*later("gone"), begun=today())
        other = write_session(*day())
        found = diagnose().one("PI104")
        assert found.level == "error"
        assert found.remedy[0].command == f"pi --session {other}"

    def test_another_session_of_the_day_is_a_warning_where_this_one_has_the_day_too(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later())
        write_session(*chain(user("c1", yesterday(3)), assistant("c2", yesterday(4))))
        assert diagnose().one("PI104").level == "warning"

    def test_the_day_is_in_the_default_folder_while_pi_is_led_to_another_now(
        self, tmp_path: Path, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        own = tmp_path / "own"
        write_session(*later("gone"), begun=today(), folder=own)
        write_session(*day())
        found = diagnose(session_dir=str(own)).one("PI104")
        assert found.level == "error"
        assert f"it lies in {project.folder()}, and Pi looks in {own}" in found.message

    def test_an_id_that_pi_does_not_find_is_told_where_it_lies(
        self, tmp_path: Path, write_session: Write, diagnose: Diagnose
    ) -> None:
        there = write_session(*day(), id_="01a159bd-aaaa")
        write_session(*later("gone"), folder=tmp_path / "own")
        # Pi looks for an id in all default folders; a file above them is in none.
        moved = there.parent.parent / there.name
        there.rename(moved)
        with pytest.raises(CallError, match=re.escape(str(moved))):
            diagnose(session="01a159bd-aaaa")

    def test_sessions_of_version_1_have_no_ids_by_which_they_could_be_one(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        for name, begun, lines in (("a", yesterday(), day()), ("b", today(), later("gone"))):
            old = {"type": "session", "id": name, "timestamp": begun, "cwd": str(project.cwd)}
            bare = [{k: one[k] for k in one if k not in ("id", "parentId")} for one in lines]
            write_session(old, *bare, header=None, id_=name, begun=begun)
        assert diagnose().one("PI104").level == "error"

    def test_a_fork_of_this_session_is_not_another_session(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """It holds the day's entries under the same ids."""
        write_session(*day(), *later())
        write_session(*day())
        assert diagnose()["PI104"] == []

    def test_a_clone_of_the_repository_elsewhere_is_this_project(
        self, project: Place, tmp_path: Path, write_session: Write, diagnose: Diagnose
    ) -> None:
        commit = ("commit", "--quiet", "--allow-empty", "-m", "x")
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", "init", "--quiet", project.cwd], check=True)
        subprocess.run(["git", "-C", project.cwd, *who, *commit], check=True)
        clone = tmp_path / "clone"
        subprocess.run(["git", "clone", "--quiet", project.cwd, clone], check=True)
        write_session(*later("gone"), begun=today())
        other = write_session(*day(), cwd=clone)
        found = diagnose().one("PI103")
        assert found.level == "error"
        assert found.evidence[-1].commit is not None
        assert found.remedy[0].command == f"cd {clone} && pi --session {other}"

    def test_another_project_is_another_project(
        self, tmp_path: Path, write_session: Write, diagnose: Diagnose
    ) -> None:
        other = tmp_path / "other"
        other.mkdir()
        write_session(*later("gone"), begun=today())
        write_session(*day(), cwd=other)
        assert diagnose()["PI103"] == []

    def test_a_file_that_two_repositories_have_in_common_does_not_make_them_one(
        self, project: Place, tmp_path: Path, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Such as the same rules for the agent; a folder that is gone cannot be asked itself."""
        text = "# Rules\n\nWrite the tests first.\n"
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        other = tmp_path / "other"
        for path in (project.cwd, other):
            subprocess.run(["git", "init", "--quiet", path], check=True)
            (path / "AGENTS.md").write_text(text, "utf-8")
            subprocess.run(["git", "-C", path, "add", "."], check=True)
            named = ["commit", "--quiet", "-m", path.name]
            subprocess.run(["git", "-C", path, *who, *named], check=True)
        write_session(*later("gone"), begun=today())
        call = (("c1", "read", {"path": "AGENTS.md"}),)
        write_session(
            *chain(
                user("a1", yesterday(1)),
                assistant("a2", yesterday(2), calls=call),
                result("a3", yesterday(3), "c1", text, {"toolName": "read"}),
                assistant("a4", yesterday(4)),
            ),
            cwd=other,
        )
        assert diagnose()["PI103"] == []
        other.rename(tmp_path / "moved-away")
        assert len(diagnose()["PI103"]) == 1

    def test_the_agent_folder_is_named_where_the_project_has_no_session_at_all(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), cwd="/elsewhere/other")
        project.folder().mkdir()
        lying = project.agent_dir / "lost.jsonl"
        lying.write_bytes(b"")
        found = diagnose()
        assert found["PI101"] == []
        assert [piece.path for piece in found.one("PI120").evidence] == [
            str(project.folder()),
            str(lying),
        ]


class TestWhichFileIsOpened:
    def test_a_touched_old_session_is_opened_in_place_of_the_latest(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        latest = write_session(*day(), *later())
        old = write_session(
            *chain(user("c1", on("2026-10-15")), assistant("c2", on("2026-10-15", 1))),
            begun=on("2026-10-15"),
            changed=today(30),
        )
        found = diagnose().one("PI105")
        assert [piece.path for piece in found.evidence] == [str(old), str(latest)]
        assert found.remedy[0].command == f"pi --session {latest}"

    def test_the_last_message_is_found_behind_a_long_result(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The picker's order is read from a file's end, of which a result may take up much."""
        write_session(*day())
        write_session(
            *chain(user("c1", today(1)), assistant("c2", today(2), calls=(("t", "bash", {}),))),
            result("c3", today(2), "t", "x" * 200_000, parentId="c2"),
        )
        assert diagnose()["PI105"] == []

    def test_two_directories_whose_names_come_out_alike_share_a_folder(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later())
        twin = f"{project.cwd.parent}-{project.cwd.name}"
        other = write_session(*day(), cwd=twin, changed=today(30))
        found = diagnose().one("PI106")
        assert found.evidence[0].path == str(other)
        assert f"pi --continue opens one of {twin} now" in found.message

    def test_the_other_directorys_day_is_not_this_ones(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        own = write_session(*day())
        twin = f"{project.cwd.parent}-{project.cwd.name}"
        write_session(
            *chain(user("c1", yesterday(3)), assistant("c2", yesterday(4))),
            cwd=twin,
            changed=today(40),
        )
        found = diagnose().one("PI104")
        assert (found.level, found.evidence[0].path) == ("error", str(own))

    def test_in_a_folder_of_its_own_pi_looks_at_the_header(
        self, tmp_path: Path, write_session: Write, diagnose: Diagnose
    ) -> None:
        own = tmp_path / "own"
        write_session(*day(), *later(), folder=own)
        write_session(*day(), cwd="/elsewhere/other", folder=own)
        assert diagnose(session_dir=str(own))["PI106"] == []

    def test_a_header_beyond_the_first_mebibyte_is_not_discovered(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*later("gone"), begun=today())
        other = write_session(*day(), header={"metadata": "x" * 1_100_000})
        found = diagnose().one("PI108")
        assert found.evidence[0].path == str(other)
        assert found.evidence[0].line == 1

    def test_a_copy_under_another_name_is_the_same_session(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later(), id_="same")
        copy = write_session(*day(), id_="same", begun=yesterday(1))
        found = diagnose().one("PI118")
        assert found.evidence[0].path == str(copy)
        assert "2 entries stand only in the examined one" in found.message

    def test_a_file_that_holds_another_session_than_its_name_says_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later(), id_="one", header={"id": "two"})
        assert "named after session one and holds session two" in diagnose().one("PI118").message

    def test_a_file_that_cannot_be_read_is_not_passed_over_in_silence(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Here it vanished under its link; root, who may run this, may read everything else."""
        write_session(*day(), *later())
        gone = project.folder() / f"{yesterday().replace(':', '-').replace('.', '-')}_x.jsonl"
        gone.symlink_to("nowhere")
        found = diagnose().one("PI119")
        assert found.level == "error"
        assert found.evidence[0].path == str(gone)
        assert "there is no such file" in found.message

    def test_a_folder_with_a_sessions_name_is_a_warning(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later())
        (project.folder() / "folder.jsonl").mkdir()
        found = diagnose().one("PI119")
        assert found.level == "warning"
        assert "it is a folder" in found.message


class TestRefusedHeader:
    def test_a_byte_order_mark_hides_a_whole_session_and_another_is_opened(
        self, write_session: Write, diagnose: Diagnose, project: Place
    ) -> None:
        older = write_session(*later("gone"), begun=today(), changed=yesterday())
        marked = write_session(BOM + raw(head(project.cwd)), *day(), header=None)
        found = diagnose().one("PI107")
        assert found.level == "error"
        assert (found.evidence[0].path, found.evidence[0].line) == (str(marked), 1)
        assert "EF BB BF" in found.message
        assert "2 entries (2 messages of the day) are intact" in found.message
        assert f"opens {older.name} instead" in found.message
        command = found.remedy[0].command
        assert command is not None
        assert command.startswith(f"tail -c +4 {marked} > ")

    def test_a_header_that_was_cut_off_refuses_the_file(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        path = write_session(b'{"type":"session","version":3,"id":"01a1', *day(), header=None)
        found = diagnose(session=str(path)).one("PI107")
        assert found.level == "error"
        assert "the header in line 1 was cut off" in found.message

    def test_the_remedy_makes_a_copy_that_pi_opens(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        path = write_session(*day(), *later(), header=None)
        command = diagnose(session=str(path), cwd=str(project.cwd)).one("PI107").remedy[0].command
        assert command is not None
        before = path.read_bytes()
        subprocess.run(["sh", "-c", command], cwd=path.parent, check=True)
        assert path.read_bytes() == before
        moment = datetime.fromisoformat(today(9)).timestamp()
        (mended,) = (one for one in path.parent.iterdir() if one != path)
        os.utime(mended, (moment, moment))
        found = diagnose()
        assert found.case.session is not None
        assert found.case.session.path == mended
        assert len(found.case.branch) == 4

    def test_a_refused_file_without_the_day_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later())
        write_session(*later("gone"), header=None)
        assert diagnose().one("PI107").level == "warning"


class TestSkippedLines:
    def test_a_torn_tail_loses_one_record_and_names_its_call(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        torn = raw(result("a3", yesterday(3), "call-7", parentId="a2"))[:-40]
        write_session(*day(), torn, ending=b"", changed=yesterday(3))
        found = diagnose().one("PI109")
        assert found.level == "error"
        assert [piece.line for piece in found.evidence] == [4, 3]
        assert "toolResult, id a3, result of call call-7" in found.message
        assert f"{len(torn)} bytes, no line end" in found.message

    def test_a_tear_that_was_worked_past_is_not_a_broken_history(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """One record is lost; what was written next hangs on the entry before it."""
        torn = raw(assistant("lost", on("2026-10-19"), parentId="a2"))[:90]
        write_session(*day(), torn, *later())
        found = diagnose()
        assert found.one("PI109").level == "warning"
        assert "the chain is whole" in found.one("PI109").message
        assert found["PI110"] == []

    def test_two_records_on_one_line_cut_the_branch_and_the_second_can_be_read(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        fused = b'{"type":"message","id":"torn","parentId":"a2","mess'
        second = raw(user("u2", yesterday(5), parentId="a2"))
        path = write_session(*day(), fused + second, *later("u2"))
        found = diagnose()
        one = found.one("PI109")
        offset = path.read_bytes().index(second)
        assert one.level == "error"
        assert f"from byte {offset} of the file" in one.message
        assert "line 5 (b1) hangs on it" in one.message
        gap = found.one("PI110")
        assert gap.level == "error"
        assert [piece.line for piece in gap.evidence] == [5, 3, 4]
        assert "cuts off 2 earlier entries (lines 2-3)" in gap.message
        assert "the lost record is in line 4" in gap.message
        assert found["PI201"] == []

    def test_a_record_over_several_lines_is_put_together_again(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        split = raw(assistant("s1", yesterday(3), "one\ntwo\nthree", parentId="a2"))
        split = split.replace(b"\\n", b"\n")
        write_session(*day(), *split.split(b"\n"), *later("s1"))
        found = diagnose()
        assert "lines 4-6 are one record" in found.one("PI109").message
        assert "the lost record is in line 4" in found.one("PI110").message

    @pytest.mark.parametrize("stray", [b"@", b"\xc3\xa9", b"\xff", b",", b"\\"])
    def test_a_record_whose_end_is_there_was_not_cut_off(
        self, stray: bytes, write_session: Write, diagnose: Diagnose
    ) -> None:
        """The place is that of the stray byte; only what is no UTF-8 is called so."""
        good = raw(user("g1", yesterday(3), parentId="a2"))
        path = write_session(
            *day(), good.replace(b',"parentId"', stray + b',"parentId"'), *later("g1")
        )
        found = diagnose()
        told = found.one("PI109").message
        place = path.read_bytes().index(b"g1") + len(b'g1"') + (stray == b",")
        assert f"no JSON from byte {place} of the file on" in told
        assert ("no UTF-8" in told) == (stray == b"\xff")
        assert "id g1" in told
        assert "the lost record is in line 4" in found.one("PI110").message

    def test_a_torn_copy_of_a_record_that_stands_whole_loses_nothing(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        whole = assistant("a3", yesterday(3), parentId="a2")
        write_session(*day(), raw(whole)[:-30], whole, *later("a3"))
        found = diagnose().one("PI109")
        assert found.level == "note"
        assert [piece.line for piece in found.evidence][:2] == [4, 5]

    def test_a_torn_copy_under_another_id_is_known_by_what_it_says(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        first, second = (
            user(id_, yesterday(3), "Check all of the files in src, please", parentId="a2")
            for id_ in ("t1", "t2")
        )
        write_session(*day(), raw(first)[:-5], second, *later("t2"))
        assert "stands whole in line 5" in diagnose().one("PI109").message

    def test_zero_bytes_in_place_of_a_record_are_told_and_a_record_among_them_is_read(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        among = b"\0" * 8 + raw(user("n1", yesterday(3), parentId="a2"))
        write_session(*day(), b"\0" * 50, among, *later("n1"))
        empty, read = sorted(diagnose()["PI109"], key=lambda one: one.level or "", reverse=True)
        assert (empty.level, read.level) == ("warning", "error")
        assert [piece.line for piece in empty.evidence] == [4]
        assert "user, id n1, from byte" in read.message

    def test_null_and_blank_lines_are_harmless(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), b"null", b"", b"  ", *later())
        assert diagnose()["PI109"] == []

    def test_more_damaged_lines_than_can_be_read_one_by_one_are_counted(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *[b"garbage"] * 70, *later())
        first, rest = diagnose()["PI109"]
        assert first.message.startswith("50 lines")
        assert rest.message.startswith("20 more lines")
        assert {first.level, rest.level} == {"warning"}


class TestTheTreeOfTheFile:
    def test_a_parent_that_was_never_written_cuts_off_what_stands_before(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later("x9"))
        found = diagnose()
        one = found.one("PI110")
        assert one.level == "error"
        assert found.lines("PI110") == [4, 3]
        assert "whose parent x9 is not in the file" in one.message
        assert "never written" in one.message
        assert "compactions on the branch: 0" in one.message
        # It is no branch that anybody left.
        assert {"PI201", "PI206", "PI207"} & found.codes() == set()

    def test_a_fork_that_lost_a_parent_is_sent_to_its_original(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        label = entry("label", "l1", yesterday(3), targetId="a1", parentId="a2")
        original = write_session(*day(), label)
        write_session(*day(), *later("l1"), header={"parentSession": f"/old/{original.name}"})
        found = diagnose().one("PI110")
        assert "forked from has it" in found.message
        assert (found.evidence[-1].path, found.evidence[-1].line) == (str(original), 4)

    def test_an_orphan_beside_the_active_branch_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), user("o1", yesterday(5), parentId="x9"), *later())
        assert diagnose().one("PI110").level == "warning"

    def test_lines_that_are_there_twice_are_harmless(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *day(), *later())
        found = diagnose()
        assert {"PI109", "PI110", "PI112", "PI201"} & found.codes() == set()
        assert found.one("PI111").level == "note"

    def test_of_two_entries_with_one_id_pi_follows_the_later(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), assistant("a2", yesterday(3), "Other.", parentId="a1"), *later())
        found = diagnose()
        assert found.lines("PI111") == [3, 4]
        assert "again in line 4, which is the one that Pi follows" in found.one("PI111").message

    def test_an_entry_that_is_its_own_parent_makes_pi_hang(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), user("b1", today(1), parentId="b1"))
        found = diagnose().one("PI112")
        assert found.level == "error"
        assert "line 4 (b1) is its own parent" in found.message

    def test_an_id_that_is_used_again_below_itself_closes_a_circle(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later(), user("a2", today(3), parentId="b2"))
        found = diagnose()
        assert found.one("PI112").level == "error"
        assert found.lines("PI112") == [4, 5, 6, 3]

    def test_ids_of_any_length_are_shortened(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """An id is a stranger's text: ten of them must not fill the report."""
        long = "a2" * 5_000
        below = [user(long, today(1), parentId="a2"), user("b2", today(2), parentId=long)]
        write_session(*day(), *below, user("a2", today(3), parentId="b2"))
        found = diagnose().one("PI112")
        assert "form a circle" in found.message
        assert len(found.message) < 500

    def test_a_circle_that_the_leaf_does_not_meet_is_a_warning(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        circle = [user("c1", yesterday(5), parentId="c2"), user("c2", yesterday(6), parentId="c1")]
        write_session(*day(), *circle, *later())
        found = diagnose().one("PI112")
        assert found.level == "warning"
        assert "the active branch does not meet it" in found.message

    def test_several_roots_are_counted(self, write_session: Write, diagnose: Diagnose) -> None:
        write_session(*day(), *chain(user("b1", today(1)), assistant("b2", today(2))))
        found = diagnose().one("PI113")
        assert "line 2 (2 entries), line 4 (2 entries, the active one)" in found.message


class TestTheShapeOfTheFile:
    def test_an_entry_of_the_wrong_shape_is_told_by_its_place(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        wrong = user("w1", yesterday(3), [{"type": "text", "text": 7}], parentId="a2")
        write_session(*day(), wrong, *later("w1"))
        found = diagnose().one("PI114")
        assert [(piece.line, piece.entry) for piece in found.evidence] == [(4, "w1")]
        assert "message.content.0.text should be a text, and is the number 7" in found.message

    def test_many_entries_that_are_wrong_in_one_way_are_one_finding(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        wrong = chain(*(user(f"w{n}", yesterday(3), 7) for n in range(9)), parent="a2")
        write_session(*day(), *wrong, *later("w8"))
        found = diagnose().one("PI114")
        assert [piece.line for piece in found.evidence] == [4, 5, 6, 7, 8]
        assert "8 more entries like it" in found.message

    def test_half_a_surrogate_pair_is_legal_and_noted_once(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Pi cuts texts so itself, in any number of entries: no more than a note."""
        halves = [
            raw(user(f"h{n}", yesterday(3), "x", parentId=parent)).replace(b'"x"', b'"\\ud83d"')
            for n, parent in ((1, "a2"), (2, "h1"))
        ]
        write_session(*day(), *halves, *later("h2"))
        found = diagnose().one("PI114")
        assert found.level == "note"
        assert "half of a character stands in message.content" in found.message
        assert "so it is in 1 more line" in found.message
        assert [(piece.line, piece.entry) for piece in found.evidence] == [(4, "h1"), (5, "h2")]

    def test_a_whole_pair_is_a_character(self, write_session: Write, diagnose: Diagnose) -> None:
        text = raw(user("h1", yesterday(3), "x", parentId="a2"))
        for whole in (b'"\\ud83d\\ude00"', '"\U0001f600 \ufffd"'.encode(), b'"\\\\ud83d"'):
            write_session(*day(), text.replace(b'"x"', whole), *later("h1"))
            assert diagnose()["PI114"] == [], whole

    def test_a_byte_that_is_no_utf8_is_told_by_its_place_in_the_file(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        """Also in the long text of a result, which is not read while the file is."""
        long = raw(user("h1", yesterday(3), "y" * 4000 + "x", parentId="a2")).replace(
            b'"role":"user"', b'"role":"toolResult"'
        )
        bad = long.replace(b'yx"', b'y\xff\\ud83d"')
        path = write_session(*day(), bad, *later("h1"))
        found = diagnose()["PI114"]
        warning = next(one for one in found if "no UTF-8" in one.message)
        assert warning.level == "warning"
        assert f"from byte {path.read_bytes().index(0xFF)} of the file on" in warning.message
        assert [(piece.line, piece.entry) for piece in warning.evidence] == [(4, "h1")]
        assert diagnose()["PI109"] == diagnose()["PI110"] == []

    def test_a_byte_that_is_no_utf8_is_found_in_a_name_and_in_the_header(
        self, write_session: Write, diagnose: Diagnose, project: Place
    ) -> None:
        head_line = raw(head(project.cwd)).replace(b"}", b',"\xffx":1}')
        write_session(head_line, *day(), *later(), header=None)
        found = diagnose().one("PI114")
        assert "in line 1 bytes stand in \ufffdx that are no UTF-8" in found.message

    def test_what_extensions_add_is_no_violation(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), entry("bookmark", "x1", yesterday(3), parentId="a2"), *later("x1"))
        assert diagnose()["PI114"] == []

    def test_a_file_of_version_1_is_rewritten_on_opening(
        self, write_session: Write, diagnose: Diagnose, project: Place
    ) -> None:
        lines = [{k: v for k, v in e.items() if k not in ("id", "parentId")} for e in day()]
        path = write_session(head(project.cwd), *lines, header=None)
        before = path.read_bytes()
        found = diagnose()
        assert "has no version, which means 1" in found.one("PI115").message
        assert found["PI114"] == []
        assert path.read_bytes() == before

    @pytest.mark.parametrize("version", [4, 99, "next"])
    def test_a_version_that_is_not_known_is_told(
        self, version: object, write_session: Write, diagnose: Diagnose
    ) -> None:
        write_session(*day(), *later(), header={"version": version})
        found = diagnose()
        assert f"version {version}" in found.one("PI116").message
        assert found["PI115"] == []


class TestWhereItRan:
    def test_a_working_directory_that_is_gone_is_told(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        path = write_session(*day(), *later(), cwd="/gone/greet")
        found = diagnose(session=str(path), cwd="/gone/greet").one("PI117")
        assert "/gone/greet" in found.message
        assert found.evidence[0].line == 1

    def test_project_says_where_it_is(
        self, project: Place, write_session: Write, diagnose: Diagnose
    ) -> None:
        path = write_session(*day(), *later(), cwd="/gone/greet")
        found = diagnose(session=str(path), cwd="/gone/greet", project=str(project.cwd))
        assert found["PI117"] == []

    @pytest.mark.parametrize(
        "message",
        [
            {"sections": {"cwd": "<cwd>\n/other/place\n</cwd>"}},
            {"content": "You are Pi.\nCurrent working directory: /other/place"},
        ],
    )
    def test_tools_that_ran_in_another_folder_than_the_header_says_are_told(
        self, message: Json, write_session: Write, diagnose: Diagnose
    ) -> None:
        system = entry(
            "message", "s1", yesterday(0.5), message={"role": "system", "content": "", **message}
        )
        write_session(*day(system), *later())
        found = diagnose()
        assert "the tools run in /other/place" in found.one("PI121").message
        assert found.lines("PI121") == [2, 1]

    def test_what_a_fork_has_from_its_original_was_recorded_there(
        self, write_session: Write, diagnose: Diagnose
    ) -> None:
        system = entry(
            "message",
            "s1",
            yesterday(0.5),
            message={"role": "system", "content": "", "sections": {"cwd": "<cwd>\n/old\n</cwd>"}},
        )
        write_session(*day(system), *later(), begun=today())
        assert diagnose()["PI121"] == []

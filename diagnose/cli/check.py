"""`pi-diagnose check`: the walk through the layers, which is what the tool is for."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from diagnose.cli.main import EXIT_CALL, EXIT_FOUND, EXIT_NOTHING, Fault, say
from diagnose.cli.options import (
    case_options,
    choose_format,
    emit,
    output_options,
    style,
    zone,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.finding import Rule
    from diagnose.pipeline.walk import Outcome

_ENDINGS = {".txt": "text", ".json": "json"}


@click.command(
    "check",
    epilog=(
        'Examples: pi-diagnose "forgot yesterday" · pi-diagnose "忘了昨天" --format json ·'
        ' pi-diagnose "forgot yesterday" --case stale-renamed'
    ),
)
@click.argument("symptom", nargs=-1)
@case_options
@click.option("--case", "case_name", metavar="NAME", help="Diagnose a recorded case (see `cases`).")
@click.option("--select", metavar="CODES", help="Ask only these rules: PI301,PI5 (a beginning).")
@click.option("--ignore", metavar="CODES", help="Ask all but these rules.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note", "never"]),
    default="error",
    help="Exit with 1 on a finding of this level or above; default: error.",
)
@output_options(["text", "json"])
@click.option("-v", "--verbose", is_flag=True, help="Notes in full, and the outcome of every rule.")
@click.option("-q", "--quiet", is_flag=True, help="The verdict alone.")
def command(**options: Any) -> int:
    """Walk storage, branch, compaction and source, and say which layer lost the fact.

    SYMPTOM is a few words in English or Chinese: forgot, outdated, repeated, lost the details,
    wrong project; a day; the rest is what it is about. Without one, everything is looked at.
    """
    with ExitStack() as stack:
        if options["case_name"] is not None:
            stack.enter_context(_recorded_case(options))
        return _check(options)


@contextmanager
def _recorded_case(options: dict[str, Any]) -> Iterator[None]:
    """Unpack a recorded case into a temporary folder and aim the options at it."""
    import tempfile  # noqa: PLC0415 (it and the cases only where one is asked for)
    from importlib import import_module  # noqa: PLC0415

    casefiles = import_module("diagnose.casefiles")
    for name in ("agent_dir", "session_dir", "project"):
        if options[name] is not None:
            flag = f"--{name.replace('_', '-')}"
            raise Fault(f"--case brings its own folders; {flag} does not go with it", EXIT_CALL)
    with tempfile.TemporaryDirectory(prefix="pi-diagnose-") as folder:
        try:
            case = casefiles.unpack(options["case_name"], Path(folder).resolve())
        except casefiles.CaseError as error:
            raise Fault(str(error), EXIT_CALL) from error
        options["agent_dir"] = str(case.agent_dir)
        options["project"] = str(case.project)
        options["cwd"] = options["cwd"] or case.cwd
        options["now"] = options["now"] or case.now
        options["session"] = options["session"] or case.session
        options["events"] = options["events"] or (str(case.events) if case.events else None)
        if not options["symptom"]:
            options["symptom"] = (case.symptom,)
        # The person's own Pi has no part in a recorded case.
        for name in ("PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"):
            os.environ.pop(name, None)
        yield


def _check(options: dict[str, Any]) -> int:
    # Imported here, so that `--help` loads click alone.
    from diagnose.cli.faults import as_faults  # noqa: PLC0415
    from diagnose.cli.progress import following  # noqa: PLC0415
    from diagnose.pipeline.document import document  # noqa: PLC0415
    from diagnose.pipeline.opening import Request, open_case  # noqa: PLC0415
    from diagnose.pipeline.question import ask, parse_now  # noqa: PLC0415
    from diagnose.pipeline.registry import pipeline  # noqa: PLC0415
    from diagnose.pipeline.verdict import decide  # noqa: PLC0415
    from diagnose.pipeline.walk import walk  # noqa: PLC0415

    rules = select(pipeline(), options["select"], options["ignore"])
    where = zone(options["tz"])
    format_ = choose_format(options["format_"], options["output"], _ENDINGS)
    # A text shows no digest: to work it out for 100 MB takes a tenth of all the time.
    digests = format_ != "text"
    with as_faults():
        now = parse_now(options["now"], where)
        symptom = " ".join(options["symptom"])
        request = Request(
            ask(symptom, now, where, options["day"], options["about"]),
            options["cwd"],
            options["project"],
            options["agent_dir"],
            options["session_dir"],
            options["session"],
            options["events"],
            digests,
        )
        with following("reading the session") as told:
            case = open_case(request, os.environ)
            outcomes = walk(case, rules, lambda rule: told(f"{rule.code} {rule.name}"))
            verdict = decide(case, outcomes, complete=len(rules) == len(pipeline()))
            report = document(case, outcomes, verdict, now, digests=digests)
    emit(lambda out: _write(report, format_, options, out), options["output"])
    for path, reason in case.unreadable.items():
        say(f"{path}: {reason}; passed over")
    return _exit_status(report, outcomes, options["fail_on"])


def _write(report: dict[str, Any], format_: str, options: dict[str, Any], out: IO[str]) -> None:
    if format_ == "json":
        from diagnose.report.json import to_json  # noqa: PLC0415

        out.write(to_json(report) + "\n")
        return
    from diagnose.report.text import write_text  # noqa: PLC0415

    detail = -1 if options["quiet"] else int(options["verbose"])
    write_text(report, out, style(options["color"], detail, to_file=bool(options["output"])))


def select(rules: tuple[Rule, ...], chosen: str | None, ignored: str | None) -> tuple[Rule, ...]:
    """Return the rules whose codes begin with what was chosen, less those that were ignored."""
    wanted, unwanted = _codes(rules, "--select", chosen), _codes(rules, "--ignore", ignored)
    return tuple(
        rule
        for rule in rules
        if (not wanted or rule.code.startswith(wanted))
        and not (unwanted and rule.code.startswith(unwanted))
    )


def _codes(rules: tuple[Rule, ...], flag: str, given: str | None) -> tuple[str, ...]:
    codes = tuple(code.strip().upper() for code in (given or "").split(",") if code.strip())
    for code in codes:
        if not any(rule.code.startswith(code) for rule in rules):
            from difflib import get_close_matches  # noqa: PLC0415 (only where a code is wrong)

            near = get_close_matches(code, [rule.code for rule in rules], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise Fault(f"{flag} {code}: no rule has this code{hint}", EXIT_CALL)
    return codes


def _exit_status(report: dict[str, Any], outcomes: list[Outcome], fail_on: str) -> int:
    order = ["note", "warning", "error"]
    if fail_on != "never":
        threshold = order.index(fail_on)
        if any(order.index(found["level"]) >= threshold for found in report["findings"]):
            return EXIT_FOUND
    failed = [outcome for outcome in outcomes if outcome.outcome == "failed"]
    for outcome in failed:
        say(f"{outcome.rule.code} failed: {outcome.reason}")
    return EXIT_NOTHING if failed and not report["findings"] else 0

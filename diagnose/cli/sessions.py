"""`pi-diagnose sessions`: the sessions of this project, as Pi's picker orders them."""

from __future__ import annotations

import os
from typing import IO, Any

import click

from diagnose.cli.main import EXIT_NOTHING, Fault
from diagnose.cli.options import choose_format, emit, output_options, place_options, style, zone

_ENDINGS = {".txt": "text", ".json": "json"}


@click.command("sessions", epilog="Examples: pi-diagnose sessions · pi-diagnose sessions --all")
@click.option("--all", "everywhere", is_flag=True, help="The sessions of every project.")
@place_options
@click.option("--tz", metavar="ZONE", help="The time zone of days, such as Asia/Shanghai.")
@output_options(["text", "json"])
def command(**options: Any) -> int:
    """List the sessions of this project, the latest activity first, as Pi's picker has them.

    Each with its name or first prompt, days of activity, branches, compactions and size. An arrow
    marks the session that `pi --continue` opens; an exclamation mark, one with something wrong.
    """
    from diagnose.cli.faults import as_faults  # noqa: PLC0415 (kept out of --help)
    from diagnose.cli.progress import following  # noqa: PLC0415
    from diagnose.pipeline.listing import list_sessions  # noqa: PLC0415
    from diagnose.pipeline.opening import place  # noqa: PLC0415

    with as_faults():
        found = place(options["cwd"], options["agent_dir"], options["session_dir"], os.environ)
    where = zone(options["tz"])
    with following("reading the sessions") as told:
        listed = list_sessions(
            found.folder, found.cwd, where, everywhere=options["everywhere"], told=told
        )
    if not listed:
        raise Fault(f"there is no session for {found.cwd} in {found.folder.path}", EXIT_NOTHING)
    rows = [one.to_dict(where) for one in listed]
    format_ = choose_format(options["format_"], options["output"], _ENDINGS)

    def write(out: IO[str]) -> None:
        if format_ == "json":
            from diagnose.report.json import to_json  # noqa: PLC0415

            out.write(to_json(rows) + "\n")
            return
        from diagnose.report.sessions import write_sessions  # noqa: PLC0415

        drawn = style(options["color"], 0, to_file=bool(options["output"]))
        write_sessions(rows, out, drawn, everywhere=options["everywhere"])

    emit(write, options["output"])
    return 0

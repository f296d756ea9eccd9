"""Options that several commands share, and where their output goes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from diagnose.cli.main import EXIT_CALL, Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from diagnose.report.text import Style

# Where Pi's sessions are: as Pi's own options and environment say it.
_PLACE: tuple[Callable[[Any], Any], ...] = (
    click.option("--cwd", metavar="DIR", help="The working directory as Pi saw it; default: here."),
    click.option("--agent-dir", metavar="DIR", help="Pi's agent folder; default: as Pi finds it."),
    click.option("--session-dir", metavar="DIR", help="The session folder, as Pi's own option."),
)
_CASE: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--session", metavar="PATH|ID", help="The session to examine; an id may be shortened."
    ),
    *_PLACE,
    click.option("--project", metavar="DIR", help="Where the project is now, if not at --cwd."),
    click.option(
        "--day", metavar="DAY", help="yesterday, today, a weekday, a date; default: the symptom's."
    ),
    click.option("--now", metavar="TIME", help="Take this for the present moment (ISO 8601)."),
    click.option("--tz", metavar="ZONE", help="The time zone of days, such as Asia/Shanghai."),
    click.option("--events", metavar="FILE", help="A capture of `pi --mode json` or RPC mode."),
    click.option("--about", metavar="TEXT", help="What was forgotten; default: the symptom's."),
)


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where sessions are."""
    for decorate in reversed(_PLACE):
        function = decorate(function)
    return function


def case_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which case is meant."""
    for decorate in reversed(_CASE):
        function = decorate(function)
    return function


def output_options(formats: list[str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options that say how and where to the output goes."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        function = click.option(
            "--color",
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            help="Colour: on a terminal alone (auto), always, never.",
        )(function)
        function = click.option(
            "-o", "--output", metavar="FILE", help="Write there instead of standard output."
        )(function)
        return click.option(
            "--format",
            "format_",
            type=click.Choice(formats),
            help=f"How to write it; default: {formats[0]}, or by the ending of -o.",
        )(function)

    return add


def zone(name: str | None) -> tzinfo | None:
    """Return a time zone by its name; None, which is the system's, without one."""
    if name is None:
        return None
    from zoneinfo import ZoneInfo  # noqa: PLC0415 (only where it is asked for)

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Fault(f"--tz {name}: no time zone of this name is known here", EXIT_CALL) from error


def is_terminal(stream: IO[str]) -> bool:
    """Tell whether a stream is a terminal."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def style(color: str, detail: int, *, to_file: bool) -> Style:
    """Return how to draw for standard output, or for a file."""
    from diagnose.report.text import Style  # noqa: PLC0415 (only where text is written)

    terminal = not to_file and is_terminal(sys.stdout)
    wanted = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    colour = color == "always" or (color == "auto" and wanted)
    encoding = "utf-8" if to_file else (sys.stdout.encoding or "ascii")
    width = 80
    if terminal or os.environ.get("COLUMNS"):
        from shutil import get_terminal_size  # noqa: PLC0415 (a pipe has no width)

        width = get_terminal_size().columns
    return Style(width, colour, encoding.lower().replace("-", "").startswith("utf"), detail)


def emit(write: Callable[[IO[str]], None], output: str | None) -> None:
    """Let `write` fill standard output or a file; a file that is evidence is never overwritten."""
    if output is None or output == "-":
        # A terminal that cannot show a character is shown its escape instead.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        write(sys.stdout)
        return
    path = Path(output)
    # A link in a stranger's project may lead to what is not to be written to.
    places = (path.absolute(), Path(os.path.realpath(path)))
    if any(one.suffix.lower() == ".jsonl" or ".git" in one.parts for one in places):
        raise Fault(
            f"-o {output}: sessions and repositories are evidence; not overwritten", EXIT_CALL
        )
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            write(file)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Fault(f"-o {output}: {reason}", EXIT_CALL) from error


def choose_format(given: str | None, output: str | None, endings: dict[str, str]) -> str:
    """Return the format that was asked for, else the one that the file's ending names."""
    if given:
        return given
    suffix = Path(output).suffix.lower() if output else ""
    return endings.get(suffix, next(iter(endings.values())))

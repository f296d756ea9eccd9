"""The command `pi-diagnose`: its subcommands, and how every fault reaches a person."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Final

import click

from diagnose import __version__

# A command and the module that holds it; a module is imported when its command is asked for.
_COMMANDS: Final = ("check", "sessions", "context", "rules", "explain", "cases")
_DEFAULT: Final = "check"
_DEBUG: Final = "PI_DIAGNOSE_DEBUG"

EXIT_FOUND: Final = 1
EXIT_CALL: Final = 2
EXIT_NOTHING: Final = 3
_EXIT_INTERRUPTED: Final = 130
_EXIT_PIPE: Final = 141
# Garbage is looked for after so many objects more than before.
_OBJECTS: Final = 200_000


class _Commands(click.Group):
    """The commands by name; what is no command's name begins a symptom, and means `check`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"diagnose.cli.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0] not in own and args[0] not in _COMMANDS:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Example: pi-diagnose "forgot yesterday"',
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Say which layer of a Pi session lost the fact: storage, branch, compaction or source.

    A symptom in place of a command is checked: pi-diagnose "forgot yesterday".
    """


class Fault(click.ClickException):
    """A fault that a person meets: one line, and the exit status that tells its kind."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def run() -> None:
    """Run the command and end the process; no traceback reaches a person."""
    # What is read stays until the end: to look through it for garbage again and again finds none.
    gc.set_threshold(_OBJECTS)
    status = _status()
    # At its end Python looks through all that there is, several times; the process goes anyway.
    gc.freeze()
    sys.exit(status)


def _status() -> int:
    try:
        status = cli.main(prog_name="pi-diagnose", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        error.show()
        return EXIT_CALL
    except Fault as fault:
        return say(fault.message, fault.status)
    except click.ClickException as error:
        return say(error.format_message(), EXIT_CALL)
    except (click.Abort, KeyboardInterrupt):
        return say("interrupted", _EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has left; what Python flushes at its end would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _EXIT_PIPE
    except Exception as error:
        if os.environ.get(_DEBUG):
            raise
        what = f"{type(error).__name__}: {error}"
        return say(f"a fault of its own: {what}; {_DEBUG}=1 shows where", EXIT_NOTHING)
    return status if isinstance(status, int) else 0


def say(text: str, status: int = 0) -> int:
    """Tell a person something in one line beside the output; return the status."""
    from diagnose.report.escape import visible  # noqa: PLC0415 (faults alone need it)

    line = visible(" ".join(text.split()))
    sys.stderr.write(f"pi-diagnose: {line}\n".encode("utf-8", "replace").decode("utf-8"))
    return status

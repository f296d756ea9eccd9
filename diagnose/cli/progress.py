"""Progress of what takes over a second: on standard error, on a terminal only."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from diagnose.cli.options import is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE = 1.0  # seconds


@contextmanager
def following(first: str) -> Iterator[Callable[[str], None]]:
    """Show what is being done once it has taken a second; the caller tells each next step."""
    if not is_terminal(sys.stderr):
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 (a pipe needs none of it)
    from rich.status import Status  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    from diagnose.report.escape import visible  # noqa: PLC0415

    status = Status(first, console=Console(stderr=True))
    timer = threading.Timer(_PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        # The names of files are a stranger's, and no markup.
        yield lambda text: status.update(Text(visible(text)))
    finally:
        timer.cancel()
        timer.join()
        status.stop()

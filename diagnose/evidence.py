"""Opening a file as evidence: for reading alone, regular files alone, leaving no trace of it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


class UnreadableError(Exception):
    """A file that cannot be read as evidence; the text is one line for a person."""

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = str(path)
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def reason_of(error: OSError | ValueError) -> str:
    """Return why the system refused, in a few words."""
    said = error.strerror if isinstance(error, OSError) else None
    return (said or str(error)).lower()


def open_evidence(path: Path | str) -> BinaryIO:
    """Open a regular file for reading alone; raise UnreadableError on anything else.

    A FIFO or a device is never waited for, and the access time is left as it was where the
    system allows it.
    """
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    try:
        try:
            handle = os.open(path, flags | getattr(os, "O_NOATIME", 0))
        except PermissionError:
            # Only the owner may leave the access time alone.
            handle = os.open(path, flags)
    except FileNotFoundError as error:
        raise UnreadableError(path, "there is no such file") from error
    except (OSError, ValueError) as error:
        raise UnreadableError(path, reason_of(error)) from error
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        kind = "it is a folder" if stat.S_ISDIR(mode) else "it is no regular file"
        raise UnreadableError(path, kind)
    return os.fdopen(handle, "rb")

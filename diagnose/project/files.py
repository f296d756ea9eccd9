"""The project's files as they are now, read as evidence and never followed outside the project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.evidence import UnreadableError, open_evidence, reason_of

if TYPE_CHECKING:
    from pathlib import Path

# A larger file (bytes) is not compared: a session's tool results hold 50 KB at most.
SIZE_LIMIT: Final = 32 * 1024 * 1024


class FileNow(msgspec.Struct, frozen=True):
    """A file of the project: its bytes, or why they cannot be had."""

    data: bytes | None
    # "" where the bytes are there; "absent" where there is no such file
    obstacle: str = ""

    @property
    def is_absent(self) -> bool:
        """Whether there is nothing under that name."""
        return self.obstacle == "absent"


ABSENT: Final = FileNow(None, "absent")


def _is_inside(real: str, root: Path) -> bool:
    """Tell whether a path without symlinks is the root or below it, the root's followed too."""
    real_root = os.path.realpath(root)
    return real == real_root or real.startswith(real_root.rstrip("/") + "/")


def read_file(path: Path, root: Path) -> FileNow:
    """Read a file below `root`; anything outside or no plain file is not opened."""
    try:
        real = os.path.realpath(path)
        if not _is_inside(real, root):
            return FileNow(None, "it leads out of the project")
        # Whether it is there at all: to follow the links strictly asks for every folder once more.
        os.stat(path)  # noqa: PTH116 (the status is not needed)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except (OSError, ValueError) as error:
        return FileNow(None, reason_of(error))
    try:
        with open_evidence(real) as file:
            if os.fstat(file.fileno()).st_size > SIZE_LIMIT:
                return FileNow(None, f"it is larger than {SIZE_LIMIT // 2**20} MiB")
            return FileNow(file.read(SIZE_LIMIT + 1))
    except UnreadableError as error:
        return FileNow(None, error.reason)
    except OSError as error:
        return FileNow(None, reason_of(error))

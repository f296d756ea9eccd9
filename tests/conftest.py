"""How the tests run: on machines that are slow now and then, so that no example has a deadline."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

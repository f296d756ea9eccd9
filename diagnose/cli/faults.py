"""What the rooms below raise, as faults that a person meets, each with its exit status."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from diagnose.cli.main import EXIT_CALL, EXIT_NOTHING, Fault
from diagnose.evidence import UnreadableError
from diagnose.pipeline.opening import CallError, NothingToExamineError
from diagnose.pipeline.question import QuestionError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def as_faults() -> Iterator[None]:
    """Turn what is wrong with the call into exit status 2, and what cannot be read into 3."""
    try:
        yield
    except (QuestionError, CallError) as error:
        raise Fault(str(error), EXIT_CALL) from error
    except (NothingToExamineError, UnreadableError) as error:
        raise Fault(str(error), EXIT_NOTHING) from error

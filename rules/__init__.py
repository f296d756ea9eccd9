"""The rules, in the order in which they are asked; a file that is not named here does not run."""

from .storage.other_session import other_session

PIPELINE = (other_session,)

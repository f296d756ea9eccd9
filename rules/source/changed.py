"""A file is no longer what was observed.

What it finds
    Files that the branch's tool results recorded and whose content now differs. A note where the
    session's own commands name the file and committed the change: the model was told.
Why it matters
    What was observed yesterday is not a fact of today; the model answers from what it was sent.
What proves it
    The tool result, the file as it is now, and the commits that touched it since.
    Where the session itself changed the file, whether the lines that it brought are still there,
    and its own command that threw them away (`git checkout`, `restore`, `reset`, `stash`).
What it cannot tell
    Whether the change matters to what was asked. Where only part of a file was seen, only that part
    is compared.
What to do
    Have the agent read the file again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.effects import parts
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.observed import since, tell
from diagnose.sessions.calls import each_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.pipeline.observed import Told
    from diagnose.sessions.calls import PairedCall

# Git commands that put another content in the place of the working tree's.
_THROWS_AWAY = ("checkout", "restore", "reset", "stash")


@rule("PI501", "changed", layer="source", levels=("error", "warning", "note"), verdict="outdated")
def changed(case: Case) -> Iterator[Finding]:
    """Find observed files whose content differs now."""
    for told in tell(case, "changed"):
        state = told.state
        counts = ""
        if state.added is not None and state.removed is not None:
            counts = f": {state.added} lines more, {state.removed} lines fewer"
        reason = f" ({state.reason})" if state.reason else ""
        undone = _undoing(case, told)
        by = f" (the session's own command in {named(undone.entry)})" if undone else ""
        yield Finding(
            f"{told.name} differs from what was {told.how}{counts}{reason};"
            f" {since(case, state)}{_own_change(case, told)}{by}{told.own}",
            (*told.evidence, *((case.evidence(undone.entry),) if undone else ())),
            level=told.level,
            remedy=(Remedy(f"Have the agent read {told.name} again."),),
        )


def _undoing(case: Case, told: Told) -> PairedCall | None:
    """Return the session's own command that threw its last change of a file away, if any did."""
    if not told.observation.changed_by_session or told.own:
        return None
    name = told.path.rsplit("/", 1)[-1]
    line = told.observation.result.line
    after = [c for c in case.commands_run if c.entry.line > line and not _failed(c)]
    for call, given in each_arguments(case.opened, after):
        command = given.get("command")
        for part in parts(command) if isinstance(command, str) else []:
            plain = [word for word in part.words if word]
            if plain[:1] == ["git"] and len(plain) > 1 and plain[1] in _THROWS_AWAY:
                everything = plain[1] in ("stash", "reset") or "." in plain[2:]
                if everything or any(word.endswith(name) for word in plain[2:]):
                    return call
    return None


def _failed(call: PairedCall) -> bool:
    return bool(call.result and call.result.message and call.result.message.is_error)


def _own_change(case: Case, told: Told) -> str:
    """Say what is left of the session's own change of a file, "" where it made none."""
    one = told.observation
    now = case.project.file(told.path).data
    if not one.changed_by_session or now is None:
        return ""
    known = one.contents(case.opened).text
    before = one.text_before_changes(case.opened)
    text = now.decode("utf-8", "replace")
    if before and text == before:
        return "; what the session itself changed there is gone: it is as it was before"
    if known is None or before is None:
        return "; the session itself changed it"
    own = {line for line in known.splitlines() if line.strip()}.difference(before.splitlines())
    left = len(own.intersection(text.splitlines()))
    if own and not left:
        return "; what the session itself changed there is gone"
    if left < len(own):
        return f"; of the {len(own)} lines that the session itself brought, {left} are still there"
    return "; what the session itself brought is still in it" if own else ""

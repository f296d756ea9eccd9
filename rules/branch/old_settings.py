"""The model, thinking level or tools that the branch restores are not those used before.

What it finds
    The last model or thinking level on the active branch differs from the last one in the file; a
    model that was chosen on the branch and did not answer, or no more: a reply after it names
    another; and tools that the branch had and that a system message, or the system message of a
    compaction, took away.
Why it matters
    Pi takes both from the branch. After `/tree` to an old place the old model answers again, and a
    model that is not available is replaced. Some Pis dropped tools on opening a session again. The
    agent then answers otherwise, or has not the tool that it used; it has lost nothing of what was
    said.
What proves it
    The entries that set them, by line.
What it cannot tell
    Which model answers next: Pi may be told so on the command line. Whether a tool was taken away
    on purpose.
What to do
    Choose the model with `/model` again; look which tools are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.case import named
from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.context import tool_names
from diagnose.sessions.javascript import get, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry, Message

# So many tools of an entry are named.
_SHOWN = 10


@rule("PI210", "old-settings", layer="branch", levels=("note",))
def old_settings(case: Case) -> Iterator[Finding]:
    """Find a model or thinking level that the branch brings back."""
    for name, last_setting, read in (
        ("model", _last_model, _model),
        ("thinking level", _last_level, _level),
    ):
        here, last = last_setting(case.branch), last_setting(case.tree.live)
        if here is None or last is None or here is last:
            continue
        restored, latest = read(case, here), read(case, last)
        if restored != latest:
            yield Finding(
                f"the branch restores the {name} {restored} (line {here.line}); the file's latest"
                f" is {latest} (line {last.line}), beside the active branch",
                (case.evidence(here, restored), case.evidence(last, latest)),
                remedy=(Remedy(f"Choose the {name} again, where the latest is wanted."),),
            )
    yield from _replaced(case)
    yield from _taken_away(case)


def _replaced(case: Case) -> Iterator[Finding]:
    """Find a chosen model in whose place another answered."""
    chosen = next((e for e in reversed(case.branch) if e.type == "model_change"), None)
    if chosen is None:
        return
    wanted = _model(case, chosen)
    place = case.branch.index(chosen)
    # It may have answered for a day: Pi writes no entry where it takes another on opening.
    other = _first_other(case, case.branch[place:], wanted)
    if other is not None:
        answered = _model(case, other)
        yield Finding(
            f"line {chosen.line} chose the model {wanted}, and {answered} answered in line"
            f" {other.line}: the chosen one could not be used, or was replaced",
            (case.evidence(chosen, wanted), case.evidence(other, answered)),
            remedy=(Remedy("Look whether the chosen model is still available (/model)."),),
        )


def _first_other(case: Case, entries: list[Entry], wanted: str) -> Entry | None:
    """Return the first reply of another model than the wanted one."""
    before: Message | None = None
    for entry in entries:
        message = entry.message
        if message is None or entry.role != "assistant":
            continue
        # The names are kept once: the next reply's are mostly the very same.
        same = before and message.provider is before.provider and message.model is before.model
        if not same and _model(case, entry) != wanted:
            return entry
        before = message
    return None


def _taken_away(case: Case) -> Iterator[Finding]:
    """Find tools that the branch had and has no more, by the entry that took them away."""
    had: dict[str, Entry] = {}
    gone: dict[str, tuple[Entry, Entry]] = {}
    for entry in case.branch:
        if entry.role == "system":
            system = get(case.value(entry), "message")
        elif entry.boundary is not None and entry.boundary.has_system:
            # All that holds from here on.
            system = get(case.value(entry), "systemMessage")
            kept = set(tool_names(get(system, "toolsAdded")))
            gone |= {name: (entry, since) for name, since in had.items() if name not in kept}
            had = {name: had.get(name, entry) for name in kept}
        else:
            continue
        for name in tool_names(get(system, "toolsRemoved")):
            if name in had:
                gone[name] = (entry, had.pop(name))
        for name in tool_names(get(system, "toolsAdded")):
            had.setdefault(name, entry)
            gone.pop(name, None)
    by_entry: dict[int, list[str]] = {}
    for name, (entry, _) in gone.items():
        by_entry.setdefault(entry.line, []).append(name)
    for names in by_entry.values():
        entry, since = gone[names[0]]
        shown = ", ".join(shortened(name) for name in names[:_SHOWN])
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        yield Finding(
            f"{named(entry)} of {case.clock(entry.time)} took away {shown}{more}, offered to the"
            f" model since line {since.line}: nothing that was said is lost by it",
            (case.evidence(entry, shown), case.evidence(since)),
            remedy=(Remedy("Look which tools are on, and which extension brings them."),),
        )


def _last_model(entries: list[Entry]) -> Entry | None:
    settings = (e for e in reversed(entries) if e.type == "model_change" or e.role == "assistant")
    return next(settings, None)


def _last_level(entries: list[Entry]) -> Entry | None:
    return next((e for e in reversed(entries) if e.type == "thinking_level_change"), None)


def _model(case: Case, entry: Entry) -> str:
    if entry.message is not None:
        provider, model = entry.message.provider, entry.message.model
    else:
        value = case.value(entry)
        provider, model = get(value, "provider"), get(value, "modelId")
    return shortened(f"{to_text(provider)}/{to_text(model)}")


def _level(case: Case, entry: Entry) -> str:
    return shortened(to_text(get(case.value(entry), "thinkingLevel")))

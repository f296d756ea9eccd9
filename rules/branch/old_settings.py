"""The model or thinking level that the branch restores is not what was used last.

What it finds
    The last model or thinking level on the active branch differs from the last one in the file; and
    a model that was chosen on the branch and did not answer: the replies after it name another.
Why it matters
    Pi takes both from the branch. After `/tree` to an old place the old model answers again, and a
    model that is not available is replaced. The agent then answers otherwise; it has lost nothing.
What proves it
    The entries that set them, by line.
What it cannot tell
    Which model answers next: Pi may be told so on the command line.
What to do
    Choose the model with `/model` again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnose.pipeline.finding import Finding, Remedy, rule
from diagnose.pipeline.words import shortened
from diagnose.sessions.javascript import get, to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from diagnose.pipeline.case import Case
    from diagnose.sessions.entry import Entry


@rule("PI210", "old-settings", layer="branch", levels=("note",))
def old_settings(case: Case) -> Iterator[Finding]:
    """Find a model or thinking level that the branch brings back."""
    for name, is_setting, read in (
        ("model", _sets_model, _model),
        ("thinking level", _sets_level, _level),
    ):
        here = next((e for e in reversed(case.branch) if is_setting(e)), None)
        last = next((e for e in reversed(case.tree.live) if is_setting(e)), None)
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


def _replaced(case: Case) -> Iterator[Finding]:
    """Find a chosen model in whose place another answered."""
    chosen = next((e for e in reversed(case.branch) if e.type == "model_change"), None)
    if chosen is None:
        return
    replies = [e for e in case.branch if e.line > chosen.line and e.role == "assistant"]
    if not replies:
        return
    wanted, answered = _model(case, chosen), _model(case, replies[0])
    if wanted != answered:
        yield Finding(
            f"line {chosen.line} chose the model {wanted}, and {answered} answered in line"
            f" {replies[0].line}: the chosen one could not be used, or was replaced",
            (case.evidence(chosen, wanted), case.evidence(replies[0], answered)),
            remedy=(Remedy("Look whether the chosen model is still available (/model)."),),
        )


def _sets_model(entry: Entry) -> bool:
    return entry.type == "model_change" or entry.role == "assistant"


def _sets_level(entry: Entry) -> bool:
    return entry.type == "thinking_level_change"


def _model(case: Case, entry: Entry) -> str:
    if entry.message is not None:
        provider, model = entry.message.provider, entry.message.model
    else:
        value = case.value(entry)
        provider, model = get(value, "provider"), get(value, "modelId")
    return shortened(f"{to_text(provider)}/{to_text(model)}")


def _level(case: Case, entry: Entry) -> str:
    return shortened(to_text(get(case.value(entry), "thinkingLevel")))

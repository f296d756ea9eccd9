"""The answer to the person: the first layer in order with an error, or that all is as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from diagnose.pipeline.finding import LAYERS, Finding, Kind, Layer, Level, Remedy, Rule
from diagnose.pipeline.walk import Outcome, level_of

if TYPE_CHECKING:
    from diagnose.pipeline.case import Case

# "Cannot be found" and "is remembered wrong" are different troubles; each sentence says which.
_ANSWERS: Final[dict[Kind, str]] = {
    "intact": "Nothing is lost",
    "not-stored": "It cannot be found: nothing of it is stored",
    "elsewhere": "It cannot be found here: it is stored elsewhere",
    "off-branch": "It cannot be found: it is stored, but not on the branch that Pi follows",
    "summarised": "It cannot be found whole: the model has a summary, the originals are on disk",
    "not-sent": "It cannot be found: the session shows it, the model is not sent it",
    "never-observed": "It may be remembered wrong: nothing that ran establishes it",
    "outdated": "It is remembered wrong: what was observed no longer holds",
    "damaged": "It cannot be found: the record is damaged",
}


class Verdict(msgspec.Struct, frozen=True):
    """The answer, the layer and rule that give it, and what to do next."""

    kind: Kind
    layer: Layer | None
    rule: str | None
    summary: str
    next: tuple[Remedy, ...]


def decide(case: Case, outcomes: list[Outcome], *, complete: bool = True) -> Verdict:
    """Return the verdict of a walk; `complete` is whether every rule was asked."""
    deciding = _first_error(outcomes)
    if deciding is None:
        return _intact(case, outcomes, complete=complete)
    rule, found = deciding
    answer = _ANSWERS[rule.verdict]
    more = len(found) - 1
    others = f" ({more} more of this kind below)" if more else ""
    remedies = dict.fromkeys(remedy for finding in found for remedy in finding.remedy)
    return Verdict(
        rule.verdict,
        rule.layer,
        rule.code,
        f"{answer}. {sentence(found[0].message)}{others}",
        tuple(remedies),
    )


def sentence(text: str) -> str:
    """Return a message as a sentence of its own: a capital where a word begins it, a full stop."""
    first = text.split(" ", 1)[0]
    # A path or a name is left as it is; only plain words begin with a capital.
    begun = text[:1].upper() + text[1:] if first.isalpha() and first.isascii() else text
    return begun if begun.endswith((".", "。", "!", "?")) else begun + "."


def _first_error(outcomes: list[Outcome]) -> tuple[Rule, list[Finding]] | None:
    for layer in LAYERS:
        for outcome in outcomes:
            if outcome.rule.layer != layer:
                continue
            errors = [f for f in outcome.findings if level_of(outcome.rule, f) == "error"]
            if errors:
                return outcome.rule, errors
    return None


def _has(outcome: Outcome, level: Level) -> bool:
    return any(level_of(outcome.rule, finding) == level for finding in outcome.findings)


def _doubt_of_storage(outcome: Outcome) -> Finding | None:
    """Return the first warning of a rule whose error would be that nothing is stored."""
    if outcome.rule.verdict != "not-stored":
        return None
    return next((f for f in outcome.findings if level_of(outcome.rule, f) == "warning"), None)


def _intact(case: Case, outcomes: list[Outcome], *, complete: bool) -> Verdict:
    unsure = [outcome.rule.code for outcome in outcomes if outcome.is_doubt]
    summary = (
        f"{_ANSWERS['intact']}. What was recorded on {case.day_name}, is stored, on the active"
        " branch and in the context, and nothing that was observed is known to have changed."
    )
    if case.session is None or case.question.day is None:
        summary = f"{_ANSWERS['intact']} that could be found. There was no activity to look at."
    # Where a rule that could have said "not stored" has doubts, what is stored is not all.
    doubt = next((one for one in map(_doubt_of_storage, outcomes) if one is not None), None)
    if doubt is not None and case.session is not None:
        summary = f"{_ANSWERS['intact']} that could be found. {sentence(doubt.message)}"
    if not complete:
        asked = ", ".join(outcome.rule.code for outcome in outcomes)
        summary = f"{_ANSWERS['intact']} by the rules that were asked. They are {asked or 'none'}."
    warned = [o.rule.code for o in outcomes if _has(o, "warning")]
    if warned:
        summary += f" With reservations: {', '.join(warned)}."
    if unsure:
        summary += f" Not looked at: {', '.join(unsure)}."
    return Verdict("intact", None, None, summary, ())

"""What Pi 1.6.0 was recorded to make of files, healthy and damaged; no Pi is needed for this."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from command import run
from comparison import difference

DATA = Path(__file__).parent / "data"
CASES = Path(str(files("diagnose.casefiles")))


def _recorded() -> dict[Path, dict[str, Any]]:
    """Return Pi's answer to each file."""
    answers = {}
    for truth in sorted(CASES.rglob("*.pi-truth.json")):
        answers[truth.with_name(truth.name.replace(".pi-truth.json", ".jsonl"))] = json.loads(
            truth.read_text("utf-8")
        )
    # Not by `splitlines`: texts hold U+2028, which ends no line of JSON.
    for line in (DATA / "damaged.pi-truth.jsonl").read_bytes().rstrip().split(b"\n"):
        answer = json.loads(line)
        answers[DATA / "damaged" / answer["file"]] = answer
    return answers


def _as_ours(answer: dict[str, Any], *, made_up: bool) -> dict[str, Any]:
    """Return a recorded answer with our names; ids that Pi made up are random, and null with us."""
    if answer.get("error"):
        return answer
    stats = {key: value for key, value in answer["stats"].items() if key != "sessionId"}
    answer = {**answer, "leaf_line": answer["leafLine"], "stats": stats}
    if made_up:
        answer["leaf"] = None
        for part in ("branch", "context"):
            answer[part] = [{**item, "entry": None} for item in answer[part]]
    return answer


def test_every_recorded_answer_is_ours_too(tmp_path: Path) -> None:
    recorded = _recorded()
    assert len(recorded) == 188
    ran = run("context", "--format", "jsonl", *recorded, cwd=tmp_path)
    assert ran.status == 1, "21 of the damaged files are refused"
    ours = [json.loads(line) for line in ran.out.rstrip("\n").split("\n")]
    differences = [
        f"{path.name}: {found}"
        for (path, answer), own in zip(recorded.items(), ours, strict=True)
        if (found := difference(own, _as_ours(answer, made_up="v1_linear" in path.name)))
    ]
    assert differences == []

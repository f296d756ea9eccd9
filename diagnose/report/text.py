"""A report for the terminal: the layers, the findings, the verdict, and what to do next."""

from __future__ import annotations

import posixpath
import re
from typing import IO, Any, Final

import msgspec

# It knows the width of each character (Chinese takes two columns), of all Unicodes and of signs
# that are made of several. rich's Console takes 40 ms to draw the same, and this takes five.
from rich.cells import cell_len, chop_cells, set_cell_size

from diagnose.report.escape import one_line, visible

_MARKS: Final = {"ok": "✓", "note": "✓", "warning": "!", "error": "✗", "skipped": "–"}
# For a terminal that cannot show the others.
_PLAIN_MARKS: Final = {"ok": "ok", "note": "ok", "warning": "!!", "error": "XX", "skipped": "--"}
# What a terminal is told (ANSI, SGR) for each style.
_CODES: Final = {
    "bold": "1",
    "dim": "2",
    "green": "32",
    "yellow": "33",
    "cyan": "36",
    "bold red": "1;31",
    "bold green": "1;32",
}
_STYLES: Final = {
    "ok": "green",
    "note": "green",
    "warning": "yellow",
    "error": "bold red",
    "skipped": "dim",
}
_LEVEL_STYLES: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_VERDICT_STYLES: Final = {"intact": "bold green"}
# So many columns are taken for there, however few there are.
_FEWEST: Final = 24
# Below this many columns nothing is set side by side.
_NARROW: Final = 64
# A paragraph beside a mark has so many columns at the least.
_LEAST: Final = 8
_QUOTE: Final = 120
# So many notes are shown before a person asks for all of them.
_NOTES: Final = 20
# A word with the white space around it.
_WORD: Final = re.compile(r"\s*\S+\s*")


class Style(msgspec.Struct, frozen=True):
    """How a report is drawn: columns, colour, marks beyond ASCII, and how much is told.

    `detail` is -1 for the verdict alone, 0 for the usual, 1 for every check.
    """

    width: int = 80
    colour: bool = False
    unicode: bool = True
    detail: int = 0


def write_text(report: dict[str, Any], out: IO[str], style: Style) -> None:
    """Write a finished report to a text stream."""
    drawing = _Drawing(report, style)
    drawing.draw()
    # What ends in spaces is what a pipe or a paste should not carry.
    out.write("".join(line.rstrip() + "\n" for line in drawing.lines))


def _wrapped(text: str, width: int) -> list[str]:
    """Return a text in lines of at most so many columns; only a word that is longer is cut."""
    lines: list[str] = []
    line, taken = "", 0
    for word in _WORD.findall(text):
        needed = cell_len(word.rstrip())
        if needed <= width - taken:
            line, taken = line + word, taken + cell_len(word)
            continue
        if line:
            lines.append(line)
        *whole, line = chop_cells(word, width) if needed > width else [word]
        lines += whole
        taken = cell_len(line)
    return [_cut(one, width) for one in (*lines, line)]


def _cut(line: str, width: int) -> str:
    """Return a line without the white space at its end that is beyond the width."""
    kept = line[: max(len(line.rstrip()), width)]
    return set_cell_size(kept, width) if cell_len(kept) > width else kept


class _Drawing:
    """One report being drawn, line by line."""

    def __init__(self, report: dict[str, Any], style: Style) -> None:
        self.report = report
        self.style = style
        self.width = max(style.width, _FEWEST)
        self.lines: list[str] = []
        self.marks = _MARKS if style.unicode else _PLAIN_MARKS
        subject = report["subject"]
        self.subject_path = subject["path"] if subject else None

    def draw(self) -> None:
        if self.style.detail >= 0:
            self._head()
            self._layers()
            self._findings()
            self._checks()
        self._verdict()

    def _line(self, text: str, indent: int = 0, style: str = "") -> None:
        """Write one paragraph, wrapped, all of it `indent` columns in."""
        self._hang("", indent, text, "", style)

    def _marked(self, mark: str, text: str, indent: int, style: str = "", body: str = "") -> None:
        """Write a mark and beside it a paragraph, whose lines all begin in one column."""
        self._hang(" " * indent + mark, indent + cell_len(mark) + 1, text, style, body)

    def _hang(self, first: str, column: int, text: str, style: str, body: str) -> None:
        """Write a paragraph that begins in a column, with something before its first line."""
        lead = self._styled(first, style) + " " * (column - cell_len(first))
        for line in _wrapped(text, max(self.width - column, _LEAST)):
            self.lines.append(lead + self._styled(line, body))
            lead = " " * column

    def _styled(self, text: str, style: str) -> str:
        """Return a text with what makes a terminal show it in a style, where colours are wanted."""
        if not (text and style and self.style.colour):
            return text
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m"

    def _command(self, command: str, indent: int) -> None:
        """Write a command on one line whatever the width, so that it can be copied."""
        self.lines.append(self._styled(" " * indent + "$ " + visible(command), "bold"))

    def _head(self) -> None:
        question = self.report["question"]
        day, asked = question["day"], question["day_asked"]
        verdict = self.report["verdict"]
        # Whether it cannot be found or is remembered wrong: the first thing that a person reads.
        answer = verdict["summary"].split(". ", 1)[0].rstrip(".")
        style = _VERDICT_STYLES.get(verdict["kind"], "bold red")
        self._line(f"{verdict['kind']}: {visible(answer)}", style=style)
        self._line("")
        self._line(visible(f"symptom: {question['text'] or '(none)'}"))
        if day is None:
            self._line("day: none; nothing was ever recorded")
        elif asked is None:
            self._line(f"day: {day}, the last before today with activity (none was named)")
        elif asked != day:
            self._line(f"day: {day}, the last with activity before {asked}, which was asked about")
        else:
            self._line(f"day: {day}")
        if question["about"]:
            self._line(visible(f"about: {question['about']}"))
        if question["kind"] == "unknown":
            self._line("symptom: not one that is known, so everything is looked at alike")
        subject = self.report["subject"]
        if subject is None:
            self._line("session: none for this working directory")
        else:
            self._line(f"session: {visible(subject['path'])}")
            facts = (
                f"{subject['entries']} entries, {subject['lines']} lines, {subject['bytes']} bytes"
            )
            leaf = f", leaf at line {subject['leaf_line']}" if subject["leaf_line"] else ""
            self._line(facts + leaf, indent=9 if self.style.width >= _NARROW else 2, style="dim")
        self._line("")

    def _layers(self) -> None:
        for layer in self.report["layers"]:
            status = layer["status"]
            mark = f"{self.marks[status]} {layer['layer']:<10}"
            style = _STYLES[status]
            self._marked(mark, visible(layer["summary"]), 0, style)
        self._line("")

    def _findings(self) -> None:
        brief: list[dict[str, Any]] = []
        for finding in self.report["findings"]:
            if finding["level"] == "note" and self.style.detail < 1:
                brief.append(finding)
            else:
                self._finding(finding)
        for finding in brief[:_NOTES]:
            text = f"{visible(finding['message'])} ({self._place(finding['evidence'][0])})"
            self._marked(f"{finding['rule']} note", text, 0, _LEVEL_STYLES["note"])
        if len(brief) > _NOTES:
            self._line(f"and {len(brief) - _NOTES} further notes, which -v shows", style="dim")
        if brief:
            self._line("")

    def _finding(self, finding: dict[str, Any]) -> None:
        level = finding["level"]
        head = f"{finding['rule']} {finding['name']} ({level}, {finding['layer']})"
        self._line(head, style=_LEVEL_STYLES[level])
        self._line(visible(finding["message"]), indent=2)
        for piece in finding["evidence"]:
            self._marked("·" if self.style.unicode else "-", self._evidence(piece), 2, "", "dim")
        for remedy in finding["remedy"]:
            self._marked("→" if self.style.unicode else ">", visible(remedy["text"]), 2)
            if remedy["command"]:
                self._command(remedy["command"], 4)
        self._line("")

    def _short(self, path: str) -> str:
        """Return the name alone of a file that lies beside the session, else the whole path."""
        folder = posixpath.dirname(self.subject_path or "")
        return posixpath.basename(path) if folder and posixpath.dirname(path) == folder else path

    def _place(self, piece: dict[str, Any]) -> str:
        """Return where a piece of evidence is, in as few words as point to it."""
        path = visible(self._short(piece["path"]))
        if piece["commit"]:
            inside = "" if path == "." else f", {path}"
            return f"commit {piece['commit'][:12]}{inside}"
        entry = f" (entry {visible(piece['entry'])})" if piece["entry"] else ""
        if piece["line"] is None:
            return path + entry
        if piece["path"] == self.subject_path:
            return f"line {piece['line']}{entry}"
        return f"{path}, line {piece['line']}{entry}"

    def _evidence(self, piece: dict[str, Any]) -> str:
        quote = one_line(piece["quote"], _QUOTE) if piece["quote"] else ""
        return self._place(piece) + (f": {quote}" if quote else "")

    def _checks(self) -> None:
        checks = self.report["checks"]
        unsure = [check for check in checks if check["outcome"] in ("not-checked", "failed")]
        if self.style.detail > 0:
            for check in checks:
                reason = f": {visible(check['reason'])}" if check["reason"] else ""
                self._line(f"{check['rule']} {check['outcome']}{reason}", style="dim")
            self._line("")
        elif unsure:
            reasons: dict[str, list[str]] = {}
            for check in unsure:
                reasons.setdefault(f"{check['outcome']}: {check['reason']}", []).append(
                    check["rule"]
                )
            for reason, rules in reasons.items():
                self._line(f"{visible(reason)} ({', '.join(rules)})", style="dim")
            self._line("")

    def _verdict(self) -> None:
        verdict = self.report["verdict"]
        where = f" ({verdict['layer']}, {verdict['rule']})" if verdict["layer"] else ""
        style = _VERDICT_STYLES.get(verdict["kind"], "bold red")
        # Its first sentence stands at the head of the report already.
        said = (
            verdict["summary"].split(". ", 1)[-1] if self.style.detail >= 0 else verdict["summary"]
        )
        self._line(f"Verdict: {verdict['kind']}{where}. {visible(said)}", style=style)
        if self.style.detail < 0:
            return
        for step in verdict["next"]:
            self._line(f"Next: {visible(step['text'])}")
            if step["command"]:
                self._command(step["command"], 2)

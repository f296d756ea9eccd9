"""Pi's account of a session for the terminal: one line an entry of the context."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from diagnose.report.escape import fitted, one_line, visible

if TYPE_CHECKING:
    from diagnose.report.text import Style

# The name of a model or of how hard it thinks is cut to so many characters.
_NAME: Final = 60


def write_context(account: dict[str, Any], out: IO[str], style: Style) -> None:
    """Write the account of one file, each entry cut to the width of the terminal."""
    out.write(f"{visible(account['file'])}\n")
    if account["error"]:
        out.write(f"  {visible(account['error'])}\n")
        return
    model = account["model"]
    named = f"{model['provider']}/{model['modelId']}" if model else "none"
    stored, branch, context = account["entries"], len(account["branch"]), len(account["context"])
    out.write(
        f"  stored {stored}, on the branch {branch}, in the context {context}, on the wire"
        f" {len(account['wire'])} messages\n"
    )
    leaf, thinking = account["leaf_line"], one_line(str(account["thinkingLevel"]), _NAME)
    said = f"  leaf: line {leaf}; model {one_line(named, _NAME)}, thinking {thinking}"
    out.write(fitted(said, style.width) + "\n")
    room = max(20, style.width - 34)
    for item in account["context"]:
        entry = visible(item["entry"] or "-")[:8]
        for message in item["messages"]:
            text = fitted(one_line(message["text"], room), room)
            out.write(
                f"  {item['line']:>6}  {entry:<8}  {visible(str(message['role'])):<10.10}  {text}\n"
            )

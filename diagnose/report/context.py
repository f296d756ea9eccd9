"""Pi's account of a session for the terminal: one line an entry of the context."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

from diagnose.report.escape import one_line, visible

if TYPE_CHECKING:
    from diagnose.report.text import Style


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
        f"  leaf: line {account['leaf_line']}; model {visible(named)},"
        f" thinking {visible(str(account['thinkingLevel']))}\n"
    )
    room = max(20, style.width - 34)
    for item in account["context"]:
        entry = visible(item["entry"] or "-")[:8]
        for message in item["messages"]:
            text = one_line(message["text"], room)
            out.write(
                f"  {item['line']:>6}  {entry:<8}  {visible(str(message['role'])):<10.10}  {text}\n"
            )

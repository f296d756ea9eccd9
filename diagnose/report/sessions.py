"""The list of sessions for the terminal: a table that fits it, or blocks where it is narrow."""

from __future__ import annotations

from io import StringIO
from typing import IO, TYPE_CHECKING, Any, Final

from diagnose.report.escape import one_line, visible

if TYPE_CHECKING:
    from diagnose.report.text import Style

# Below this many columns a table cannot hold a title beside its figures.
_NARROW: Final = 78
_TITLE: Final = 200


def write_sessions(
    rows: list[dict[str, Any]], out: IO[str], style: Style, *, everywhere: bool
) -> None:
    """Write the list; `everywhere` adds the working directory of each."""
    # rich and not tabulate: a title in Chinese takes two columns a sign, which tabulate knows only
    # with a further package.
    from rich.console import Console  # noqa: PLC0415 (kept out of JSON)

    drawn = StringIO()
    console = Console(
        file=drawn, width=max(style.width, 24), color_system=None, highlight=False, emoji=False
    )
    (_table if style.width >= _NARROW else _blocks)(rows, console, style, everywhere=everywhere)
    out.write("".join(line.rstrip() + "\n" for line in drawn.getvalue().splitlines()))


def _mark(row: dict[str, Any], style: Style) -> str:
    arrow = "→" if style.unicode else ">"
    return (arrow if row["continued"] else " ") + ("!" if row["trouble"] else " ")


def _days(row: dict[str, Any]) -> str:
    days = row["days"]
    if not days:
        return "no activity"
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}, {len(days)} days"


def _below(row: dict[str, Any], *, everywhere: bool) -> list[str]:
    """Return what stands under a title: where the session was recorded, and what is wrong."""
    lines = [f"in {visible(row['cwd'] or 'an unknown folder')}"] if everywhere else []
    return lines + [f"! {visible(trouble)}" for trouble in row["trouble"]]


def _table(rows: list[dict[str, Any]], console: Any, style: Style, *, everywhere: bool) -> None:
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, expand=True)
    for name in ("", "last activity", "id", "br", "co", "size"):
        right = name in ("br", "co", "size")
        table.add_column(Text(name), no_wrap=True, justify="right" if right else "left")
    table.add_column(Text("name or first prompt, days"), ratio=1, overflow="fold")
    for row in rows:
        title = one_line(row["title"], _TITLE) or "(no prompt)"
        table.add_row(
            Text(_mark(row, style)),
            Text(row["modified"][:16].replace("T", " ")),
            Text(visible(row["id"] or "?")[:13]),
            str(row["branches"]),
            str(row["compactions"]),
            _size(row["bytes"]),
            Text("\n".join([title, _days(row), *_below(row, everywhere=everywhere)])),
        )
    console.print(table)


def _blocks(rows: list[dict[str, Any]], console: Any, style: Style, *, everywhere: bool) -> None:
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    for row in rows:
        head = f"{row['modified'][:16].replace('T', ' ')} {visible(row['id'] or '?')[:13]}"
        lines = [
            one_line(row["title"], _TITLE) or "(no prompt)",
            (
                f"{_days(row)}; branches {row['branches']}, compactions {row['compactions']},"
                f" {_size(row['bytes'])}"
            ),
            *_below(row, everywhere=everywhere),
        ]
        console.print(Text(f"{_mark(row, style)} {head}"))
        for line in lines:
            console.print(Padding(Text(line, overflow="fold"), (0, 0, 0, 3)))


def _size(size: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1000:  # noqa: PLR2004 (decimal units)
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"

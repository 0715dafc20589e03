"""A table as text for a monospaced font."""

from itertools import zip_longest

from channels.markdown.tree import Align, Table, plain
from channels.markdown.width import columns


def aligned(table: Table) -> str:
    """One line a row and one under the head, columns of equal width; wide characters count two."""
    rows = [[plain(cell).strip() for cell in row] for row in table.rows]
    widths = [max(1, *map(columns, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = [" | ".join(_pad(*cell) for cell in zip(row, widths, table.aligns, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def _pad(cell: str, width: int, align: Align) -> str:
    left = {"right": width - columns(cell), "center": (width - columns(cell)) // 2}.get(align, 0)
    return " " * left + cell + " " * (width - columns(cell) - left)

"""Rows of text as a table."""


def align(rows):
    """The cells of each column padded to one width, joined by two spaces."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)) for row in rows]

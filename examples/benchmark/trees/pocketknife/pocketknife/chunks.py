"""Sequences in pieces."""


def chunks(items, size):
    """The items in lists of `size`, the last one shorter when they do not divide."""
    return [list(items[start : start + size]) for start in range(0, len(items), size)]

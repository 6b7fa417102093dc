"""Closed intervals of whole numbers, as (start, end)."""


def merge(intervals):
    """The same points in as few intervals as possible, in order. Intervals that overlap are joined."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged

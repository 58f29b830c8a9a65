"""The edit distance between two texts."""

from __future__ import annotations


def edit_distance(left: str, right: str) -> int:
    """How many characters must be put in, taken out or replaced to make one text the other (Levenshtein)."""
    row = list(range(len(right) + 1))
    for above, character in enumerate(left):
        diagonal, row[0] = row[0], above + 1
        for column, other in enumerate(right, start=1):
            diagonal, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, diagonal + (character != other)),
            )
    return row[-1]

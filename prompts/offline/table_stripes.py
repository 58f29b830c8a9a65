# Count rows and columns without ruled lines: by coloured cells, else by the stripes between the contents.


def edge_lines(array):
    """Borders of coloured cells: heights at which the colour changes over a large part of the width."""
    wide = array.astype(np.int16)
    changes = (np.abs(wide[2:] - wide[:-2]).max(axis=2) > 24).mean(axis=1)
    hits = np.nonzero(changes > 0.3)[0]
    return [
        int(group.mean()) + 1 for group in np.split(hits, np.nonzero(np.diff(hits) > 3)[0] + 1) if len(group)
    ]


def even(positions):
    """Are the steps between positions alike?"""
    steps = np.diff(positions)
    return len(steps) > 0 and steps.min() > 6 and steps.max() < 1.25 * steps.min() + 2


def with_ends(positions, length):
    """The positions, and the ends of the picture where a cell more fits between it and them."""
    if len(positions) < 1:
        return positions
    pitch = np.median(np.diff(positions)) if len(positions) > 1 else max(positions[0], length - positions[0])
    start = [0] if positions[0] > 0.7 * pitch else []
    return start + positions + ([length] if length - positions[-1] > 0.7 * pitch else [])


def stripes(ink):
    """The centres of the bands of rows that hold ink; gaps far narrower than others do not part bands."""
    steps = np.diff(np.concatenate([[0], ink.any(axis=1).astype(np.int8), [0]]))
    starts, ends = np.nonzero(steps == 1)[0], np.nonzero(steps == -1)[0]
    gaps = starts[1:] - ends[:-1]
    if not len(gaps):
        return [(s + e) / 2 for s, e in zip(starts, ends, strict=True)]
    order = np.sort(gaps)
    jumps = order[1:] / np.maximum(order[:-1], 1)
    limit = order[jumps.argmax() + 1] if len(jumps) and jumps.max() > 2 else 0
    cuts = np.nonzero(gaps >= limit)[0]
    firsts, lasts = np.concatenate([starts[:1], starts[cuts + 1]]), np.concatenate([ends[cuts], ends[-1:]])
    return [(s + e) / 2 for s, e in zip(firsts, lasts, strict=True)]


array, scale = pixels_of(picture, 1600)
lines = [edge_lines(array), edge_lines(array.transpose(1, 0, 2))]
lines = [with_ends(found, length) for found, length in zip(lines, array.shape[:2], strict=True)]
axes = show(array, "cells by colour or by empty stripes")
if all(even(found) for found in lines) and min(map(len, lines)) > 2:
    rows, columns, sure = len(lines[0]) - 1, len(lines[1]) - 1, True
    print(f"the colour changes at {len(lines[0])} heights and {len(lines[1])} places across")
else:
    ink = ink_on(array, commonest(array.reshape(-1, 3))[0], 60)
    lines = [stripes(ink), stripes(ink.T)]
    rows, columns = map(len, lines)
    steps = [np.diff(found) for found in lines]
    sure = min(rows, columns) > 1 and all(step.max() < 1.6 * step.min() for step in steps)
    print(f"contents stand in {rows} bands from top to bottom and {columns} from left to right")
for y in lines[0]:
    axes.axhline(y, color="red", lw=0.8)
for x in lines[1]:
    axes.axvline(x, color="blue", lw=0.8)
plt.show()
report(
    rows=rows,
    columns=columns,
    confident=bool(sure),
    why="" if sure else "the cells do not stand in a regular pattern",
)

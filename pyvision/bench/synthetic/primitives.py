"""Questions about a few primitive shapes: crossing lines, touching discs, interlocked rings, nested squares."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pyvision.bench.synthetic.canvas import Canvas, Point
from pyvision.bench.synthetic.geometry import apart, areas, away_from_line, corners, crossings, near
from pyvision.bench.synthetic.scene import BLACK, INKS, WHITE, Dice, Scene, some_inks, two_unlike_inks

_LINES_PX = 640
_DISCS_PX = 560
_LEAST_GAP_PX = 2.0
_RING_RADIUS = 62
_ROUND_SIDES = 48  # sides of the polygon that stands for a circle in the calculations
_NEST_PX = 640


def make_lines(dice: Dice) -> Scene | None:
    """Two polylines of different colours: how often do they cross?

    Difficulty: from two segments each (0) to five (1), from wide margins to narrow ones, from thick strokes to thin.
    The answers 0, 1 and 2 are equally likely; 3 joins them from difficulty 0.5 on, and 4 from 0.9 on.
    Returns None unless the lines cross exactly as often as intended, and clearly.
    """
    wanted = dice.goal.choice(_possible_counts(dice.difficulty))
    one, other = (_line(dice) for _ in range(2))
    places = crossings(one, other)
    if len(places) != wanted or not _cross_clearly(
        one, other, places, dice.between(0.055, 0.028) * _LINES_PX
    ):
        return None
    names = two_unlike_inks(dice.chance)
    page = Canvas(_LINES_PX, _LINES_PX)
    for name, line in zip(names, (one, other), strict=True):
        page.stroke(line, INKS[name], dice.between(5, 2))
    truth = {
        "colours": names,
        "lines": [[list(point) for point in line] for line in (one, other)],
        "crossings": [[round(x, 1), round(y, 1)] for x, y in places],
    }
    question = f"How many times do the {names[0]} and {names[1]} lines intersect? Answer with a number."
    return Scene(question, wanted, (page,), "integer", "intersections", truth)


def _possible_counts(difficulty: float) -> list[int]:
    return [0, 1, 2] + [3] * (difficulty >= 0.5) + [4] * (difficulty >= 0.9)


def _line(dice: Dice) -> list[Point]:
    """Corners at even steps in x, on whole pixels, so that calculations with them are exact."""
    segments = dice.whole(2, 5)
    return [
        (
            round(_LINES_PX * (0.06 + 0.88 * k / segments)),
            dice.chance.randint(_LINES_PX // 16, _LINES_PX - _LINES_PX // 16),
        )
        for k in range(segments + 1)
    ]


def _cross_clearly(one: list[Point], other: list[Point], places: list[Point], margin: float) -> bool:
    """No corner lies near the other line, and no two crossings lie near each other."""
    corners = min(
        *(away_from_line(point, other) for point in one), *(away_from_line(point, one) for point in other)
    )
    crossed = min((apart(a, b) for i, a in enumerate(places) for b in places[:i]), default=margin * 2)
    return corners >= margin and crossed >= margin * 2


def make_discs(dice: Dice) -> Scene | None:
    """Two filled circles: do they touch or overlap?

    Difficulty: the gap between the edges, or the depth of the overlap, shrinks from about a third of the smaller
    radius (0) to two or three pixels (1). Gaps of zero are not drawn: no raster image could show them.
    Returns None when the pixels do not show what was intended.
    """
    contact, chance = dice.goal.random() < 0.5, dice.chance
    radii = [chance.uniform(45, 110) for _ in range(2)]
    gap = (
        _LEAST_GAP_PX
        + chance.uniform(0.0, 2.0)
        + dice.between(0.33, 0.0) * min(radii) * chance.uniform(0.6, 1.0)
    )
    reach, angle = sum(radii) + (-gap if contact else gap), chance.uniform(0, 2 * math.pi)
    step = (math.cos(angle), math.sin(angle))
    centres = [
        (_DISCS_PX / 2 + sign * step[0] * reach * share, _DISCS_PX / 2 + sign * step[1] * reach * share)
        for sign, share in ((1, radii[1] / sum(radii)), (-1, radii[0] / sum(radii)))
    ]
    names = some_inks(chance, 2)
    page = Canvas(_DISCS_PX, _DISCS_PX)
    for centre, radius, name in zip(centres, radii, names, strict=True):
        page.disc(centre, radius, fill=INKS[name])
    if len(areas(~near(page.pixels(), WHITE, 55))) != (1 if contact else 2):
        return None
    truth = {
        "discs": [[round(x, 2), round(y, 2), round(r, 2)] for (x, y), r in zip(centres, radii, strict=True)],
        "colours": names,
        "gap_px": round(apart(centres[0], centres[1]) - sum(radii), 2),
    }
    question = "Are the two circles touching or overlapping? Answer Yes or No."
    return Scene(question, "Yes" if contact else "No", (page,), "yes_no", "contact", truth)


def make_rings(dice: Dice) -> Scene | None:
    """A chain of outlines that cross their neighbours like the Olympic rings: how many are there?

    Difficulty: from three to five outlines (0) up to eight to twelve (1), drawn thinner, in closer rows, and more
    often all in one colour. Half of the images show circles, half pentagons.
    Returns None when the faces in the pixels are not those that the outlines enclose.
    """
    count = dice.goal.randint(dice.whole(3, 8), dice.whole(5, 12))
    shape, centres = dice.goal.choice(("circle", "pentagon")), _ring_centres(dice, count)
    page = Canvas(*_rings_size(centres))
    width = dice.between(4.5, 2.2)
    for centre, ink in zip(centres, _ring_inks(dice, count), strict=True):
        if shape == "circle":
            page.disc(centre, _RING_RADIUS, line=ink, width=width)
        else:
            page.polygon(corners(centre, _RING_RADIUS, 5), line=ink, width=width)
    if not _shows_every_face(page, centres, 5 if shape == "pentagon" else _ROUND_SIDES):
        return None
    truth = {
        "shape": shape,
        "radius": _RING_RADIUS,
        "centres": [[round(x, 1), round(y, 1)] for x, y in centres],
    }
    question = f"How many {shape}s are in the image? Answer with a number."
    return Scene(question, count, (page,), "integer", f"{shape}s", truth)


def _ring_centres(dice: Dice, count: int) -> list[Point]:
    """Two rows in a zigzag, with slightly uneven steps."""
    x, found = 1.5 * _RING_RADIUS, []
    for k in range(count):
        found.append((x, _RING_RADIUS * (1.4 + (k % 2) * dice.chance.uniform(0.82, 1.02))))
        x += _RING_RADIUS * dice.chance.uniform(1.0, 1.18) * dice.between(1.12, 0.98)
    return found


def _rings_size(centres: Sequence[Point]) -> tuple[int, int]:
    return round(centres[-1][0] + 1.5 * _RING_RADIUS), round(3.9 * _RING_RADIUS)


def _ring_inks(dice: Dice, count: int) -> list[tuple[int, int, int]]:
    if dice.chance.random() < dice.difficulty:
        return [BLACK] * count
    names = dice.chance.sample(list(INKS), len(INKS))
    return [INKS[names[k % len(names)]] for k in range(count)]


def _shows_every_face(page: Canvas, centres: Sequence[Point], sides: int) -> bool:
    """By Euler's formula, a chain of closed outlines divides the page into two more faces than it has crossings."""
    outlines = [corners(centre, _RING_RADIUS, sides) for centre in centres]
    met = [
        len(crossings([*one, one[0]], [*outlines[j], outlines[j][0]]))
        for k, one in enumerate(outlines)
        for j in range(k)
        if apart(centres[j], centres[k]) < 2 * _RING_RADIUS
    ]
    paper = near(page.pixels(), WHITE, 40)
    return len(met) >= len(centres) - 1 and len(areas(paper, least=12)) == sum(met) + 2


def make_squares(dice: Dice) -> Scene | None:
    """Squares nested inside each other without touching: how many are there?

    Difficulty: from two to four squares (0) up to five to nine (1), with thinner lines, and more often rotated.
    Returns None when the pixels do not show that many separate outlines.
    """
    count = dice.goal.randint(dice.whole(2, 5), dice.whole(4, 9))
    turn = math.pi / 4 + (
        dice.chance.uniform(0, math.pi / 2) if dice.chance.random() < dice.difficulty else 0
    )
    width, ink = dice.between(4, 1.8), dice.chance.choice([BLACK, *INKS.values()])
    page, squares = Canvas(_NEST_PX, _NEST_PX), _nest(dice, count, turn, width)
    for centre, radius in squares:
        page.polygon(corners(centre, radius, 4, turn), line=ink, width=width)
    paper = near(page.pixels(), (255, 255, 255), 40)
    if len(areas(~paper)) != count or len(areas(paper)) != count + 1:
        return None
    rows = [[round(x, 1), round(y, 1), round(radius, 1)] for (x, y), radius in squares]
    truth = {"turn": round(turn, 4), "centres_and_radii": rows}
    question = "How many squares are in the image? Answer with a number."
    return Scene(question, count, (page,), "integer", "nested", truth)


def _nest(dice: Dice, count: int, turn: float, width: float) -> list[tuple[Point, float]]:
    """Centre and half diagonal of each square, outermost first; each keeps a margin to the one around it."""
    centre, radius, found = (_NEST_PX / 2, _NEST_PX / 2), _NEST_PX * 0.46, []
    along = (math.cos(turn + math.pi / 4), math.sin(turn + math.pi / 4))
    for _ in range(count):
        found.append((centre, radius))
        smaller = radius * dice.chance.uniform(0.68, 0.8)
        room = max(0.0, (radius - smaller) / math.sqrt(2) - 2 * width - 5)
        u, v = dice.chance.uniform(-room, room), dice.chance.uniform(-room, room)
        centre = (centre[0] + u * along[0] - v * along[1], centre[1] + u * along[1] + v * along[0])
        radius = smaller
    return found

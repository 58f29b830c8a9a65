"""The table of generated sets, and how a sample is made from its set, seed, difficulty and number alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from pyvision.bench.samples import Sample
from pyvision.bench.synthetic import (
    boxes,
    charts,
    clutter,
    difference,
    discs,
    grids,
    letter,
    lines,
    needle,
    paths,
    rings,
    squares,
)
from pyvision.bench.synthetic.scene import Dice, Maker, Scene
from pyvision.errors import ConfigError

SETS: Mapping[str, Maker] = {
    "lines": lines.make,
    "discs": discs.make,
    "letter": letter.make,
    "rings": rings.make,
    "squares": squares.make,
    "grids": grids.make,
    "paths": paths.make,
    "needle": needle.make,
    "charts": charts.make,
    "difference": difference.make,
    "clutter": clutter.make,
    "boxes": boxes.make,
}
"""Every set by its name. Each module's docstring says what difficulty means there."""

_MOST_ATTEMPTS = 1000  # far beyond what any generator needs: reaching it is a fault of the generator


def generate(name: str, count: int, seed: int, difficulty: float = 0.5) -> Iterator[Sample]:
    """The samples 0 … count - 1 of a set; each is drawn when it is asked for, and forgotten then.

    Sample i is the same whatever the count. Raises ConfigError, at once, for an unknown set, a count below 0 or a
    difficulty outside of [0, 1].
    """
    if name not in SETS:
        raise ConfigError(f"unknown set {name!r}; known sets are {', '.join(SETS)}")
    if count < 0:
        raise ConfigError(f"count {count} is below 0; give the number of samples")
    if not 0 <= difficulty <= 1:
        raise ConfigError(f"difficulty {difficulty} is outside of [0, 1]; 0 is the easiest, 1 the hardest")
    return (_sample(name, seed, abs(float(difficulty)), index) for index in range(count))


def _sample(name: str, seed: int, difficulty: float, index: int) -> Sample:
    scene = draw_scene(name, seed, difficulty, index)
    return Sample(
        id=f"{name}-{seed}-{difficulty}-{index}",
        text=scene.question,
        images=tuple(page.jpeg() if scene.jpeg else page.png() for page in scene.pictures),
        target=scene.target,
        choices=scene.choices,
        category=f"{name}/{scene.kind}",
        metadata={"metric": scene.metric, "difficulty": difficulty, "truth": scene.truth, **scene.more},
    )


def draw_scene(name: str, seed: int, difficulty: float, index: int) -> Scene:
    """The scene behind a sample: that of the first attempt that is not ambiguous."""
    source = f"{name}/{seed}/{difficulty}/{index}"
    for attempt in range(_MOST_ATTEMPTS):
        dice = Dice(random.Random(f"{source}/goal"), random.Random(f"{source}/{attempt}"), difficulty)
        if scene := SETS[name](dice):
            return scene
    raise RuntimeError(f"{source}: no clear picture in {_MOST_ATTEMPTS} attempts")

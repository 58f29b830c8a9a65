"""The table of generated sets; each sample is determined by its set, seed, difficulty and index."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from pyvision.bench.samples import Sample
from pyvision.bench.synthetic.charts import make_charts
from pyvision.bench.synthetic.grids import make_grids
from pyvision.bench.synthetic.letter import make_letter
from pyvision.bench.synthetic.needle import make_needle
from pyvision.bench.synthetic.paths import make_paths
from pyvision.bench.synthetic.primitives import make_discs, make_lines, make_rings, make_squares
from pyvision.bench.synthetic.scattered import make_boxes, make_clutter, make_difference
from pyvision.bench.synthetic.scene import Dice, Maker, Scene
from pyvision.errors import ConfigError, suggest

SETS: Mapping[str, Maker] = {
    "lines": make_lines,
    "discs": make_discs,
    "letter": make_letter,
    "rings": make_rings,
    "squares": make_squares,
    "grids": make_grids,
    "paths": make_paths,
    "needle": make_needle,
    "charts": make_charts,
    "difference": make_difference,
    "clutter": make_clutter,
    "boxes": make_boxes,
}
"""Name of a set -> its generator, whose docstring, or its module's, says what difficulty means."""

_MAX_ATTEMPTS = 1000  # far more than any generator needs: reaching it is a bug in the generator


def generate(name: str, count: int, seed: int, difficulty: float = 0.5) -> Iterator[Sample]:
    """The samples 0 … count - 1 of a set, each drawn on demand.

    Sample i does not depend on the count. Raises ConfigError, before the first sample, for an unknown set, a count
    below 0 or a difficulty outside [0, 1].
    """
    if name not in SETS:
        raise ConfigError(f"unknown set {name!r}; {suggest(name, SETS, 'known sets are')}")
    if count < 0:
        raise ConfigError(f"count {count} is below 0; give the number of samples")
    if not 0 <= difficulty <= 1:
        raise ConfigError(f"difficulty {difficulty} is outside [0, 1]; 0 is the easiest, 1 the hardest")
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
    """The scene of a sample: the first attempt that is not ambiguous."""
    source = f"{name}/{seed}/{difficulty}/{index}"
    for attempt in range(_MAX_ATTEMPTS):
        dice = Dice(random.Random(f"{source}/goal"), random.Random(f"{source}/{attempt}"), difficulty)
        if scene := SETS[name](dice):
            return scene
    raise RuntimeError(f"{source}: no clear picture in {_MAX_ATTEMPTS} attempts")

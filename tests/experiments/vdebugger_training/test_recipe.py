"""A recipe is validated, and gives the same steps and rates every time."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyvision.errors import ConfigError
from pyvision.experiments.vdebugger_training.recipe import Recipe, rate_at, read_recipe, steps_of


def test_the_papers_recipe_is_the_default_file() -> None:
    recipe = read_recipe()
    assert (recipe.epochs, recipe.learning_rate, recipe.batch, recipe.tokens) == (3, 2e-5, 128, 1024)
    assert (recipe.warm_up, recipe.weight_decay, recipe.precision) == (0.03, 0.0, "bf16")


@pytest.mark.parametrize(
    ("key", "value"),
    [("epochs", 0), ("batch", -1), ("warm_up", 2), ("learning_rate", 0), ("colour", "red"), ("keep", "all")],
)
def test_an_invalid_recipe_is_refused(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps({key: value}))
    with pytest.raises(ConfigError, match=key):
        read_recipe(path)


def test_the_learning_rate_decays_after_the_warm_up() -> None:
    recipe = Recipe(learning_rate=1.0, warm_up=0.2)
    rates = [rate_at(step, 10, recipe) for step in range(10)]
    assert rates == pytest.approx([1 / 3, 2 / 3, 1.0, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 9), st.integers(1, 4))
def test_every_record_comes_once_in_an_epoch(lengths: list[int], batch: int, at_once: int) -> None:
    steps = steps_of(lengths, Recipe(epochs=2, batch=batch, at_once=at_once))
    indices = [index for step in steps for portion in step for index in portion]
    assert Counter(indices) == dict.fromkeys(range(len(lengths)), 2)
    assert max(len(portion) for step in steps for portion in step) <= at_once
    assert max(sum(map(len, step)) for step in steps) <= batch


def test_the_steps_depend_on_the_seed_alone() -> None:
    lengths = list(range(1, 30))
    assert steps_of(lengths, Recipe(batch=4)) == steps_of(lengths, Recipe(batch=4))
    assert steps_of(lengths, Recipe(batch=4)) != steps_of(lengths, Recipe(batch=4, seed=1))


def test_micro_batches_have_similar_lengths() -> None:
    lengths = [1, 2, 3, 100, 101, 102]
    for step in steps_of(lengths, Recipe(epochs=1, batch=6, at_once=3)):
        assert [sorted(lengths[index] for index in portion) for portion in step] == [
            [1, 2, 3],
            [100, 101, 102],
        ]

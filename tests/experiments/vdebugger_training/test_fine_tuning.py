"""A model learns its lessons, the same whether it was broken off or not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, MissingExtra
from pyvision.experiments.vdebugger_training.fine_tuning import Progress, require, train
from pyvision.experiments.vdebugger_training.local_model import Local, LocalDebugger, LocalInfill
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.masking import Masked, Span
from pyvision.experiments.vdebugger_training.packing import TokenBudget, encode_prompt
from pyvision.experiments.vdebugger_training.recipe import Recipe
from pyvision.experiments.vdebugger_training.records import Example
from tests.experiments.vdebugger_training.tiny import tiny_model

LESSONS = [
    Example("red", " is", " right"),
    Example("blue!", " is", " wrong", eos=False),
    Example("gray", " is", " wrong"),
] * 4
RECIPE = Recipe(
    epochs=10, learning_rate=5e-3, batch=6, at_once=4, tokens=64, answer=16, precision="fp32", save_every=0
)
PEFT_LAGS = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


class Stop(Exception):  # noqa: N818
    """The machine goes down."""


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.train
def test_a_model_learns_what_it_is_taught(model: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    train(LESSONS, str(model), tmp_path, replace(RECIPE, epochs=40), told.append)
    assert told[-1].loss < 0.5
    assert told[0].loss > 3.0
    assert (told[-1].step, told[-1].total) == (80, 80)
    local = Local(tmp_path)
    prompts = [
        encode_prompt(each, " is", local.tokenizer, TokenBudget(64, 16)) for each in ("red", "blue!", "gray")
    ]
    assert [said[:6] for said in local.continued(prompts, 6)] == [" right", " wrong", " wrong"]
    scores = local.accepts(prompts)
    assert scores[0] > 0.8
    assert scores[1] < 0.2


@pytest.mark.train
def test_a_training_that_was_broken_off_ends_as_one_that_was_not(model: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, save_every=3)

    def stop(progress: Progress) -> None:
        if progress.step == 5:
            raise Stop

    train(LESSONS, str(model), tmp_path / "whole", recipe, lambda progress: None)
    with pytest.raises(Stop):
        train(LESSONS, str(model), tmp_path / "broken", recipe, stop)
    steps: list[int] = []
    train(LESSONS, str(model), tmp_path / "broken", recipe, lambda progress: steps.append(progress.step))
    assert steps[0] == 4
    assert weights(tmp_path / "broken") == weights(tmp_path / "whole")
    assert not (tmp_path / "broken" / "checkpoint").exists()


@pytest.mark.train
def test_a_finished_training_is_not_done_again(model: Path, tmp_path: Path) -> None:
    train(LESSONS, str(model), tmp_path, replace(RECIPE, epochs=1), lambda progress: None)
    steps: list[Progress] = []
    train(LESSONS, str(model), tmp_path, replace(RECIPE, epochs=1), steps.append)
    assert steps == []


@pytest.mark.train
def test_the_folder_of_another_training_is_left_alone(model: Path, tmp_path: Path) -> None:
    train(LESSONS, str(model), tmp_path, replace(RECIPE, epochs=1), lambda progress: None)
    with pytest.raises(ConfigError, match="recipe differ"):
        train(LESSONS, str(model), tmp_path, replace(RECIPE, epochs=2), lambda progress: None)


@pytest.mark.train
def test_portions_do_not_change_what_is_learnt(model: Path, tmp_path: Path) -> None:
    losses: dict[int, list[float]] = {1: [], 6: []}
    for at_once, told in losses.items():
        recipe = replace(RECIPE, epochs=2, at_once=at_once)
        train(LESSONS, str(model), tmp_path / str(at_once), recipe, lambda p, told=told: told.append(p.loss))  # type: ignore[misc]
    assert losses[1] == pytest.approx(losses[6], rel=1e-4)


@pytest.mark.train
@PEFT_LAGS
def test_lora_trains_few_weights_and_saves_a_whole_model(model: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    recipe = replace(RECIPE, epochs=20, lora_rank=4, learning_rate=2e-2, save_every=7)
    train(LESSONS, str(model), tmp_path, recipe, told.append)
    assert told[-1].loss < told[0].loss - 0.2
    assert Local(tmp_path).continued([[0, 5]], 2)


@pytest.mark.train
@PEFT_LAGS
def test_a_broken_off_lora_goes_on(model: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, epochs=3, lora_rank=2, save_every=2)

    def stop(progress: Progress) -> None:
        if progress.step == 3:
            raise Stop

    with pytest.raises(Stop):
        train(LESSONS, str(model), tmp_path, recipe, stop)
    steps: list[int] = []
    train(LESSONS, str(model), tmp_path, recipe, lambda progress: steps.append(progress.step))
    assert steps == [3, 4, 5, 6]


@pytest.mark.train
def test_recomputing_activations_changes_nothing(model: Path, tmp_path: Path) -> None:
    for name, recompute in (("kept", False), ("recomputed", True)):
        recipe = replace(RECIPE, epochs=1, recompute=recompute)
        train(LESSONS, str(model), tmp_path / name, recipe, lambda progress: None)
    assert weights(tmp_path / "kept") == weights(tmp_path / "recomputed")


@pytest.mark.train
def test_a_batch_is_continued_as_each_text_alone(model: Path) -> None:
    prompts = [[0, 5, 6], [0, 7], [0, 8, 9, 10, 11]]
    assert Local(model, at_once=3).continued(prompts, 5) == Local(model, at_once=1).continued(prompts, 5)


@pytest.mark.train
def test_mask_best_says_something_else_than_greedy_and_the_same_with_the_same_seed(model: Path) -> None:
    local, prompts = Local(model), [[0, 5, 6]] * 4
    first, again = (local.continued(prompts, 8, MaskBest(), seed=3) for _ in range(2))
    assert first == again
    assert first != local.continued(prompts, 8)


@pytest.mark.train
def test_a_refill_begins_with_the_signature_that_it_was_given(model: Path) -> None:
    program = "def execute_command(image) -> str:\n    return 'two'"
    masked = Masked(program, Span(len(program) - 5, len(program)))
    (found,) = LocalInfill(Local(model), "", MaskBest(), TokenBudget(256, 16))([("How many?", masked)])
    assert found.startswith("# How many?\ndef execute_command(image) -> str:\n")


@pytest.mark.train
def test_a_critic_and_a_refiner_answer_for_each_program(model: Path) -> None:
    local = Local(model)
    debugger = LocalDebugger(local, local, TokenBudget(64, 8))
    assert [0 <= score <= 1 for score, _ in debugger.judged(["a", "b"])] == [True, True]
    assert len(debugger.refined(["a", "b", "c"])) == 3


@pytest.mark.train
def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no causal language model"):
        Local(tmp_path)


def test_no_lessons_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no lessons"):
        train([], "model", tmp_path, RECIPE, lambda progress: None)


def test_a_missing_package_names_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"pyvision\[train\]"):
        require("a_package_that_nobody_has")


def test_a_training_folder_tells_what_it_is_about(tmp_path: Path) -> None:
    from pyvision.experiments.vdebugger_training.fine_tuning import TrainingFolder, about

    TrainingFolder(tmp_path, about(LESSONS, "model", RECIPE))
    assert json.loads((tmp_path / "training.json").read_text())["recipe"]["epochs"] == 10

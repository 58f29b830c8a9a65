"""A model learns its examples, with the same result after an interruption."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pyvision.errors import ConfigError, MissingExtra
from pyvision.experiments.vdebugger_training.fine_tuning import TrainingStep, require, train
from pyvision.experiments.vdebugger_training.local_model import Local, LocalDebugger, LocalInfill
from pyvision.experiments.vdebugger_training.mask_best import MaskBest
from pyvision.experiments.vdebugger_training.masking import Masked, MaskedSpan
from pyvision.experiments.vdebugger_training.packing import TokenBudget, encode_prompt
from pyvision.experiments.vdebugger_training.recipe import Recipe
from pyvision.experiments.vdebugger_training.records import TrainingExample
from tests.experiments.vdebugger_training.tiny import tiny_model

EXAMPLES = [
    TrainingExample("red", " is", " right"),
    TrainingExample("blue!", " is", " wrong", eos=False),
    TrainingExample("gray", " is", " wrong"),
] * 4
RECIPE = Recipe(
    epochs=10, learning_rate=5e-3, batch=6, at_once=4, tokens=64, answer=16, precision="fp32", save_every=0
)
PEFT_LAGS = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


class Stop(Exception):  # noqa: N818
    """An interruption."""


def weights(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


@pytest.mark.train
def test_a_model_learns_its_examples(model: Path, tmp_path: Path) -> None:
    seen: list[TrainingStep] = []
    train(EXAMPLES, str(model), tmp_path, replace(RECIPE, epochs=40), seen.append)
    assert seen[-1].loss < 0.5
    assert seen[0].loss > 3.0
    assert (seen[-1].step, seen[-1].total) == (80, 80)
    local = Local(tmp_path)
    prompts = [
        encode_prompt(each, " is", local.tokenizer, TokenBudget(64, 16)) for each in ("red", "blue!", "gray")
    ]
    assert [text[:6] for text in local.generate(prompts, 6)] == [" right", " wrong", " wrong"]
    scores = local.score_verdicts(prompts)
    assert scores[0] > 0.8
    assert scores[1] < 0.2


@pytest.mark.train
def test_a_resumed_training_gives_the_same_weights(model: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, save_every=3)

    def stop(progress: TrainingStep) -> None:
        if progress.step == 5:
            raise Stop

    train(EXAMPLES, str(model), tmp_path / "whole", recipe, lambda progress: None)
    with pytest.raises(Stop):
        train(EXAMPLES, str(model), tmp_path / "broken", recipe, stop)
    steps: list[int] = []
    train(EXAMPLES, str(model), tmp_path / "broken", recipe, lambda progress: steps.append(progress.step))
    assert steps[0] == 4
    assert weights(tmp_path / "broken") == weights(tmp_path / "whole")
    assert not (tmp_path / "broken" / "checkpoint").exists()


@pytest.mark.train
def test_a_finished_training_is_not_repeated(model: Path, tmp_path: Path) -> None:
    train(EXAMPLES, str(model), tmp_path, replace(RECIPE, epochs=1), lambda progress: None)
    steps: list[TrainingStep] = []
    train(EXAMPLES, str(model), tmp_path, replace(RECIPE, epochs=1), steps.append)
    assert steps == []


@pytest.mark.train
def test_the_folder_of_another_training_is_refused(model: Path, tmp_path: Path) -> None:
    train(EXAMPLES, str(model), tmp_path, replace(RECIPE, epochs=1), lambda progress: None)
    with pytest.raises(ConfigError, match="recipe differ"):
        train(EXAMPLES, str(model), tmp_path, replace(RECIPE, epochs=2), lambda progress: None)


@pytest.mark.train
def test_micro_batches_do_not_change_the_loss(model: Path, tmp_path: Path) -> None:
    losses: dict[int, list[float]] = {1: [], 6: []}
    for at_once, values in losses.items():
        recipe = replace(RECIPE, epochs=2, at_once=at_once)
        seen: list[TrainingStep] = []
        train(EXAMPLES, str(model), tmp_path / str(at_once), recipe, seen.append)
        values += [progress.loss for progress in seen]
    assert losses[1] == pytest.approx(losses[6], rel=1e-4)


@pytest.mark.train
@PEFT_LAGS
def test_lora_saves_a_whole_model(model: Path, tmp_path: Path) -> None:
    seen: list[TrainingStep] = []
    recipe = replace(RECIPE, epochs=20, lora_rank=4, learning_rate=2e-2, save_every=7)
    train(EXAMPLES, str(model), tmp_path, recipe, seen.append)
    assert seen[-1].loss < seen[0].loss - 0.2
    assert Local(tmp_path).generate([[0, 5]], 2)


@pytest.mark.train
@PEFT_LAGS
def test_an_interrupted_lora_training_is_resumed(model: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, epochs=3, lora_rank=2, save_every=2)

    def stop(progress: TrainingStep) -> None:
        if progress.step == 3:
            raise Stop

    with pytest.raises(Stop):
        train(EXAMPLES, str(model), tmp_path, recipe, stop)
    steps: list[int] = []
    train(EXAMPLES, str(model), tmp_path, recipe, lambda progress: steps.append(progress.step))
    assert steps == [3, 4, 5, 6]


@pytest.mark.train
def test_recomputing_activations_changes_nothing(model: Path, tmp_path: Path) -> None:
    for name, recompute in (("stored", False), ("recomputed", True)):
        recipe = replace(RECIPE, epochs=1, recompute=recompute)
        train(EXAMPLES, str(model), tmp_path / name, recipe, lambda progress: None)
    assert weights(tmp_path / "stored") == weights(tmp_path / "recomputed")


@pytest.mark.train
def test_a_batch_gives_the_same_texts_as_single_prompts(model: Path) -> None:
    prompts = [[0, 5, 6], [0, 7], [0, 8, 9, 10, 11]]
    assert Local(model, at_once=3).generate(prompts, 5) == Local(model, at_once=1).generate(prompts, 5)


@pytest.mark.train
def test_mask_best_is_repeatable_with_a_seed(model: Path) -> None:
    local, prompts = Local(model), [[0, 5, 6]] * 4
    first, again = (local.generate(prompts, 8, MaskBest(), seed=3) for _ in range(2))
    assert first == again
    assert first != local.generate(prompts, 8)


@pytest.mark.train
def test_an_infill_starts_with_the_signature_of_its_program(model: Path) -> None:
    program = "def execute_command(image) -> str:\n    return 'two'"
    masked = Masked(program, MaskedSpan(len(program) - 5, len(program)))
    (found,) = LocalInfill(Local(model), "", MaskBest(), TokenBudget(256, 16))([("How many?", masked)])
    assert found.startswith("# How many?\ndef execute_command(image) -> str:\n")


@pytest.mark.train
def test_a_local_debugger_replies_to_each_program(model: Path) -> None:
    local = Local(model)
    debugger = LocalDebugger(local, local, TokenBudget(64, 8))
    assert [0 <= score <= 1 for score, _ in debugger.critique(["a", "b"])] == [True, True]
    assert len(debugger.refine(["a", "b", "c"])) == 3


@pytest.mark.train
def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot load a causal language model"):
        Local(tmp_path)


def test_no_examples_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no examples"):
        train([], "model", tmp_path, RECIPE, lambda progress: None)


def test_a_missing_package_names_its_extra() -> None:
    with pytest.raises(MissingExtra, match=r"pyvision-agent\[train\]"):
        require("a_package_that_nobody_has")


def test_a_training_folder_contains_its_description(tmp_path: Path) -> None:
    from pyvision.experiments.vdebugger_training.fine_tuning import TrainingFolder, describe_training

    TrainingFolder(tmp_path, describe_training(EXAMPLES, "model", RECIPE))
    assert json.loads((tmp_path / "training.json").read_text())["recipe"]["epochs"] == 10

"""What a harness card holds, and how the cards of experiments are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyvision.agent.budget import Limits
from pyvision.bench.analysis.read_experiment import read_experiment
from pyvision.bench.harness_card import NO_DIFFERENCES, card_hash, compare_settings, harness_card
from pyvision.bench.runner.recorder import Recorder
from pyvision.bench.runner.run import run
from pyvision.bench.store import Store
from pyvision.errors import ConfigError
from pyvision.solve import prepare
from tests.bench.analysis.experiments import CONFIGURATION, write_experiment
from tests.bench.runs import Knowing, Quiet, a_plan, made

CARD: dict[str, Any] = {"prompts": {"system.md": "aa"}, "limits": {"max_turns": 20}, "machine": {"cpus": 2}}


def experiment(folder: Path, *cards: dict[str, Any], **configuration: Any) -> Path:
    write_experiment(folder, [1, 0], configuration=configuration)
    for card in cards:
        Recorder(folder, CONFIGURATION | configuration, metric="integer:official", harness=card).close()
    return folder


def test_a_card_names_prompts_code_limits_images_versions_machine() -> None:
    with prepare("How many?", model="offline", limits=Limits(max_turns=7)) as task:
        card = harness_card(task)
    assert card.keys() == {"prompts", "parser", "protocol", "limits", "images", "versions", "machine"}
    assert len(card["prompts"]["direct/question.md"]) == 12
    assert (card["limits"]["max_turns"], "cell_timeout_s" in card["limits"]) == (7, True)
    assert card["images"]["default"]["side_px"] > 0
    assert {"python", "pyvision", "numpy"} <= card["versions"].keys()
    assert card["machine"]["cpus"] >= 1


def test_the_hash_is_that_of_the_content() -> None:
    assert card_hash(CARD) == card_hash(dict(reversed(CARD.items())))
    assert card_hash(CARD) != card_hash(CARD | {"parser": "x"})


def test_a_run_stores_its_card(tmp_path: Path) -> None:
    run(a_plan(tmp_path / "out", made(1), Knowing()), Quiet())
    with Store(tmp_path / "out") as store:
        ((found, card),) = store.harnesses().items()
    assert found == card_hash(card)


def test_a_report_names_the_hash_of_the_card(tmp_path: Path) -> None:
    found = read_experiment(experiment(tmp_path / "a", CARD))
    assert found.subject.configuration["harness"] == card_hash(CARD)


def test_equal_cards_have_no_differences(tmp_path: Path) -> None:
    folders = [experiment(tmp_path / name, CARD) for name in "ab"]
    assert compare_settings(folders, strict=True) == NO_DIFFERENCES


def test_a_changed_prompt_is_named(tmp_path: Path) -> None:
    changed = CARD | {"prompts": {"system.md": "bb"}}
    found = compare_settings([experiment(tmp_path / "a", CARD), experiment(tmp_path / "b", changed)])
    assert found.harness == ('b: prompts.system.md: "aa" -> "bb"',)


def test_another_model_is_what_is_compared(tmp_path: Path) -> None:
    folders = [experiment(tmp_path / "a", CARD), experiment(tmp_path / "b", CARD, strategy="direct")]
    found = compare_settings(folders)
    assert found.compared == ('b: strategy: "code_loop" -> "direct"',)
    assert found.harness == ()


def test_options_of_another_strategy_are_no_difference(tmp_path: Path) -> None:
    folders = [
        experiment(tmp_path / "a", CARD, options={"repairs": 3}),
        experiment(tmp_path / "b", CARD, strategy="direct", options={}),
    ]
    assert compare_settings(folders).compared == ('b: strategy: "code_loop" -> "direct"',)


def test_strict_names_the_difference_that_it_refuses(tmp_path: Path) -> None:
    folders = [experiment(tmp_path / "a", CARD), experiment(tmp_path / "b", CARD | {"machine": {"cpus": 64}})]
    with pytest.raises(ConfigError, match=r"the harnesses differ from that of a: b: machine\.cpus: 2 -> 64"):
        compare_settings(folders, strict=True)


def test_an_experiment_that_was_resumed_elsewhere_has_both_cards(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "a", CARD, CARD | {"machine": {"cpus": 64}}, CARD)
    with Store(folder) as store:
        assert len(store.harnesses()) == 2
    (line,) = compare_settings([folder]).harness
    assert "a was resumed with machine.cpus" in line


def test_an_experiment_of_an_older_release_is_compared_by_its_configuration(tmp_path: Path) -> None:
    folders = [
        experiment(tmp_path / "a", limits={"max_turns": 20}),
        experiment(tmp_path / "b", CARD, limits={"max_turns": 5}),
    ]
    found = compare_settings(folders)
    assert "b: no harness card in a (an older release)" in found.harness[0]
    assert found.harness[1] == "b: limits.max_turns: 20 -> 5"

from __future__ import annotations

import json
from dataclasses import asdict

from pyvision.agent.budget import Limits
from pyvision.agent.task import RunConfig
from pyvision.solve import prepare
from sandbox import Policy

RECORDED = {  # the keys of config.json, which `replay` and `report` read
    "strategy": "direct",
    "options": {},
    "model": {"wire": "offline"},
    "roles": {},
    "tools": {},
    "limits": asdict(Limits(max_turns=3)),
    "policy": {name: value for name, value in asdict(Policy()).items() if name != "modules"},
    "images": ["photo.png"],
}


def test_a_configuration_is_written_under_the_keys_that_records_have() -> None:
    config = RunConfig("direct", model={"wire": "offline"}, limits=Limits(max_turns=3), images=("photo.png",))
    assert config.to_dict() == RECORDED


def test_questions_of_an_experiment_share_everything_but_their_images() -> None:
    assert (
        RunConfig("direct", images=("a.png",)).common_settings()
        == RunConfig("direct", images=("b.png",)).common_settings()
    )


def test_a_prepared_task_says_how_it_is_configured() -> None:
    config = prepare("?", strategy="code_loop", model="offline", options={"repairs": "7"}).config
    assert (config.strategy, config.options["repairs"], config.model["wire"]) == ("code_loop", 7, "offline")


def test_a_configuration_can_be_written_as_json() -> None:
    config = prepare("?", model="offline", roles={"solver": "offline"}).config
    assert json.loads(json.dumps(config.to_dict(), default=str))["roles"]["solver"]["wire"] == "offline"

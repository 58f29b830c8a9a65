from __future__ import annotations

from dataclasses import replace

import pytest

from pyvision.agent.run_config import RunConfig
from pyvision.bench.runner.failures import check_models, check_sandbox
from pyvision.models.scripted import Scripted
from pyvision.solve import Task
from pyvision.strategies.code_loop import CodeLoop
from pyvision.strategies.direct import Direct
from pyvision.types import Model, Question
from sandbox import CellResult, SandboxError
from tests.doubles import CannedSandbox, printed


def task(wire: str = "openai", **models: Model) -> Task:
    return Task(Question("?"), CodeLoop(), models, config=RunConfig("code_loop", model={"wire": wire}))


def test_any_reply_will_do() -> None:
    model = Scripted(["What do you want?"])
    check_models(task(default=model))
    assert len(model.requests) == 1
    assert model.samplings[0].seconds == 60.0


def test_each_model_is_asked_once_however_many_roles_it_plays() -> None:
    one, other = Scripted(["yes"]), Scripted(["yes"])
    check_models(task(default=one, coder=one, critic=other))
    assert (len(one.requests), len(other.requests)) == (1, 1)


def test_replies_that_are_played_back_are_not_used_up() -> None:
    model, coder = Scripted([]), Scripted(["yes"])
    mixed = task(wire="scripted", default=model, coder=coder)
    check_models(replace(mixed, config=replace(mixed.config, roles={"coder": {"wire": "openai"}})))
    assert (len(model.requests), len(coder.requests)) == (0, 1)


def test_a_cell_is_run_and_its_kernel_closed() -> None:
    sandbox = CannedSandbox([printed("2\n")])
    check_sandbox(task(default=Scripted([])), sandbox)
    assert (sandbox.cells, sandbox.opened, sandbox.closed) == (["print(1 + 1)"], 1, 1)


@pytest.mark.parametrize("result", [printed("3\n"), CellResult("died"), CellResult("timeout")])
def test_a_sandbox_that_does_not_add_is_dead(result: CellResult) -> None:
    sandbox = CannedSandbox([result])
    with pytest.raises(SandboxError, match=f"a cell that prints 1 \\+ 1 returned {result.status}"):
        check_sandbox(task(default=Scripted([])), sandbox)
    assert sandbox.closed == 1


def test_a_strategy_that_runs_nothing_needs_no_sandbox() -> None:
    sandbox = CannedSandbox()
    check_sandbox(replace(task(default=Scripted([])), strategy=Direct()), sandbox)
    assert sandbox.opened == 0

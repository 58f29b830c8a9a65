from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pyvision.agent.task import RunConfig, Task
from pyvision.bench.runner.failures import check_models, check_open_files, check_sandbox
from pyvision.errors import ConfigError
from pyvision.models.scripted import Scripted
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


def test_the_preflight_check_runs_a_cell() -> None:
    sandbox = CannedSandbox([printed("2\n")])
    check_sandbox(task(default=Scripted([])), sandbox)
    assert sandbox.cells == ["print(1 + 1)"]


def test_the_preflight_check_closes_its_kernel() -> None:
    sandbox = CannedSandbox([printed("2\n")])
    check_sandbox(task(default=Scripted([])), sandbox)
    assert (sandbox.opened, sandbox.closed) == (1, 1)


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


@pytest.fixture
def limit() -> Iterator[int]:
    """A soft limit on open files far below the hard one, which is returned."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_limit_on_open_files_is_raised_as_far_as_possible(limit: int) -> None:
    check_open_files(4, runs_code=True)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (limit, limit)


def test_more_workers_than_files_can_be_opened_for_are_refused_with_a_number_that_fits(limit: int) -> None:
    with pytest.raises(ConfigError, match=rf"the limit is {limit}; use --workers (\d+)") as refused:
        check_open_files(limit, runs_code=True)
    fitting = int(str(refused.value).partition("--workers ")[2].partition(",")[0])
    check_open_files(fitting, runs_code=True)

"""What is judged an escape, with sessions that are no more than a namespace of this process."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandbox import CellError, CellResult, Figure, KernelStartError, Stream
from sandbox.escape_tests import Attack, Runner
from sandbox.policy import HostFunction
from tests.sandbox.conftest import png

TRY = Attack("files", "try", "Try it.", "", layer="mounts", plain="fails")


class Open:
    """Runs cells here. `seconds` is what it says that they take."""

    def __init__(self, variables: dict[str, Any] | None = None, seconds: float = 0.0) -> None:
        self._variables = {} if variables is None else variables
        self._seconds = seconds

    def run(
        self,
        code: str,
        *,
        timeout_s: float | None = None,
        functions: Mapping[str, HostFunction] | None = None,
    ) -> CellResult:
        output, error = io.StringIO(), None
        self._variables["host"] = SimpleNamespace(**(functions or {}))
        with contextlib.redirect_stdout(output):
            try:
                exec(code, self._variables)
            except (ArithmeticError, TypeError) as raised:
                error = CellError(type(raised).__name__, str(raised))
        outputs = (Stream("stdout", output.getvalue()),) if output.getvalue() else ()
        return CellResult("error" if error else "ok", outputs, error, self._seconds)

    def close(self) -> None:
        """Nothing runs on."""


class Broken(Open):
    """A session whose kernel does not come back after the first attack."""

    def run(self, code: str, **options: Any) -> CellResult:
        if "TARGET" in code:
            raise KernelStartError("no kernel came up")
        return super().run(code, **options)


class Slow(Open):
    """A session in which the first cells after an attack exceed their limit."""

    def __init__(self, timeouts: int) -> None:
        super().__init__()
        self._timeouts = timeouts

    def run(self, code: str, **options: Any) -> CellResult:
        if "TARGET" in code or not self._timeouts:
            return super().run(code, **options)
        self._timeouts -= 1
        return CellResult("timeout")


class Showing(Open):
    """A session whose cells all show one figure."""

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        self._figure = figure

    def run(self, code: str, **options: Any) -> CellResult:
        result = super().run(code, **options)
        return replace(result, outputs=(*result.outputs, self._figure))


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner(Open, 0.5) as opened:
        yield opened


def trying(code: str, **fields: Any) -> Attack:
    return replace(TRY, code=code, **fields)


def test_a_printed_marker_is_an_escape(runner: Runner) -> None:
    verdict = runner.run(trying("print('before'); print(MARKER); print('after')"))
    assert (verdict.contained, verdict.evidence) == (False, "it printed its marker")


def test_a_marker_within_other_text_is_no_escape(runner: Runner) -> None:
    assert runner.run(trying("print('it is ' + MARKER)")).contained


def test_the_exception_that_ended_a_program_is_reported(runner: Runner) -> None:
    verdict = runner.run(trying("1 / 0"))
    assert (verdict.contained, verdict.raised) == (True, "ZeroDivisionError")
    assert verdict.evidence == "ZeroDivisionError: division by zero"


def test_a_touched_canary_is_an_escape_though_nothing_was_printed(runner: Runner) -> None:
    verdict = runner.run(trying("open(TARGET['outside'] + '/made', 'w').close()"))
    assert not verdict.contained
    assert verdict.evidence.endswith("/made was made")


def test_an_escape_is_not_reported_for_the_next_attack(runner: Runner) -> None:
    runner.run(trying("print(MARKER); open(TARGET['outside'] + '/made', 'w').close()"))
    assert runner.run(trying("pass")).contained


@pytest.mark.parametrize(("seconds", "evidence"), [(3.4, "nothing"), (3.6, "control came back after 3.6 s")])
def test_control_must_be_back_two_seconds_after_the_grace_period(seconds: float, evidence: str) -> None:
    with Runner(lambda: Open(seconds=seconds), 0.5) as runner:
        assert runner.run(trying("pass", proof="deadline", timeout_s=1.0)).evidence.startswith(evidence)


def test_the_next_cell_must_print_what_is_its_own(runner: Runner) -> None:
    spoiled = trying("x = 'forged'", after="print(x)", expect="own words")
    assert runner.run(spoiled).evidence == "the next cell printed 'forged', not 'own words'"
    assert runner.run(replace(spoiled, expect="forged")).contained


@pytest.mark.parametrize(("timeouts", "contained"), [(4, True), (99, False)])
def test_a_session_must_answer_again_though_a_busy_machine_may_delay_it(
    timeouts: int, *, contained: bool
) -> None:
    neighbour, attacked = Open(), Slow(timeouts)
    sessions = iter([neighbour, attacked])
    with Runner(lambda: next(sessions), 0.5) as runner:
        verdict = runner.run(trying("pass", proof="deadline", session="own"))
    assert verdict.contained is contained


def test_a_neighbour_that_answers_wrong_is_an_escape() -> None:
    shared: dict[str, Any] = {}
    with Runner(lambda: Open(shared), 0.5) as runner:
        verdict = runner.run(trying("print = lambda *words, **options: None", proof="neighbour"))
        assert verdict.evidence == "its neighbour printed '', not '42'"


def test_a_changed_secret_of_the_neighbour_is_an_escape() -> None:
    shared: dict[str, Any] = {}
    with Runner(lambda: Open(shared), 0.5) as runner:
        assert "secrets became" in runner.run(trying("secret = 'changed'")).evidence


def test_a_program_runs_as_often_as_it_asks_each_time_in_a_new_session(runner: Runner) -> None:
    twice = "print(MARKER if 'left' in globals() else 1); left = 1"
    assert runner.run(trying(twice, sessions=2)).contained
    runner.run(trying("left = 1"))
    assert not runner.run(trying(twice)).contained


def test_an_attack_after_which_no_session_starts_is_an_escape() -> None:
    with Runner(Broken, 0.5) as runner:
        verdict = runner.run(trying("pass"))
    assert (verdict.contained, verdict.evidence) == (False, "no kernel came up")


def test_a_shared_session_that_was_spoiled_is_replaced() -> None:
    opened: list[Open] = []

    def open_session() -> Open:
        opened.append(Open())
        return opened[-1]

    with Runner(open_session, 0.5) as runner:
        runner.run(trying("pass"))
        assert len(opened) == 2  # a neighbour, and the one that is attacked
        runner.run(trying("pass"))
        assert len(opened) == 2
        runner.run(trying("print = None"))
        assert len(opened) == 2
        assert runner.run(trying("print(MARKER)")).contained is False
    assert len(opened) == 3


def test_canaries_are_removed_though_a_session_cannot_be_closed(tmp_path: Path) -> None:
    class Stuck(Open):
        def close(self) -> None:
            raise KernelStartError("no kernel came up")

    runner = Runner(Stuck, 0.5)
    file = tmp_path / "outside"
    runner.run(trying(f"import pathlib; pathlib.Path({str(file)!r}).write_text(TARGET['outside'])"))
    assert Path(file.read_text()).exists()
    with pytest.raises(KernelStartError):
        runner.close()
    assert not Path(file.read_text()).exists()


def test_memory_that_the_host_had_for_a_moment_is_an_escape(runner: Runner) -> None:
    verdict = runner.run(trying("held = b'x' * (300 * 2**20); del held", proof="neighbour"))
    assert verdict.evidence.startswith("the host grew by ")


def test_memory_that_the_host_used_before_is_no_escape(runner: Runner) -> None:
    held = b"x" * (300 * 2**20)
    del held
    assert runner.run(trying("pass", proof="neighbour")).contained


@pytest.mark.parametrize("code", ["print(found)", "print('it is ' + found + '!')", "raise TypeError(found)"])
def test_a_key_of_the_host_in_what_is_printed_is_an_escape(runner: Runner, code: str) -> None:
    verdict = runner.run(trying(f"import os; found = os.environ[TARGET['key_name']]; {code}"))
    assert (verdict.contained, verdict.evidence) == (False, "it printed a secret")


def test_a_secret_of_the_neighbour_in_the_next_cell_is_an_escape() -> None:
    shared: dict[str, Any] = {}
    with Runner(lambda: Open(shared), 0.5) as runner:
        assert runner.run(trying("pass", after="print(secret)")).evidence == "it printed a secret"


def test_a_figure_of_another_size_than_it_says_is_an_escape() -> None:
    with Runner(lambda: Showing(Figure(png(), "image/png", 10, 10)), 0.5) as runner:
        assert not runner.run(trying("pass", proof="result")).contained


def test_a_valid_figure_is_no_escape() -> None:
    with Runner(lambda: Showing(Figure(png(), "image/png", 40, 30)), 0.5) as runner:
        assert runner.run(trying("pass", proof="result")).contained


def test_a_figure_that_a_host_function_received_is_judged_too(runner: Runner) -> None:
    code = "from sandbox import Figure; host.take(Figure(b'', 'image/png', 1, 1))"
    assert not runner.run(trying(code, functions="take", proof="result")).contained

"""Every attack gets nowhere in a container; where it should, it succeeds against plain Jupyter."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sandbox import Policy, Sandbox
from sandbox.escape_tests import Attack, Runner, attacks
from sandbox.escape_tests.canaries import Canaries
from sandbox.escape_tests.runner import Verdicts, run_in_background
from tests.sandbox.escape_tests.plain import PlainSession
from tests.sandbox.escape_tests.rights import is_root_of_a_machine

pytestmark = pytest.mark.early

# Less memory than by default, which takes less time to fill.
_POLICY = Policy(interrupt_grace_s=0.5, memory_bytes=2**30)
_PATIENT_S = _POLICY.interrupt_grace_s + 10.0  # for a busy machine; a cell that nothing ends takes for ever
_ALL = attacks()
_ON_PLAIN = [each for each in _ALL if each.plain != "skipped"]
_FIRST_OF_A_TOPIC = {each.topic: each for each in reversed(_ON_PLAIN) if each.plain == "succeeds"}.values()
_SLIPS = (
    "AttributeError",
    "ImportError",
    "IndexError",
    "KeyError",
    "ModuleNotFoundError",
    "NameError",
    "TypeError",
)
_QUICK = [
    each
    for each in _ALL
    if (each.proof, each.session, each.sessions, each.timeout_s) == ("cell", "shared", 1, 10)
]


# Attacks that take long, each with a quick one that the same layer contains in the same way.
_SLOW = {
    "channels/empty_parts_of_a_reply": "channels/empty_parts",
    "channels/endless_reply": "channels/endless_message",
    "channels/endless_reply_to_an_interrupt": "channels/endless_message",
    "channels/large_frames": "kernel/huge_frame",
    "deadline/after_every_cell": "deadline/loop",
    "deadline/every_signal_blocked": "deadline/ignored_signal",
    "deadline/finalizer": "deadline/caught_interrupt",
    "deadline/handler_at_exit": "deadline/exit_that_hangs",
    "deadline/handler_that_loops": "deadline/ignored_signal",
    "deadline/one_long_operation": "deadline/interpreter_held",
    "deadline/sleep_with_the_interpreter": "deadline/interpreter_held",
    "deadline/output_without_end": "deadline/loop",
    "deadline/parent_suspended": "deadline/stopped",
    "deadline/refused_interrupt": "deadline/ignored_signal",
    "deadline/stopped_by_a_child": "deadline/stopped",
    "deadline/text_of_the_result": "deadline/caught_interrupt",
    "deadline/tracer": "deadline/caught_interrupt",
    "exhaustion/disk_by_a_name_with_the_end_of_a_line": "exhaustion/disk",
    "exhaustion/disk_by_a_thread_that_is_left": "exhaustion/disk",
    "exhaustion/disk_by_long_paths": "exhaustion/disk",
    "exhaustion/disk_by_mapped_files": "exhaustion/disk",
    "exhaustion/disk_by_sent_descriptors": "exhaustion/disk",
    "exhaustion/exception_message": "exhaustion/one_huge_text",
    "exhaustion/heavy_figures": "exhaustion/figures",
    "exhaustion/memory_bomb_unpacked": "exhaustion/memory_of_one",
    "exhaustion/memory_of_children": "session_memory/children_that_cannot_be_dumped",
    "exhaustion/memory_of_tcp": "session_memory/tcp_buffers",
    "exhaustion/memory_picture_bomb": "exhaustion/memory_of_one",
    "exhaustion/memory_sockets": "session_memory/socket_buffers",
    "exhaustion/memory_system_v": "session_memory/shared_mappings",
    "exhaustion/memory_without_address_space": "session_memory/shared_mappings",
    "exhaustion/processes": "exhaustion/fork_bomb",
    "exhaustion/repr": "exhaustion/one_huge_text",
    "exhaustion/shared_memory": "session_memory/shared_mappings",
    "exhaustion/standard_input": "exhaustion/messages",
    "exhaustion/text_of_a_child": "exhaustion/text",
    "kernel/broken_encoder": "kernel/hostile_exception",
    "kernel/changed_key": "kernel/forged_reply",
    "session_memory/children_whose_first_thread_has_ended": "session_memory/children_that_cannot_be_dumped",
    "session_memory/shared_mappings_of_a_device": "session_memory/shared_mappings",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(_POLICY) as opened:
        yield opened


@pytest.fixture(scope="module", autouse=True)
def in_sandbox(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Verdicts]:
    """Of the selected tests. Those that flood the host are a separate round, in which the host is watched."""
    chosen = tuple(_chosen(request, test_an_attack_is_contained))
    floods = [each for each in chosen if each.proof == "neighbour"]
    others = [each for each in chosen if each.proof != "neighbour"]
    verdicts: Verdicts = {}
    with ExitStack() as stack:
        for part in (floods, others):
            runner = Runner(sandbox.open, _PATIENT_S)
            verdicts |= stack.enter_context(run_in_background(runner, part))
        yield verdicts


@pytest.fixture(scope="module", autouse=True)
def on_plain_jupyter(request: pytest.FixtureRequest) -> Iterator[Verdicts]:
    """Of the selected tests, beside those in the sandbox: most of the time of an attack is spent waiting."""
    chosen = _chosen(request, test_it_does_to_plain_jupyter_what_it_says)
    with _plain_runner() as runner, run_in_background(runner, chosen) as verdicts:
        yield verdicts


@contextmanager
def _plain_runner() -> Iterator[Runner]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        yield Runner(partial(PlainSession, Path(home)), _POLICY.interrupt_grace_s)


def _chosen(request: pytest.FixtureRequest, test: Callable[..., None]) -> Iterator[Attack]:
    for item in request.session.items:
        if isinstance(item, pytest.Function) and item.function is test:
            attack: Attack = item.callspec.params["attack"]  # type: ignore[assignment]  # of an `object`
            yield attack


@pytest.fixture(scope="module")
def limits_sessions(sandbox: Sandbox) -> bool:
    return any(layer.name == "session memory" and layer.is_present for layer in sandbox.layers())


@pytest.mark.parametrize(
    "attack",
    [pytest.param(each, id=each.id, marks=pytest.mark.slow if each.id in _SLOW else ()) for each in _ALL],
)
def test_an_attack_is_contained(in_sandbox: Verdicts, limits_sessions: bool, attack: Attack) -> None:
    verdict = in_sandbox[attack.id].result()
    if attack.layer == "groups" and not limits_sessions:
        pytest.skip("nothing limits a session as a whole on this machine, as `sandbox check` says")
    assert verdict.contained, verdict.evidence
    assert verdict.raised not in _SLIPS, f"not contained, but broken: {verdict.evidence}"


def test_a_later_session_finds_nothing_where_a_watchdog_limits_memory() -> None:
    policy = replace(_POLICY, session_memory="watchdog")  # it refuses more system calls than cgroups need
    with (
        Sandbox(policy) as containers,
        Runner(containers.open, _PATIENT_S) as runner,
    ):
        verdicts = {each.id: runner.run(each) for each in _ALL if each.topic == "leaks" and each.sessions > 1}
    assert {name: verdict.evidence for name, verdict in verdicts.items() if not verdict.contained} == {}


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(each, id=each.id, marks=() if each in _FIRST_OF_A_TOPIC else pytest.mark.slow)
        for each in _ON_PLAIN
    ],
)
def test_it_does_to_plain_jupyter_what_it_says(on_plain_jupyter: Verdicts, attack: Attack) -> None:
    verdict = on_plain_jupyter[attack.id].result()
    if verdict.contained and attack.plain != "fails":  # beside so many others it may have come too late
        with _plain_runner() as runner, runner:
            verdict = runner.run(attack)
    if attack.plain == "succeeds as root" and verdict.contained and not is_root_of_a_machine():
        pytest.skip("it needs root, with all of its rights")
    if attack.plain == "depends" and verdict.contained:
        pytest.skip(f"it depends {attack.why}")
    assert verdict.contained == (attack.plain == "fails"), verdict.evidence


def test_a_slow_attack_has_a_quick_one_at_the_same_layer() -> None:
    layers = {each.id: each.layer for each in _ALL}
    assert not set(_SLOW.values()) & set(_SLOW)
    assert [slow for slow, quick in _SLOW.items() if layers[slow] != layers[quick]] == []


def test_each_attack_tries_something_else() -> None:
    assert len({attack.tries for attack in _ALL}) == len(_ALL)


def test_every_topic_has_attacks() -> None:
    topics = {"files", "network", "processes", "exhaustion", "kernel", "leaks"}
    assert {attack.topic for attack in _ALL} >= topics


def test_those_that_no_plain_kernel_is_asked_to_stand_say_why() -> None:
    assert all(attack.why for attack in _ALL if attack.plain in ("skipped", "depends"))


@pytest.mark.parametrize("count", [4, pytest.param(20, marks=pytest.mark.slow)])
def test_sessions_contain_them_at_once(sandbox: Sandbox, count: int) -> None:
    """Each session is tried with every twentieth attack."""
    with ExitStack() as stack:
        canaries = stack.enter_context(Canaries())
        sessions = [stack.enter_context(sandbox.open()) for _ in range(count)]
        marker = secrets.token_hex(16)
        start = f"TARGET = {canaries.target!r}; MARKER = {marker!r}\n"

        def attacked(number: int) -> tuple[str, str]:
            session = sessions[number]
            session.run(f"mine = {number}")
            output = "".join(session.run(start + attack.code).text for attack in _QUICK[number::20])
            return output, session.run("print(mine)").text

        with ThreadPoolExecutor(count) as threads:
            results = list(threads.map(attacked, range(count)))
        assert not [output for output, _ in results if marker in output.splitlines()]
        assert [printed for _, printed in results] == [f"{number}\n" for number in range(count)]
        assert canaries.find_harm(marker) is None

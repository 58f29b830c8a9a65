from __future__ import annotations

import enum
import json
import math
import threading
import time
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sandbox import Figure, Policy, Sandbox
from sandbox.guest.host import Host, HostError
from sandbox.protocol.rpc import Bridge
from tests.sandbox.conftest import png


class Channels:
    """What lies between a cell and the host, without a kernel: JSON that Jupyter would accept, and buffers."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.replies: list[tuple[dict[str, Any], list[bytes]]] = []

    def send(self, content: dict[str, Any], buffers: list[bytes]) -> None:
        content, returned = self.bridge.answer(over_the_wire(content), buffers)
        self.replies.append((over_the_wire(content), returned))

    def receive(self) -> tuple[dict[str, Any], list[bytes]]:
        return self.replies.pop(0)


def over_the_wire(content: dict[str, Any]) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(json.dumps(content, ensure_ascii=False, allow_nan=False).encode())
    return sent


def host(policy: Policy | None = None, **functions: Callable[..., Any]) -> Host:
    bridge = Bridge(functions, policy or Policy())
    channels = Channels(bridge)
    return Host(bridge.names, channels.send, channels.receive)


def echo(*arguments: Any, **options: Any) -> Any:
    return [list(arguments), options]


def given_to(function: Callable[[Host], Any], policy: Policy | None = None) -> Any:
    """What a function of the host gets when a cell calls it as `host.take(...)`."""
    taken: list[Any] = []
    function(host(policy, take=taken.append))
    return taken[0]


def pixels(data: bytes) -> Any:
    return np.asarray(Image.open(BytesIO(data)))


special = st.sampled_from(["__bytes__", "__picture__", "__float__", "__int__", "__dict__", "a"])
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(special | st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(
    st.lists(values, max_size=3),
    st.dictionaries(st.from_regex(r"[a-z]+", fullmatch=True), values, max_size=3),
)
def test_values_come_back_as_they_went(arguments: list[Any], options: dict[str, Any]) -> None:
    assert host(echo=echo).echo(*arguments, **options) == [arguments, options]


@given(values)
def test_types_come_back_as_they_went(value: Any) -> None:
    assert repr(host(echo=lambda each: each).echo(value)) == repr(value)


def test_what_json_does_not_know_comes_back() -> None:
    found = host(echo=echo).echo(math.nan, -math.inf, 10**1000, -(2**64))
    assert math.isnan(found[0][0])
    assert found[0][1:] == [-math.inf, 10**1000, -(2**64)]


def test_a_tuple_arrives_as_a_list() -> None:
    assert given_to(lambda host: host.take((1, (2,)))) == [1, [2]]


class Colour(str, enum.Enum):  # noqa: UP042 - one whose `str` is not its value
    RED = "red"


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (bytearray(b"a"), b"a"),
        (Colour.RED, "red"),
    ],
)
def test_kin_of_plain_values_arrive_as_plain_values(value: Any, arrives: object) -> None:
    found = given_to(lambda host: host.take(value))
    assert (found, type(found)) == (arrives, type(arrives))


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
def test_an_image_arrives_as_a_figure_with_the_same_pixels(mode: str) -> None:
    image = Image.effect_noise((40, 30), 80).convert(mode)
    figure = given_to(lambda host: host.take(image))
    assert (figure.mime, figure.width, figure.height) == ("image/png", 40, 30)
    assert np.array_equal(pixels(figure.data), np.asarray(image))


def test_an_image_of_another_mode_arrives_as_rgb() -> None:
    figure = given_to(lambda host: host.take(Image.new("CMYK", (4, 3))))
    assert Image.open(BytesIO(figure.data)).mode == "RGB"


def test_an_array_of_pixels_arrives_as_a_figure() -> None:
    array = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
    assert np.array_equal(pixels(given_to(lambda host: host.take(array)).data), array)


def test_a_mask_arrives_in_two_colours() -> None:
    mask = np.array([[True, False]])
    assert pixels(given_to(lambda host: host.take(mask)).data).tolist() == [[255, 0]]


def test_a_large_photo_arrives_as_jpeg() -> None:
    figure = given_to(lambda host: host.take(Image.new("RGB", (2000, 1500), "red")))
    assert (figure.mime, figure.width, figure.height) == ("image/jpeg", 2000, 1500)


@pytest.mark.parametrize("returned", [Figure(png(), "image/png", 40, 30), png()])
def test_a_picture_of_the_host_is_an_image_in_the_cell(returned: Figure | bytes) -> None:
    image = host(draw=lambda: {"crops": [returned]}).draw()["crops"][0]
    assert type(image) is Image.Image
    assert (image.mode, image.size) == ("RGB", (40, 30))


def test_an_image_named_often_is_one_figure() -> None:
    taken: list[Any] = []
    request = {"call": "1", "function": "take", "args": [[{"__picture__": 0}] * 1000], "kwargs": {}}
    Bridge({"take": taken.append}, Policy()).answer(request, [png()])
    assert len({id(figure) for figure in taken[0]}) == 1


def test_an_image_of_the_host_with_two_sizes_arrives_as_bytes() -> None:
    sink = BytesIO()
    Image.new("RGB", (40, 30)).save(sink, "JPEG")
    at = sink.getvalue().index(b"\xff\xc0")
    data = sink.getvalue()[: at + 19] + sink.getvalue()[at:]
    assert host(draw=lambda: data).draw() == data


def test_the_functions_of_the_host_are_listed() -> None:
    bridge = host(detect=echo, caption=echo)
    assert (dir(bridge), repr(bridge)) == (["caption", "detect"], "<host functions: detect, caption>")


def test_an_unknown_function_is_named_with_the_known_ones() -> None:
    with pytest.raises(HostError, match=r"^the host has no function 'segment'; it has: detect$"):
        host(detect=echo).segment()


def test_the_host_has_only_its_functions_as_attributes() -> None:
    assert not hasattr(host(detect=echo), "_repr_html_")


class SecretiveError(Exception):
    def __str__(self) -> str:
        raise ValueError


def failing(error: BaseException) -> Callable[..., Any]:
    def fail(*arguments: Any) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("two\nlines"), "f failed: ValueError: two lines"),
        (ValueError(), "f failed: ValueError"),
        (KeyError("a"), "f failed: KeyError: 'a'"),
        (SecretiveError(), "f failed: SecretiveError: its message cannot be read"),
        (SystemExit(3), "f failed: SystemExit: 3"),
        (KeyboardInterrupt(), "f failed: KeyboardInterrupt"),
        (ValueError("\ud800"), "f failed: ValueError: \\ud800"),
    ],
)
def test_an_exception_of_the_host_is_reported_in_one_line(error: BaseException, message: str) -> None:
    with pytest.raises(HostError) as raised:
        host(f=failing(error)).f()
    assert str(raised.value) == message


def test_the_message_of_an_exception_is_cut() -> None:
    with pytest.raises(HostError) as raised:
        host(f=failing(ValueError("x" * 10_000))).f()
    assert len(str(raised.value)) == 500


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({1: 2}, "argument 1 of f: a dictionary with a key of type int"),
        ({1, 2}, "argument 1 of f: a value of type set"),
        ("\ud800", "half a surrogate pair"),
        (np.zeros((4, 4)), "an array 4x4 of float64 is no picture"),
        (np.zeros(5, np.uint8), "an array 5 of uint8 is no picture"),
        (np.zeros((0, 5), np.uint8), "an array 0x5 of uint8 is no picture"),
        (Image.new("RGB", (0, 5)), "a picture of 0x5 pixels is empty"),
        (circle(), "nested deeper than 30 levels"),
    ],
)
def test_an_argument_that_cannot_go_is_refused_in_the_cell(value: object, why: str) -> None:
    with pytest.raises(HostError, match=why):
        host(f=echo).f(value)


@pytest.mark.parametrize("value", [object(), {1: 2}, "\ud800", {1, 2}, circle()])
def test_a_result_that_cannot_be_sent_is_reported(value: object) -> None:
    with pytest.raises(HostError, match=r"^f returned .*, which cannot go to the cell$"):
        host(f=lambda: value).f()


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (Policy(figure_pixels=100), "f was not called, it got an image of 40x30 pixels: the limit is 100"),
        (Policy(figure_bytes=10), "f was not called, it got an image of .* bytes: the limit is 10"),
        (
            Policy(host_bytes=10),
            "a cell may request 10 bytes with host functions, and this one has used them up",
        ),
    ],
)
def test_a_picture_over_a_limit_is_refused(policy: Policy, why: str) -> None:
    with pytest.raises(HostError, match=why):
        host(policy, f=echo).f(Image.new("RGB", (40, 30)))


def test_long_texts_count_too() -> None:
    with pytest.raises(HostError, match="may request 100 bytes"):
        host(Policy(host_bytes=100), f=echo).f({"key": ["x" * 200]})


def test_a_result_over_the_limit_is_not_sent() -> None:
    with pytest.raises(HostError, match=r"f returned \d+ bytes: the limit is 100"):
        host(Policy(figure_bytes=100), f=lambda: ["x" * 90, bytes(50)]).f()


def test_the_calls_of_a_cell_are_counted() -> None:
    bridge = host(Policy(host_calls=2), f=echo)
    bridge.f()
    bridge.f()
    with pytest.raises(
        HostError, match="a cell may call host functions 2 times, and this one has used them up"
    ):
        bridge.f()


def test_a_late_answer_has_an_error_in_its_place() -> None:
    content, buffers = Bridge({}, Policy(host_call_timeout_s=1.5)).timeout_reply(
        {"call": "7", "function": "f"}
    )
    assert (content, buffers) == ({"call": "7", "error": "f took longer than 1.5 s and was given up"}, [])


def test_a_call_does_not_get_the_reply_of_an_interrupted_one() -> None:
    channels = Channels(Bridge({"f": lambda value: value}, Policy()))
    interrupted = [True]

    def receive() -> tuple[dict[str, Any], list[bytes]]:
        if interrupted.pop() if interrupted else False:
            raise KeyboardInterrupt
        return channels.receive()

    bridge = Host(["f"], channels.send, receive)
    with pytest.raises(KeyboardInterrupt):
        bridge.f("old")
    assert bridge.f("new") == "new"
    assert channels.replies == []


def test_threads_of_a_cell_call_one_at_a_time() -> None:
    channels = Channels(Bridge({"f": lambda value: value}, Policy()))
    under_way: list[int] = []
    found: dict[int, int] = {}

    def send(content: dict[str, Any], buffers: list[bytes]) -> None:
        under_way.append(len(channels.replies))
        channels.send(content, buffers)
        time.sleep(0.01)  # in which another thread would get its turn

    bridge = Host(["f"], send, channels.receive)

    def work(number: int) -> None:
        found[number] = bridge.f(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number for number in range(5)}
    assert under_way == [0] * 5


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(special | st.text(max_size=5), inner, max_size=3)
        | st.builds(lambda key, value: {key: value}, special, inner)
    ),
    max_leaves=10,
)
requests = st.fixed_dictionaries(
    {},
    optional={
        "call": anything,
        "function": st.just("echo") | anything,
        "args": st.lists(anything, max_size=3) | anything,
        "kwargs": st.dictionaries(st.text(max_size=5), anything, max_size=3) | anything,
    },
)


@given(requests | anything, st.lists(st.binary(max_size=40) | st.just(png()), max_size=3))
def test_nothing_that_a_guest_sends_raises(content: object, buffers: list[bytes]) -> None:
    reply, returned = Bridge({"echo": echo}, Policy()).answer(content, buffers)
    assert isinstance(reply["call"], str)
    assert ("error" in reply) != ("value" in reply)
    over_the_wire(reply)
    assert all(isinstance(each, bytes) for each in returned)


@pytest.mark.parametrize(
    ("argument", "why"),
    [
        ({"__bytes__": 1}, "a buffer that was not sent"),
        ({"__bytes__": -1}, "a buffer that was not sent"),
        ({"__bytes__": True}, "a buffer that was not sent"),
        ({"__picture__": 0}, "an image that is not a PNG or JPEG file"),
        ({"__float__": "1e9"}, "a malformed float"),
        ({"__int__": "0x" + "f" * 20_000}, "a malformed int"),
        ({"__int__": "z"}, "a malformed int"),
        ({"__dict__": [["a"]]}, "a malformed dictionary"),
        ({"__dict__": [[1, 2]]}, "a malformed dictionary"),
        ({"__dict__": "a"}, "a malformed dict"),
    ],
)
def test_a_forged_argument_is_refused(argument: object, why: str) -> None:
    request = {"call": "1", "function": "echo", "args": [argument], "kwargs": {}}
    reply, _ = Bridge({"echo": echo}, Policy()).answer(request, [b"GIF89a"])
    assert reply == {"call": "1", "error": f"echo was not called, it got {why}"}


def test_a_deep_or_wide_argument_is_refused() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    wide = [0] * 1_000_001
    for argument in (deep, wide):
        request = {"call": "1", "function": "echo", "args": [argument], "kwargs": {}}
        reply, _ = Bridge({"echo": echo}, Policy()).answer(request, [])
        assert "nested deeper than 40 levels, or more than 1000000 values" in reply["error"]


def test_a_call_that_comes_before_the_host_has_connected_is_not_lost(sandbox: Sandbox) -> None:
    """The host connects its end when a cell has functions; in most new sessions the first call is earlier."""
    for _ in range(25):
        with sandbox.open({}) as session:
            assert session.run("print(host.two())", functions={"two": lambda: 2}).text == "2\n"

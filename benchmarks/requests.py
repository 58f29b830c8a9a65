"""The cost of a request and the delay until a cell starts: three tables, each with a baseline from the same run.

python -m benchmarks.requests [--figures 30] [--conversations 64] [--repeats 5]

1. Building the request of turn 30 with 30 figures of 12 megapixels: CPU time of the calling thread, against a loop
   that decodes, scales and encodes every image for every request (goal: 20 times less).
2. From the last token of a cell, as the server sends it, to the start of the cell in the kernel, while the server sends
   text for two more seconds (goal: a median under 20 ms), against waiting for the whole reply.
3. Replies per second of many conversations in one process, against a single one.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from pyvision.agent.episode import Episode, Limits
from pyvision.config.model_config import ModelConfig
from pyvision.images.read import decode
from pyvision.models.factory import build
from pyvision.text.native_tool_calls import text_of
from pyvision.types import Message, Part, Picture, Question, Reply, Sampling, Text
from sandbox import CellResult, Sandbox
from tests.servers.capabilities import Capabilities
from tests.servers.conversation import Request, ServedReply
from tests.servers.server import ModelServer

_SIDE = (4000, 3000)
_THINK_S = 0.25
_TURNS = 8
_AFTER_S = 2.0
_NEEDED = "I look.\n<code>\n```python\nimport time; print(repr(time.time()))\n```\n</code>"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.requests")
    parser.add_argument("--figures", type=int, default=30, help="turns, with one figure each (default 30)")
    parser.add_argument("--conversations", type=int, default=64, help="at the same time (default 64)")
    parser.add_argument("--repeats", type=int, default=5, help="requests for each median (default 5)")
    options = parser.parse_args(arguments)
    print(measure_building(options.figures, options.repeats), end="\n\n")
    print(measure_start(options.repeats), end="\n\n")
    print(measure_throughput(options.conversations))


def measure_building(figures: int, repeats: int, side: tuple[int, int] = _SIDE) -> str:
    """CPU time and bytes of one late request, ours and the baseline."""
    images = [_photo(seed, side) for seed in range(figures)]
    messages = _conversation(images)
    with run_server(Steady(["more"])) as base_url:
        first, later, sent_bytes = _ask(base_url, messages, repeats)
        plain = [_cpu(lambda: _post_plainly(base_url, messages)) for _ in range(2)]
    ours, theirs = statistics.median(later), min(plain)
    return "\n".join(
        [
            f"request of turn {figures} with {figures} figures of {side[0]} x {side[1]} pixels",
            f"{'':28}{'CPU s':>10}{'MB sent':>10}",
            f"{'first turn with the figures':28}{first:10.3f}{'':>10}",
            f"{'every later turn':28}{ours:10.3f}{sent_bytes / 1e6:10.1f}",
            f"{'encoding again, each turn':28}{theirs:10.3f}",
            f"{theirs / ours:.0f} times less CPU (goal 20)",
        ]
    )


def _ask(base_url: str, messages: tuple[Message, ...], repeats: int) -> tuple[float, list[float], int]:
    """CPU seconds of the first request with these images, and of later ones; the bytes of a request."""
    config = ModelConfig("openai", model="m", base_url=base_url)
    with closing(build(config)) as model, Sandbox() as sandbox:
        episode = Episode(
            Question("?"), {"default": model}, Limits(max_turns=1000), _any(sandbox), lambda event: None
        )
        episode.ask("solver", messages[:1])  # creates the client
        first = _cpu(lambda: episode.ask("solver", messages))
        later = [_cpu(lambda: episode.ask("solver", messages)) for _ in range(repeats)]
    return first, later, sum(_count_sent_bytes(part) for message in messages for part in message.parts)


def _count_sent_bytes(part: Part) -> int:
    from pyvision.images.fit import fit

    return -(-len(fit(part).picture.data) // 3) * 4 if isinstance(part, Picture) else len(text_of(part))


def _post_plainly(base_url: str, conversation: Sequence[Message]) -> None:
    """The baseline: from pixels to JPEG and base64, for every image in every request."""
    import openai

    messages: list[Any] = [
        {"role": message.role, "content": [_encode_again(part) for part in message.parts]}
        for message in conversation
    ]
    with openai.OpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        client.chat.completions.create(model="m", messages=messages)


def _encode_again(part: Part) -> dict[str, Any]:
    from PIL import Image

    if not isinstance(part, Picture):
        return {"type": "text", "text": text_of(part)}
    with Image.open(io.BytesIO(part.data)) as image:
        image.thumbnail((2048, 2048))
        file = io.BytesIO()
        image.save(file, "JPEG", quality=90)
    url = f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _conversation(images: Sequence[Picture]) -> tuple[Message, ...]:
    """One figure per turn, in the format of the code loop."""
    turns: list[Message] = []
    for number, picture in enumerate(images):
        tag = f"image_clue_{number}"
        turns.append(Message("user", (Text(f"<{tag}>\n"), picture, Text(f"\n</{tag}>\n"))))
        turns.append(Message("assistant", (Text("<code>\nplt.show()\n</code>"),)))
    return tuple(turns[:-1])


def _photo(seed: int, side: tuple[int, int]) -> Picture:
    """As hard to encode as a photo: smoothed coarse noise with some fine noise."""
    import numpy as np
    from PIL import Image

    random = np.random.default_rng(seed)
    coarse = Image.fromarray(random.integers(0, 256, (60, 80, 3), np.uint8)).resize(
        side, Image.Resampling.BICUBIC
    )
    fine = random.integers(-6, 7, (side[1], side[0], 1), np.int16)
    file = io.BytesIO()
    Image.fromarray(np.clip(np.asarray(coarse, np.int16) + fine, 0, 255).astype(np.uint8)).save(
        file, "JPEG", quality=90
    )
    return decode(file.getvalue(), "photo")


def _cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this thread: the server is another process."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


class _Chatty:
    """A Brain whose server sends more text after the cell, and records when the cell was sent."""

    def __init__(self) -> None:
        self.sent_at = 0.0
        self._seen = b""

    def __call__(self, request: Request) -> str:
        self._seen = b""
        return _NEEDED + " and so on" * 40

    def on_sent(self, piece: bytes) -> None:
        """Called by the server after each piece, which contains the text of a token as JSON."""
        found = json.loads(piece[6:])["choices"] if piece.startswith(b"data: {") else []
        text = "".join(choice["delta"].get("content") or "" for choice in found)
        before = b"</code>" in self._seen
        self._seen += text.encode()
        if b"</code>" in self._seen and not before:
            self.sent_at = time.time()
        elif before and text:
            time.sleep(_AFTER_S / 100)


def measure_start(repeats: int) -> str:
    """The delay between sending the last token of a cell and its start in the kernel."""
    streamed = _starts(repeats * 2, stream=True)
    whole = _starts(2, stream=False)
    return "\n".join(
        [
            f"from the last token of a cell to its start in the kernel ({_AFTER_S:g} s of text follow)",
            f"{'':28}{'median ms':>10}{'worst ms':>10}",
            f"{'stream, cut at </code>':28}{statistics.median(streamed) * 1e3:10.1f}{max(streamed) * 1e3:10.1f}",
            f"{'the whole reply':28}{statistics.median(whole) * 1e3:10.1f}{max(whole) * 1e3:10.1f}",
            "goal: a median under 20 ms",
        ]
    )


def _starts(count: int, *, stream: bool) -> list[float]:
    from pyvision.text.replies import find_code

    brain, waits = _Chatty(), []
    deaf = Capabilities(honours_stop=False)
    with (
        ModelServer(brain, can=deaf, sent=brain.on_sent) as server,
        Sandbox() as sandbox,
        sandbox.open() as session,
    ):
        config = ModelConfig("openai", model="m", base_url=server.base_url)
        with closing(build(config)) as model:
            for _ in range(count + 1):
                reply = _reply(model, stream=stream)
                result: CellResult = session.run(find_code(reply.text) or "")
                waits.append(float(result.text) - brain.sent_at)
    return waits[1:]  # the first opens the connection and warms the kernel


def _reply(model: Any, *, stream: bool) -> Reply:
    hello = (Message("user", (Text("?"),)),)
    sampling = Sampling(stop=("</code>",) if stream else ())
    *_, reply = model.stream(hello, sampling)
    assert isinstance(reply, Reply)
    return reply


def measure_throughput(conversations: int, think_s: float = _THINK_S) -> str:
    """Replies per second of one conversation and of many; each reply takes the endpoint `think_s`."""
    with run_server(Steady(["more"], think_s)) as base_url:
        config = ModelConfig("openai", model="m", base_url=base_url)
        with closing(build(config)) as model:
            _converse(model)
            alone = _rate(model, 1)
            many = _rate(model, conversations)
    return "\n".join(
        [
            f"conversations of {_TURNS} turns with an image each, {think_s:g} s per reply at the endpoint",
            f"{'at once':28}{'replies/s':>10}{'each':>10}",
            f"{1:<28}{alone:10.1f}{alone:10.2f}",
            f"{conversations:<28}{many:10.1f}{many / conversations:10.2f}",
            f"{many / alone:.0f} times the replies of one; {1 / think_s * conversations:.0f} would be ideal",
        ]
    )


def _rate(model: Any, conversations: int) -> float:
    began = time.monotonic()
    with ThreadPoolExecutor(conversations) as threads:
        for done in [threads.submit(_converse, model) for _ in range(conversations)]:
            done.result()
    return conversations * _TURNS / (time.monotonic() - began)


def _converse(model: Any) -> None:
    image = _small_image()
    messages: tuple[Message, ...] = ()
    for _ in range(_TURNS):
        messages = (*messages, Message("user", (Text("<interpreter>\n"), image, Text("\n</interpreter>"))))
        reply = model.complete(messages, Sampling(stop=("</code>",)))
        messages = (*messages, Message("assistant", (Text(reply.text),)))


def _small_image() -> Picture:
    from PIL import Image

    file = io.BytesIO()
    Image.effect_noise((200, 150), 60).convert("RGB").save(file, "PNG")
    return decode(file.getvalue(), "figure")


def _any(value: object) -> Any:
    """A value that does not declare the whole protocol."""
    return value


@dataclass(frozen=True, slots=True)
class Steady:
    """A Brain that waits, then replies with the n-th text to the n-th turn, repeating the last one."""

    texts: Sequence[str]
    think_s: float = 0.0

    def __call__(self, request: Request) -> str | ServedReply:
        time.sleep(self.think_s)
        turn = sum(turn.role == "assistant" for turn in request.turns)
        return self.texts[min(turn, len(self.texts) - 1)]


@contextmanager
def run_server(brain: Steady) -> Iterator[str]:
    """The address of a server in another process, so that it does not share the interpreter being measured."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(brain, theirs))
    process.start()
    try:
        yield str(ours.recv())
    finally:
        ours.send("end")
        process.join()
        ours.close()
        theirs.close()


def _serve(brain: Steady, pipe: Connection) -> None:
    with ModelServer(brain) as server:
        pipe.send(server.base_url)
        pipe.recv()


if __name__ == "__main__":
    main()

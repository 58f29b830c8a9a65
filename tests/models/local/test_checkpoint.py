"""A checkpoint in this process: what it is given, what comes of what it writes, and what is said of a bad folder.

The checkpoint here is a small double with the same interface; `make test-real` runs a real one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig, load_model_config
from pyvision.errors import ConfigError, MissingExtra, ModelError
from pyvision.models.factory import build
from pyvision.models.local.checkpoint import Generated, LocalModel, chat_messages
from pyvision.types import Message, Reply, Sampling, Text
from tests.doubles import picture

HELLO = (Message("system", (Text("be brief"),)), Message("user", (picture(8, 6, "red"), Text("hello"))))


class Parrot:
    """Writes these pieces and keeps what it was given."""

    def __init__(self, *pieces: str, is_cut: bool = False) -> None:
        self.pieces = pieces
        self.is_cut = is_cut
        self.given: list[tuple[Any, Any]] = []
        self.written: list[str] = []
        self.is_closed = False

    def generate(
        self, messages: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], is_over: Callable[[], bool]
    ) -> Generator[str | Generated, None, None]:
        self.given.append((messages, settings))
        try:
            for piece in self.pieces:
                if is_over():
                    break
                self.written.append(piece)
                yield piece
            yield Generated((1, 2, 3), tuple(range(len(self.written))), self.is_cut)
        finally:
            self.is_closed = True


def model(parrot: Parrot, **settings: Any) -> LocalModel:
    return LocalModel(ModelConfig("local", "/models/tiny", **settings), lambda folder: parrot)


def test_images_stand_in_their_place_between_the_texts() -> None:
    system, user = chat_messages(HELLO)
    assert system == {"role": "system", "content": [{"type": "text", "text": "be brief"}]}
    image, text = user["content"]
    assert (image["type"], image["image"].size, image["image"].getpixel((0, 0))) == (
        "image",
        (8, 6),
        (255, 0, 0),
    )
    assert text == {"type": "text", "text": "hello"}


def reply_in_two_pieces() -> Reply:
    return model(Parrot("good ", "morning")).complete(HELLO, Sampling())


def test_a_reply_has_the_text_of_all_pieces() -> None:
    reply = reply_in_two_pieces()
    assert (reply.text, reply.finish) == ("good morning", "end")


def test_a_reply_has_its_tokens() -> None:
    reply = reply_in_two_pieces()
    assert (reply.prompt_ids, reply.token_ids) == ((1, 2, 3), (0, 1))


def test_the_usage_of_a_reply_is_the_count_of_its_tokens() -> None:
    usage = reply_in_two_pieces().usage
    assert (usage.input_tokens, usage.output_tokens) == (3, 2)


def test_a_stop_string_ends_the_generation() -> None:
    parrot = Parrot("<code>\nx = 1\n</co", "de>", " and on", " and on")
    reply = model(parrot).complete(HELLO, Sampling(stop=("</code>",)))
    assert (reply.text, reply.finish) == ("<code>\nx = 1\n", "stop")
    assert len(parrot.written) == 2


def test_a_reply_at_its_token_limit_says_so() -> None:
    assert model(Parrot("and then", is_cut=True)).complete(HELLO, Sampling()).finish == "length"


def test_an_empty_reply_is_an_error() -> None:
    with pytest.raises(ModelError, match="tiny: the reply is empty"):
        model(Parrot()).complete(HELLO, Sampling())


def test_a_reply_that_takes_too_long_is_ended() -> None:
    with pytest.raises(ModelError, match="no whole reply within 1e-09 s; raise total_s"):
        model(Parrot("a", "b"), total_s=1e-9).complete(HELLO, Sampling())


def test_a_stream_that_is_closed_ends_the_generation() -> None:
    parrot = Parrot("a", "b", "c")
    pieces: Any = model(parrot).stream(HELLO, Sampling())
    next(pieces)
    pieces.close()
    assert (parrot.written, parrot.is_closed) == (["a"], True)


@pytest.mark.parametrize(
    ("temperature", "expected"),
    [(None, {}), (0.0, {"do_sample": False}), (0.5, {"do_sample": True, "temperature": 0.5})],
)
def test_only_a_temperature_that_is_set_changes_how_it_samples(
    temperature: float | None, expected: dict[str, Any]
) -> None:
    parrot = Parrot("x")
    model(parrot, max_tokens=70).complete(HELLO, Sampling(temperature=temperature))
    assert parrot.given[0][1] == {"max_new_tokens": 70, "template": {}} | expected


def test_reasoning_is_a_variable_of_the_chat_template() -> None:
    parrot = Parrot("x")
    config = ModelConfig("local", "/models/Qwen3-VL-2B", reasoning="off")
    LocalModel(config, lambda folder: parrot).complete(HELLO, Sampling())
    assert parrot.given[0][1]["template"] == {"enable_thinking": False}


def checkpoint(folder: Path) -> Path:
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


def test_the_flag_takes_a_folder(tmp_path: Path) -> None:
    config = load_model_config(f"local:{tmp_path}", None, {"PYVISION_MAX_TOKENS": "9"})
    assert (config.wire, config.model, config.max_tokens) == ("local", str(tmp_path), 9)


def test_the_flag_without_a_folder_says_how_to_write_it() -> None:
    with pytest.raises(ConfigError, match="wire 'local' needs 'model'; write local:FOLDER"):
        load_model_config("local", None, {})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "no such folder"),
        ([], "holds no config.json"),
        (["config.json"], r"holds no \*.safetensors"),
        (["config.json", "pytorch_model.bin"], r"holds no \*.safetensors"),
    ],
)
def test_a_folder_that_holds_no_checkpoint_is_one_line(
    tmp_path: Path, content: list[str] | None, complaint: str
) -> None:
    folder = tmp_path / "model"
    if content is not None:
        folder.mkdir()
        for name in content:
            (folder / name).write_text(json.dumps({}))
    with pytest.raises(ConfigError, match=complaint):
        build(ModelConfig("local", str(folder)))


def test_a_missing_library_is_one_line_with_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtra, match=r"torch is not installed; install it: pip install 'pyvision-agent\[local\]'"
    ):
        build(ModelConfig("local", str(checkpoint(tmp_path))))

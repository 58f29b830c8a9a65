"""vLLM's `LLM` in this process: which checkpoints it gets, how its engine is stepped, and what ends a reply.

The package `vllm` here is a small double with the same interface; `make test-vllm` runs the real one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig, load_model_config
from pyvision.errors import ConfigError, MissingExtra, ModelError
from pyvision.models.factory import build
from pyvision.models.local import vllm as local_vllm
from pyvision.models.local.checkpoint import Generated, chat_messages
from pyvision.models.local.vllm import VllmCheckpoint
from pyvision.types import Message, Sampling, Text
from tests.doubles import picture
from tests.models.local.test_checkpoint import Parrot, checkpoint

HELLO = (Message("user", (picture(8, 6, "red"), Text("hello"))),)
SETTINGS = {"max_new_tokens": 70, "template": {"enable_thinking": False}}


@dataclass
class Params:
    """What vLLM calls TokenizeParams, with the two fields that are set."""

    add_special_tokens: bool = True
    max_total_tokens: int | None = 100


@dataclass
class Engine:
    """Writes a piece at each step, after one of another request; keeps what it was given."""

    pieces: Sequence[str] = ("good ", "morning")
    finish: str = "stop"
    fault: Exception | None = None
    asked: list[Any] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    rendered: list[Any] = field(default_factory=list)

    @property
    def renderer(self) -> Any:
        return SimpleNamespace(default_chat_tok_params=Params(), render_chat=self.render)

    def render(self, conversations: Any, params: Any, tokens: Params) -> Any:
        self.rendered.append((conversations, params, tokens))
        return conversations, [{"type": "multimodal", "prompt_token_ids": [1, 2, 3]}]

    def add_request(self, request_id: str, prompt: Any, params: Any) -> None:
        self.asked.append((request_id, params))
        self.written = 0

    def step(self) -> list[Any]:
        if self.fault:
            raise self.fault
        piece, self.written = self.pieces[self.written], self.written + 1
        finish = self.finish if self.written == len(self.pieces) else None
        mine = SimpleNamespace(text=piece, token_ids=[self.written], finish_reason=finish)
        other = SimpleNamespace(text="of another", token_ids=[99], finish_reason="stop")
        return [
            SimpleNamespace(request_id="another", outputs=[other]),
            SimpleNamespace(request_id=self.asked[-1][0], outputs=[mine]),
        ]

    def abort_request(self, ids: list[str]) -> None:
        self.aborted += ids


def installed(name: str) -> Any:
    """A module that is found."""
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    return module


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A package `vllm`, whose LLM keeps its arguments in `loaded` and raises `refusal` if there is one."""
    package, renderers, sampling = map(installed, ("vllm", "vllm.renderers", "vllm.sampling_params"))
    double = package
    double.loaded, double.refusal = [], None

    def load(model: str, **arguments: Any) -> Any:
        double.loaded.append((model, arguments, dict(os.environ)))
        if double.refusal:
            raise double.refusal
        return llm_of(Engine())

    double.LLM, double.SamplingParams = load, SimpleNamespace(from_optional=SimpleNamespace)
    renderers.ChatParams = SimpleNamespace
    sampling.RequestOutputKind = SimpleNamespace(DELTA="delta")
    for module in (package, renderers, sampling, *map(installed, ("torch", "transformers"))):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("VLLM_LOGGING_STREAM", "VLLM_NO_USAGE_STATS"):
        monkeypatch.setenv(name, "")  # so that it is as before after the test
        monkeypatch.delenv(name)
    return double


def llm_of(engine: Engine, **generation: Any) -> Any:
    """The LLM of an engine, of a checkpoint with these generation settings."""
    own = {name: value for name, value in generation.items() if name != "do_sample"}
    config = SimpleNamespace(
        max_model_len=100,
        get_diff_sampling_param=lambda: own,
        try_get_generation_config=lambda: generation,
    )
    return SimpleNamespace(llm_engine=engine, model_config=config)


def generate(
    engine: Engine, settings: Any = SETTINGS, is_over: Callable[[], bool] = lambda: False, **generation: Any
) -> list[Any]:
    checkpoint = VllmCheckpoint("tiny", llm_of(engine, **generation))
    return list(checkpoint.generate(chat_messages(HELLO), settings, is_over))


def sampled(settings: Any = SETTINGS, **generation: Any) -> dict[str, Any]:
    """The sampling parameters of a reply."""
    engine = Engine()
    generate(engine, settings, **generation)
    return dict(vars(engine.asked[0][1]))


@pytest.mark.usefixtures("vllm")
def test_the_pieces_of_a_reply_come_before_its_tokens() -> None:
    assert generate(Engine()) == ["good ", "morning", Generated((1, 2, 3), (1, 2), is_cut=False)]


@pytest.mark.usefixtures("vllm")
def test_a_reply_that_ended_by_itself_is_not_aborted() -> None:
    engine = Engine()
    generate(engine)
    assert engine.aborted == []


@pytest.mark.usefixtures("vllm")
def test_a_reply_that_is_over_is_aborted() -> None:
    engine, calls = Engine(("a", "b", "c")), iter((False, True))
    assert generate(engine, is_over=lambda: next(calls))[:-1] == ["a"]
    assert engine.aborted == [engine.asked[0][0]]


@pytest.mark.usefixtures("vllm")
def test_a_stream_that_is_closed_aborts_its_reply() -> None:
    engine = Engine()
    pieces = VllmCheckpoint("tiny", llm_of(engine)).generate(chat_messages(HELLO), SETTINGS, lambda: False)
    next(pieces)
    pieces.close()
    assert engine.aborted == [engine.asked[0][0]]


@pytest.mark.usefixtures("vllm")
def test_a_reply_at_its_token_limit_is_cut() -> None:
    assert generate(Engine(finish="length"))[-1].is_cut


@pytest.mark.usefixtures("vllm")
def test_what_its_engine_raises_is_one_line() -> None:
    with pytest.raises(ModelError, match=r"tiny: the generation failed \(the engine is dead\)"):
        generate(Engine(fault=Exception("the engine\nis dead")))


@pytest.mark.usefixtures("vllm")
def test_images_keep_their_place() -> None:
    engine = Engine()
    generate(engine)
    ((((message,),), template, _),) = engine.rendered
    image, text = message["content"]
    assert (image["type"], image["image_pil"].size, text) == (
        "image_pil",
        (8, 6),
        {"type": "text", "text": "hello"},
    )
    assert template.chat_template_kwargs == {"add_generation_prompt": True, "enable_thinking": False}


@pytest.mark.usefixtures("vllm")
def test_a_prompt_without_room_for_the_reply_is_a_context_error() -> None:
    with pytest.raises(
        ModelError, match="3 tokens and 98 for the reply are more than its context of 100"
    ) as caught:
        generate(Engine(), SETTINGS | {"max_new_tokens": 98})
    assert caught.value.kind == "context"


@pytest.mark.usefixtures("vllm")
@pytest.mark.parametrize(
    ("generation", "settings", "temperature"),
    [
        ({}, {}, 0.0),
        ({"temperature": 0.7}, {}, 0.0),
        ({"do_sample": True, "temperature": 0.7}, {}, 0.7),
        ({"do_sample": True, "temperature": 0.7}, {"do_sample": False}, 0.0),
        ({}, {"do_sample": True, "temperature": 0.5}, 0.5),
    ],
)
def test_it_samples_as_transformers_would(
    generation: dict[str, Any], settings: dict[str, Any], temperature: float
) -> None:
    assert sampled(SETTINGS | settings, **generation)["temperature"] == temperature


@pytest.mark.usefixtures("vllm")
def test_other_settings_of_the_checkpoint_hold() -> None:
    found = sampled(do_sample=True, top_k=20, max_tokens=5)
    assert (found["top_k"], found["max_tokens"], found["output_kind"]) == (20, 70, "delta")


def test_it_gets_the_checkpoint_where_it_is_installed(vllm: Any, tmp_path: Path) -> None:
    model = build(ModelConfig("local", str(checkpoint(tmp_path))))
    assert model.complete(HELLO, Sampling(max_tokens=9)).text == "good morning"
    assert vllm.loaded[0][:2] == (str(tmp_path), {"trust_remote_code": False})


def test_it_neither_reports_its_use_nor_writes_to_standard_output(vllm: Any, tmp_path: Path) -> None:
    build(ModelConfig("local", str(checkpoint(tmp_path)))).complete(HELLO, Sampling(max_tokens=9))
    ((_, _, environ),) = vllm.loaded
    assert environ["VLLM_NO_USAGE_STATS"] == "1"
    assert environ["VLLM_LOGGING_STREAM"] == "ext://sys.stderr"


def test_arguments_of_the_configuration_are_its_own(vllm: Any, tmp_path: Path) -> None:
    config = ModelConfig("local", str(checkpoint(tmp_path)), vllm={"gpu_memory_utilization": 0.5})
    build(config).complete(HELLO, Sampling(max_tokens=9))
    assert vllm.loaded[0][1]["gpu_memory_utilization"] == 0.5


@pytest.mark.parametrize("setting", [False, None])
def test_transformers_runs_what_it_may_not_load(
    setting: bool | None, vllm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched off, or refused by vLLM."""
    vllm.refusal = ValueError("unknown architecture")
    monkeypatch.setattr(local_vllm, "load_transformers", lambda folder: Parrot("by transformers"))
    model = build(ModelConfig("local", str(checkpoint(tmp_path)), vllm=setting))
    assert model.complete(HELLO, Sampling()).text == "by transformers"
    assert len(vllm.loaded) == (0 if setting is False else 1)


def test_why_it_cannot_load_a_checkpoint_is_logged(
    vllm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    vllm.refusal = ValueError("unknown\narchitecture")
    monkeypatch.setattr(local_vllm, "load_transformers", lambda folder: Parrot("x"))
    build(ModelConfig("local", str(checkpoint(tmp_path)))).complete(HELLO, Sampling())
    assert "vLLM cannot load it (unknown architecture); transformers runs it" in caplog.text


def test_a_checkpoint_that_has_to_run_in_it_is_an_error_where_it_cannot(vllm: Any, tmp_path: Path) -> None:
    vllm.refusal = ValueError("unknown architecture")
    model = build(ModelConfig("local", str(checkpoint(tmp_path)), vllm=True))
    with pytest.raises(ModelError, match=r"vLLM cannot load it \(unknown architecture\)"):
        model.complete(HELLO, Sampling())


def test_asking_for_it_where_it_is_missing_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in map(installed, ("torch", "transformers")):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(
        MissingExtra, match=r"vllm is not installed; install it: pip install 'pyvision-agent\[vllm\]'"
    ):
        build(ModelConfig("local", str(checkpoint(tmp_path)), vllm=True))


def test_the_setting_is_refused_for_another_wire(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"wire": "openai", "model": "m", "base_url": "http://127.0.0.1:1/v1", "vllm": true}')
    with pytest.raises(ConfigError, match="'vllm' is a setting of wire 'local'"):
        load_model_config(None, file, {})

"""The tiny model in vLLM's `LLM`, in this process: `--model local:FOLDER` where vLLM is installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.errors import ModelError
from pyvision.models.factory import OwnedModel, build
from pyvision.types import Message, Reply, Sampling, Text
from tests.real.conversation import CELL, COLOURS, QUESTION
from tests.real.test_transformers import check, converse

pytestmark = [
    pytest.mark.real,
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore"),  # those of vLLM and of what it imports
]
ASKED = (Message("user", (Text(QUESTION),)),)
ARGUMENTS: dict[str, Any] = {
    "model_impl": "transformers",  # vLLM's own LLaVA needs torchvision, which fits no torch for CPUs from PyPI
    "dtype": "float32",
    "enforce_eager": True,
    "max_model_len": 4096,
    "max_num_seqs": 1,
    "limit_mm_per_prompt": {"image": 8},
}


def configured(folder: Path, **settings: Any) -> ModelConfig:
    return ModelConfig("local", str(folder), max_tokens=200, **({"vllm": ARGUMENTS} | settings))


@pytest.fixture(scope="module", autouse=True)
def _own_environment() -> Iterator[None]:
    """What vLLM and its adapter set ends with this module."""
    pytest.importorskip("vllm", reason="make test-vllm installs it")
    before = dict(os.environ)
    os.environ |= {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    yield
    os.environ.clear()
    os.environ |= before


@pytest.fixture(scope="module", autouse=True)
def by_transformers(_own_environment: None, tiny_model: Path) -> Reply:
    """Its reply there, asked first: with `model_impl`, vLLM changes classes of transformers for the whole process."""
    with closing(build(configured(tiny_model, vllm=False))) as other:
        return other.complete(ASKED, Sampling())


@pytest.fixture(scope="module")
def model(tiny_model: Path) -> Iterator[OwnedModel]:
    with closing(build(configured(tiny_model))) as built:
        yield built


def test_transformers_runs_what_it_cannot_load(
    tiny_model: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An architecture that vLLM does not know, as a new family is on the day of its release."""
    import vllm

    def refuse(*_: object, **__: object) -> None:
        raise ValueError("Model architectures are not supported for now")

    monkeypatch.setattr(vllm, "LLM", refuse)
    with closing(build(configured(tiny_model, vllm=None))) as own:
        assert own.complete(ASKED, Sampling()).text
    assert (
        "vLLM cannot load it (Model architectures are not supported for now); transformers runs it"
        in caplog.text
    )


@pytest.mark.parametrize("colour", COLOURS)
def test_it_answers_from_the_figure(colour: str, tiny_model: Path, tmp_path: Path) -> None:
    check(converse(tmp_path, colour, configured(tiny_model)), colour)


def test_it_writes_what_transformers_writes(model: OwnedModel, by_transformers: Reply) -> None:
    assert model.complete(ASKED, Sampling()) == by_transformers


def test_text_comes_in_pieces(model: OwnedModel) -> None:
    *pieces, reply = model.stream(ASKED, Sampling())
    assert len(pieces) > 3
    assert "".join(map(str, pieces)) == getattr(reply, "text", None)


def test_a_stop_string_ends_it_before_its_own_end(model: OwnedModel) -> None:
    whole = model.complete(ASKED, Sampling())
    word = whole.text.split()[1]
    cut = model.complete(ASKED, Sampling(stop=(word,)))
    assert (cut.finish, cut.text) == ("stop", whole.text.partition(word)[0])
    assert len(cut.token_ids) < len(whole.token_ids)


def test_a_token_limit_cuts_it(model: OwnedModel) -> None:
    reply = model.complete(ASKED, Sampling(max_tokens=3))
    assert (reply.finish, len(reply.token_ids)) == ("length", 3)


def test_a_stream_that_is_closed_leaves_it_well(model: OwnedModel) -> None:
    expected = model.complete(ASKED, Sampling()).text
    pieces: Any = model.stream(ASKED, Sampling())
    next(pieces)
    pieces.close()
    assert model.complete(ASKED, Sampling()).text == expected


def test_a_context_that_is_too_long_is_its_own_kind_of_error(model: OwnedModel) -> None:
    long = (Message("user", (Text(CELL * 400),)),)
    with pytest.raises(ModelError, match="more than its context of 4096") as caught:
        model.complete(long, Sampling())
    assert caught.value.kind == "context"


def test_nothing_of_it_is_on_standard_output(tiny_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(build(configured(tiny_model))) as own:
        own.complete(ASKED, Sampling())
    assert capfd.readouterr().out == ""

"""vLLM with the tiny model: both protocols over each API that it serves, and mask-best inside of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pyvision.config.model_config import ModelConfig
from pyvision.events import ModelCall
from tests.real.conversation import COLOURS
from tests.real.test_transformers import check, converse
from tests.servers.wires import WIRES

pytestmark = [pytest.mark.real, pytest.mark.vllm, pytest.mark.timeout(1500)]
SPOKEN = ("completions", "responses", "messages")
ROOT = Path(__file__).parents[2]


def configured(wire: str, address: str, **settings: Any) -> ModelConfig:
    base_url = address if wire == "messages" else f"{address}/v1"
    known: dict[str, Any] = {
        "wire": WIRES[wire],
        "model": "model",
        "base_url": base_url,
        "api_key": "none",
        "max_tokens": 200,
    }
    return ModelConfig(temperature=0.0, retry_s=5.0, **known, **settings)


@pytest.mark.parametrize("wire", SPOKEN)
@pytest.mark.parametrize("colour", COLOURS)
def test_it_answers_from_the_figure_in_text(wire: str, colour: str, vllm_serve: str, tmp_path: Path) -> None:
    check(converse(tmp_path, colour, configured(wire, vllm_serve)), colour)


@pytest.mark.parametrize("wire", SPOKEN)
@pytest.mark.parametrize("place", ["in_result", "after_result"])
@pytest.mark.parametrize("colour", COLOURS)
def test_it_answers_from_the_figure_of_a_tool_call(
    wire: str, place: Any, colour: str, vllm_serve: str, tmp_path: Path
) -> None:
    config = configured(wire, vllm_serve, image_placement=place)
    events = converse(tmp_path, colour, config, protocol="tools")
    check(events, colour)
    first, last = (event for event in events if isinstance(event, ModelCall))
    assert [call.name for call in first.reply.calls] == ["run_python"]
    assert [sent.place for sent in last.sent] == ["turn", place]


_MASKED = """
import json, sys
from pyvision.experiments.vdebugger_training.mask_best import VLLM_KEY, vllm_processor
from vllm import LLM, SamplingParams

model = LLM(sys.argv[1], model_impl="transformers", dtype="float32", enforce_eager=True, max_model_len=512,
            logits_processors=[vllm_processor()])
found = {}
for times in (0, 1):
    rule = {VLLM_KEY: {"threshold": 1.0, "times": times}}
    asked = SamplingParams(temperature=0.0, max_tokens=1, logprobs=2, extra_args=rule)
    output = model.generate(["colour ="], asked, use_tqdm=False)[0].outputs[0]
    found[times] = [output.token_ids[0], {p.rank: token for token, p in output.logprobs[0].items()}]
print("FOUND", json.dumps(found))
"""


def test_mask_best_forbids_the_most_likely_token_inside_of_it(tiny_model: Path) -> None:
    """Once forbidden, the second most likely token is written; with no time to forbid, the first."""
    pytest.importorskip("vllm", reason="make test-vllm installs it")
    settings = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _MASKED, str(tiny_model)],
        env=os.environ | settings | {"PYTHONPATH": str(ROOT), "VLLM_NO_USAGE_STATS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert "FOUND" in done.stdout, done.stderr[-2000:]
    found = json.loads(done.stdout.partition("FOUND")[2].splitlines()[0])
    (free, ranks), (masked, _) = found["0"], found["1"]
    assert free == ranks["1"]
    assert masked == ranks["2"]

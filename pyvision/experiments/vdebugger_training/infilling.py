"""Ask a model to fill the mask of a program: one behind an endpoint, or one whose files lie on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from pyvision.experiments.vdebugger_training.masking import MASK, Masked
from pyvision.text import prompts
from pyvision.types import Message, Model, Sampling, Text

INFILL_TOKENS = 512  # as in the authors' code


def refill_prompt(task: str, masked: Masked, api: str) -> str:
    """What a model is asked."""
    return prompts.render("training/refill.md", api=api, task=task, masked=masked.text, mask=MASK)


def opening_of(task: str, masked: Masked) -> str:
    """How the reply of a local model is begun for it: the fence, the question and, where it is whole, the signature.

    The mask never covers the signature: windows and values lie in the body.
    """
    return f"```python\n# {task}\n{masked.program.splitlines()[0]}\n"


def program_in(reply: str) -> str:
    """The program of a reply: its first fenced block, or all of it where there is no fence."""
    _, fence, rest = reply.partition("```")
    if not fence:
        return reply.strip()
    first, newline, body = rest.partition("\n")
    inside = body if newline and not first.strip().removeprefix("python").strip() else rest
    return inside.partition("```")[0].strip("\n")


class PromptedInfill:
    """Fills masks by an endpoint at temperature 0, one after the other. Raises ModelError.

    api: the functions of visual programs, and worked programs.
    """

    def __init__(self, model: Model, api: str) -> None:
        self._model, self._api = model, api

    def __call__(self, asked: Sequence[tuple[str, Masked]]) -> Sequence[str]:
        return [self._fill(task, masked) for task, masked in asked]

    def _fill(self, task: str, masked: Masked) -> str:
        message = Message("user", (Text(refill_prompt(task, masked, self._api)),))
        reply = self._model.complete([message], Sampling(temperature=0.0, max_tokens=INFILL_TOKENS))
        return program_in(reply.text)


def api_and_examples() -> str:
    """The functions of visual programs and all worked programs, as a refiller reads them."""
    from pyvision.strategies.vdebugger.programs import FORMS
    from pyvision.strategies.vdebugger.roles import api_text, examples_of

    return "\n\n\n".join([api_text(), *(examples_of(form) for form in FORMS)])

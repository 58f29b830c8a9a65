"""Ask the roles:
every request is a conversation of its own, one turn of text, and a case laid out as in the published data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pyvision.agent.episode import Episode
from pyvision.strategies.vdebugger.execution import COMPILE_ERROR, Execution
from pyvision.strategies.vdebugger.task_types import Query
from pyvision.strategies.vdebugger.trace_format import Keep, shorten
from pyvision.text.prompts import load, render
from pyvision.types import Message, Reply, Text

Style: TypeAlias = Literal["instruct", "trained"]


@dataclass(frozen=True, slots=True)
class RoleClient:
    """The question as the roles are asked it.

    style: `instruct` explains the task; `trained` sends the bare case, for models that were trained on it.
    with_feedback: whether a case holds result and trace. keep, feedback_chars: which end of a long trace, and how
    much of it.
    """

    episode: Episode
    query: Query
    style: Style = "instruct"
    with_feedback: bool = True
    keep: Keep = "end"
    feedback_chars: int = 8000

    def ask(self, role: str, prompt: str, *, logprobs: bool = False, **variables: object) -> Reply:
        """Put a prompt of prompts/vdebugger to a role. Raises LimitReached and ModelError, as Episode.ask does."""
        text = render(f"vdebugger/{prompt}.md", **variables)
        return self.episode.ask(role, (Message("user", (Text(text),)),), logprobs=logprobs)

    def ask_about(
        self, role: str, prompt: str, execution: Execution, program: str, *, logprobs: bool = False
    ) -> Reply:
        """Put a case to a role: the question, a program (the one that ran, or it with marks) and what it did."""
        case = self.case(execution, program)
        if self.style == "trained":
            return self.ask(role, f"{prompt}_trained", logprobs=logprobs, case=case)
        return self.ask(role, prompt, logprobs=logprobs, case=case, api=api_text())

    def case(self, execution: Execution, program: str) -> str:
        """The question as a comment, the program, and behind it what it returned and its trace."""
        line = self.query.line
        if not self.with_feedback:
            return render("vdebugger/case_without_feedback.md", line=line, program=program)
        trace = shorten(self._trace(execution), self.feedback_chars, self.keep)
        return render(
            "vdebugger/case.md", line=line, program=program, result=execution.result, trace=trace or "(none)"
        )

    def _trace(self, execution: Execution) -> str:
        if execution.status == "no_program":
            return COMPILE_ERROR if self.style == "trained" else f"{COMPILE_ERROR}\n{execution.error}"
        ended = execution.status in ("timeout", "died")
        return f"{execution.trace}\n[{execution.error}]".lstrip("\n") if ended else execution.trace


def api_text() -> str:
    """The functions that a program may call, as a model is shown them."""
    text = load("vdebugger/api.py")
    return text[text.index("class ImagePatch") :].rstrip("\n")

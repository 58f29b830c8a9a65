"""Tools with fixed outputs, lines of a log, and a dataset with images."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyvision.errors import ToolError
from pyvision.experiments.avis_study.annotation import AnnotationSession, StudyTask
from pyvision.experiments.avis_study.log import Attempt, Closed, Log, Opened, UsedTool
from pyvision.experiments.avis_study.toolbox import StudyToolbox
from pyvision.types import Ask, Observation, Question, Tool, ToolRequest
from tests.doubles import picture, png

OBJECTS = "Object #1: tower (Caption, center)\nObject #2: bridge (Caption, lower center)"


@dataclass
class FakeTool:
    """A tool that returns `text` and records its requests, or fails with the message `fails`."""

    name: str
    text: str = "it is so"
    data: Any = None
    fails: str | None = None
    requests: list[ToolRequest] = field(default_factory=list)
    purpose: str = "tests"

    def __call__(self, request: ToolRequest, ask: Ask) -> Observation:
        self.requests.append(request)
        if self.fails:
            raise ToolError(self.fails)
        return Observation(self.text, self.data)


def box(sides: tuple[float, float, float, float], label: str, score: float = 0.9) -> dict[str, Any]:
    """A detector's box of one object; sides: left, top, right, bottom in pixels."""
    return {
        **dict(zip(("left", "top", "right", "bottom"), sides, strict=True)),
        "label": label,
        "score": score,
    }


def boxes(*found: Mapping[str, Any]) -> dict[str, Any]:
    return {"boxes": list(found)}


def annotation_session(log: Log, *tools: Tool, task: StudyTask | None = None) -> AnnotationSession:
    toolbox = StudyToolbox({tool.name: tool for tool in tools})
    return AnnotationSession(
        task or StudyTask("q1", Question("Which tower?", (picture(90, 90),))), "p-1", toolbox, log
    )


def make_opened(
    attempt: str = "a", question: str = "q1", context: str = OBJECTS, user: str = "p-1"
) -> Opened:
    return Opened(attempt, question, user, f"about {question}?", context, "2025-01-01T00:00:00+00:00")


def make_used(
    action: str,
    output: str = "it is so",
    *,
    attempt: str = "a",
    detection: int | None = None,
    error: str | None = None,
) -> UsedTool:
    at = "2025-01-01T00:00:01+00:00"
    return UsedTool(attempt, "q1", "p-1", 1, action, action, "", detection, output, error, 0.1, at)


def make_closed(attempt: str = "a", *, is_found: bool = True) -> Closed:
    return Closed(
        attempt, "q1", "p-1", 9, is_found, "42" if is_found else "", 5.0, "2025-01-01T00:00:09+00:00"
    )


def make_attempt(*lines: UsedTool, is_found: bool | None = True, attempt: str = "a") -> Attempt:
    end = None if is_found is None else make_closed(attempt, is_found=is_found)
    return Attempt(make_opened(attempt), lines, end)


def make_dataset(folder: Path, *questions: str) -> Path:
    """A file of questions, `q1` and so on, about one white image each."""
    (folder / "white.png").write_bytes(png(120, 90))
    rows = [
        {"id": f"q{number}", "question": text, "images": ["white.png"], "target": "secret truth"}
        for number, text in enumerate(questions, start=1)
    ]
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path

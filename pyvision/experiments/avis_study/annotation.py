"""One participant's work on one question: the objects they see, the tools they use, and a log line for each step."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pyvision.errors import ConfigError, ImageError
from pyvision.experiments.avis_study.log import Closed, Log, Opened, UsedTool
from pyvision.experiments.avis_study.toolbox import BUTTONS, DETECT, Button, StudyToolbox
from pyvision.images.pixels import crop
from pyvision.strategies.avis.perception import caption_line, location
from pyvision.types import Picture, Question, ToolRequest

MAX_DETECTIONS = 10  # on one page, highest score first


@dataclass(frozen=True, slots=True)
class StudyTask:
    """A question of the dataset with its id, without the reference answer."""

    id: str
    question: Question

    @property
    def picture(self) -> Picture | None:
        """The image that the tools use."""
        return self.question.images[0] if self.question.images else None


@dataclass(frozen=True, slots=True)
class Detection:
    """One detected object. number: from 1; 0 would be the whole image. box: left, top, right, bottom in pixels."""

    number: int
    label: str
    score: float
    box: tuple[float, float, float, float]
    crop: Picture
    place: str

    def __str__(self) -> str:
        """As a line of a planner's context."""
        return f"Object #{self.number}: {caption_line(self.label or 'object', self.place)}"


class AnnotationSession:
    """Thread-safe; one action at a time. Raises RunFolderError if the log cannot be written: nothing was done then."""

    def __init__(self, task: StudyTask, user: str, toolbox: StudyToolbox, log: Log) -> None:
        """Detect the objects in the image, then open the attempt."""
        self.task = task
        self.user = user
        self.used: tuple[UsedTool, ...] = ()
        self.closed: Closed | None = None
        self.attempt = secrets.token_hex(8)
        self._toolbox = toolbox
        self._log = log
        self._lock = threading.Lock()
        self.detections, self.complaint = self._detect()
        context = "\n".join(map(str, self.detections))
        self._log.add(Opened(self.attempt, task.id, user, task.question.full_text, context, _now()))
        self._started = time.monotonic()

    def do(self, name: str, query: str = "", detection: int | None = None) -> UsedTool:
        """Use the tool behind a button. detection: the number of an object. Raises ConfigError for invalid input."""
        with self._lock:
            self._check_open()
            tool = self._toolbox.tool_of(name)
            if tool is None:
                raise ConfigError(f"{BUTTONS[name].label!r} is not available here; choose another button")
            request = self._request(BUTTONS[name], query.strip(), detection)
            started = time.monotonic()
            observation = self._toolbox.call_tool(tool, request)
            line = UsedTool(
                attempt=self.attempt,
                question=self.task.id,
                user=self.user,
                step=len(self.used) + 1,
                action=name,
                tool=tool,
                query=request.text,
                object=detection,
                output=observation.text,
                error=observation.error,
                seconds=round(time.monotonic() - started, 3),
                at=_now(),
            )
            self._log.add(line)
            self.used = (*self.used, line)
            return line

    def close(self, answer: str | None) -> None:
        """End the attempt. answer: None if the participant gives up. Raises ConfigError for an empty answer."""
        with self._lock:
            self._check_open()
            if answer is not None and not answer.strip():
                raise ConfigError("the answer is empty; write it in the box, or choose the other button")
            line = Closed(
                attempt=self.attempt,
                question=self.task.id,
                user=self.user,
                step=len(self.used) + 1,
                is_found=answer is not None,
                answer=(answer or "").strip(),
                seconds=round(time.monotonic() - self._started, 3),
                at=_now(),
            )
            self._log.add(line)
            self.closed = line

    def _detect(self) -> tuple[tuple[Detection, ...], str | None]:
        """The objects, or the error of the detector."""
        picture = self.task.picture
        if picture is None or DETECT not in self._toolbox.tools:
            return (), None
        observation = self._toolbox.call_tool(DETECT, ToolRequest(picture=picture))
        return read_detections(picture, observation.data), observation.error

    def _request(self, button: Button, query: str, detection: int | None) -> ToolRequest:
        if button.about in ("question", "text") and not query:
            raise ConfigError(f"the text is empty; write something before you choose {button.label!r}")
        if button.about == "text":
            return ToolRequest(query)
        picture = self.task.picture if button.about != "object" else self._crop(detection)
        if picture is None:
            raise ConfigError("the question has no image; use a button that needs none")
        return ToolRequest(query if button.about == "question" else "", picture)

    def _crop(self, number: int | None) -> Picture:
        found = next((detection for detection in self.detections if detection.number == number), None)
        if found is None:
            raise ConfigError(f"there is no object #{number} in this image")
        return found.crop

    def _check_open(self) -> None:
        if self.closed:
            raise ConfigError("this question is closed; continue with the next one")


def read_detections(picture: Picture, data: Any) -> tuple[Detection, ...]:
    """The objects in a detector's `Observation.data`. Boxes that contain no pixel of the image are ignored."""
    boxes = data.get("boxes", ()) if isinstance(data, Mapping) else ()
    by_score = sorted(boxes, key=lambda box: -float(box.get("score", 0)))
    return tuple(_number(picture, by_score))[:MAX_DETECTIONS]


def _number(picture: Picture, boxes: Sequence[Mapping[str, Any]]) -> Iterator[Detection]:
    number = 0
    for found in boxes:
        box = (float(found["left"]), float(found["top"]), float(found["right"]), float(found["bottom"]))
        try:
            part = crop(picture, box)
        except ImageError:
            continue  # a tool may return a box outside of the image
        number += 1
        label, score = str(found.get("label", "")), float(found.get("score", 0))
        yield Detection(number, label, score, box, part, _place(picture, box))


def _place(picture: Picture, box: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = box
    return location((left + right) / 2 / picture.width, (top + bottom) / 2 / picture.height)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

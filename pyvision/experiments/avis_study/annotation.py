"""One person at one question: what they see, what they do, and that every bit of it is in the log."""

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
from pyvision.experiments.avis_study.toolbox import BUTTONS, DETECT, Button, Toolbox
from pyvision.images.pixels import crop
from pyvision.strategies.avis.context import caption_line, location
from pyvision.types import Picture, Question, ToolRequest


@dataclass(frozen=True, slots=True)
class Task:
    """A question of the data set under its id; its truth stays where it is."""

    id: str
    question: Question

    @property
    def picture(self) -> Picture | None:
        """The one that the tools look at."""
        return self.question.images[0] if self.question.images else None


class AnnotationSession:
    """Thread-safe; one action at a time. Raises RunFolderError when the log takes no line: then nothing was done."""

    def __init__(self, task: Task, user: str, toolbox: Toolbox, log: Log) -> None:
        """Looks for the objects of the picture, then opens the attempt."""
        self.task = task
        self.user = user
        self.used: tuple[UsedTool, ...] = ()
        self.closed: Closed | None = None
        self.attempt = secrets.token_hex(8)
        self._toolbox = toolbox
        self._log = log
        self._lock = threading.Lock()
        self.detections, self.complaint = self._find_detections()
        context = "\n".join(map(str, self.detections))
        self._log.add(Opened(self.attempt, task.id, user, task.question.full_text, context, _now()))
        self._began = time.monotonic()

    def do(self, name: str, query: str = "", detection: int | None = None) -> UsedTool:
        """Use the tool behind a button. thing: the number of an object. Raises ConfigError for what cannot be asked."""
        with self._lock:
            self._check_open()
            tool = self._toolbox.tool_of(name)
            if tool is None:
                raise ConfigError(f"{BUTTONS[name].label!r} is not set up here; choose another button")
            request = self._request(BUTTONS[name], query.strip(), detection)
            began = time.monotonic()
            seen = self._toolbox.use(tool, request)
            line = UsedTool(
                attempt=self.attempt,
                question=self.task.id,
                user=self.user,
                step=len(self.used) + 1,
                action=name,
                tool=tool,
                query=request.text,
                object=detection,
                output=seen.text,
                error=seen.error,
                seconds=round(time.monotonic() - began, 3),
                at=_now(),
            )
            self._log.add(line)
            self.used = (*self.used, line)
            return line

    def close(self, answer: str | None) -> None:
        """End the attempt. answer: None of somebody who gives up. Raises ConfigError for an empty one."""
        with self._lock:
            self._check_open()
            if answer is not None and not answer.strip():
                raise ConfigError("the answer is empty; write it down first, or choose the other button")
            end = Closed(
                attempt=self.attempt,
                question=self.task.id,
                user=self.user,
                step=len(self.used) + 1,
                is_found=answer is not None,
                answer=(answer or "").strip(),
                seconds=round(time.monotonic() - self._began, 3),
                at=_now(),
            )
            self._log.add(end)
            self.closed = end

    def _find_detections(self) -> tuple[tuple[Detection, ...], str | None]:
        """The objects, and what there is to say where there are none."""
        picture = self.task.picture
        if picture is None or DETECT not in self._toolbox.tools:
            return (), None
        seen = self._toolbox.use(DETECT, ToolRequest(picture=picture))
        return detections_in(picture, seen.data), seen.error

    def _request(self, action: Button, query: str, detection: int | None) -> ToolRequest:
        if action.about in ("question", "text") and not query:
            raise ConfigError(f"nothing is asked; write something before {action.label!r}")
        if action.about == "text":
            return ToolRequest(query)
        picture = self.task.picture if action.about != "object" else self._crop(detection)
        if picture is None:
            raise ConfigError("the question has no picture; use a button that needs none")
        return ToolRequest(query if action.about == "question" else "", picture)

    def _crop(self, number: int | None) -> Picture:
        found = next((detection for detection in self.detections if detection.number == number), None)
        if found is None:
            raise ConfigError(f"there is no object #{number} in this picture")
        return found.crop

    def _check_open(self) -> None:
        if self.closed:
            raise ConfigError("this question is closed; go on to the next one")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# ---- The objects of a picture as the detector found them, each with its crop, and the words for where they lie.


MOST_THINGS = 10  # on one page, the surest first


@dataclass(frozen=True, slots=True)
class Detection:
    """One object. number: from 1; 0 would be the whole picture. box: left, top, right, bottom in pixels."""

    number: int
    label: str
    score: float
    box: tuple[float, float, float, float]
    crop: Picture
    place: str

    def __str__(self) -> str:
        """As a line of a planner's context tells of it."""
        return f"Object #{self.number}: {caption_line(self.label or 'object', self.place)}"


def detections_in(picture: Picture, data: Any) -> tuple[Detection, ...]:
    """The objects of a detector's `Observation.data`; a box without a pixel in the picture is left out."""
    boxes = data.get("boxes", ()) if isinstance(data, Mapping) else ()
    surest = sorted(boxes, key=lambda box: -float(box.get("score", 0)))
    return tuple(_number(picture, surest))[:MOST_THINGS]


def _number(picture: Picture, boxes: Sequence[Mapping[str, Any]]) -> Iterator[Detection]:
    number = 0
    for found in boxes:
        box = (float(found["left"]), float(found["top"]), float(found["right"]), float(found["bottom"]))
        try:
            part = crop(picture, box)
        except ImageError:
            continue  # a tool may not keep to the picture: nothing of it can be shown
        number += 1
        label, score = str(found.get("label", "")), float(found.get("score", 0))
        yield Detection(number, label, score, box, part, _place(picture, box))


def _place(picture: Picture, box: tuple[float, float, float, float]) -> str:
    left, top, right, bottom = box
    return location((left + right) / 2 / picture.width, (top + bottom) / 2 / picture.height)

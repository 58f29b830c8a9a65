"""Ask a recorded question again with its evidence masked, with an equal area elsewhere masked, with nothing else left.

The question, its strategy and its limits are those of the recording. A masked area has the mean colour of its image.
One answer each: a model that answers differently every time looks as if it depended on everything, which the answer
with an area elsewhere masked shows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from pyvision.agent.episode import Sandbox as AnySandbox
from pyvision.agent.evidence import derive_evidence, trace_evidence
from pyvision.agent.task import Task
from pyvision.errors import ConfigError, EndReason
from pyvision.events import Event
from pyvision.images.pixels import mask
from pyvision.runs.mask_boxes import PixelBox, complement, cover, elsewhere
from pyvision.runs.replay.fork import Fork, prepare_task
from pyvision.runs.run import Run
from pyvision.solve import open_recorder, solve
from pyvision.types import Evidence, Model, Outcome, Picture
from sandbox import Sandbox

Masked: TypeAlias = Literal["evidence masked", "elsewhere masked", "evidence alone"]
Masks: TypeAlias = Mapping[str, Sequence[PixelBox]]  # name of an image -> what to mask in it
Verdict: TypeAlias = Literal["depends", "does not depend", "undecided"]
_ASKED_AGAIN: tuple[Masked, ...] = ("evidence masked", "elsewhere masked", "evidence alone")
_FAILED: frozenset[EndReason] = frozenset({"model_error", "sandbox_error", "interrupted", "error"})
_LETTER = re.compile(r"\(?([A-Z])(?:[.):]\s.*|\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Check:
    """One answer to the question with masked images. run_dir: the folder of its run, None if it was not kept."""

    masked: Masked
    outcome: Outcome
    is_same: bool
    run_dir: str | None = None

    @property
    def has_failed(self) -> bool:
        """Whether it says nothing about the model."""
        return self.outcome.end_reason in _FAILED


@dataclass(frozen=True, slots=True)
class Verification:
    """The recorded answer, its evidence in the images of the question, and what became of it."""

    answer: str
    evidence: tuple[Evidence, ...]
    checks: tuple[Check, ...]

    def find(self, masked: Masked) -> Check | None:
        """None if this was not asked: no equal area is left where the evidence covers more than half of an image."""
        return next((each for each in self.checks if each.masked == masked), None)

    @property
    def verdict(self) -> Verdict:
        """Depends: another answer without the evidence, the same without an equal area elsewhere."""
        without, control = self.find("evidence masked"), self.find("elsewhere masked")
        if without is None or without.has_failed:
            return "undecided"
        if without.is_same:
            return "does not depend"
        return "depends" if control and control.is_same else "undecided"


def verify(  # noqa: PLR0913 - each is one thing that a person may choose
    run: Run,
    *,
    model: str | Model | None = None,
    config: Path | None = None,
    roles: Mapping[str, str | Model] | None = None,
    out: Path | None = None,
    sandbox: AnySandbox | None = None,
    watch: Callable[[Masked, Event], None] = lambda masked, event: None,
    seed: int = 0,
) -> Verification:
    """Answer the question three times. Raises ConfigError for a run without an answer or without regions as evidence.

    model, config, roles: as in `prepare`; the model has to be the recorded one unless it is given. out: keeps each run
    in a folder there. seed: for choosing the other area.
    """
    if run.question.earlier.named:
        raise ConfigError(
            f"{str(run.folder)!r}: continues a conversation; only a first question can be verified"
        )
    outcome = run.ended.outcome if run.ended else None
    if outcome is None or outcome.answer is None:
        raise ConfigError(f"{str(run.folder)!r}: the run has no answer, so there is nothing to verify")
    regions = regions_of(run)
    masks = make_masks(run.inputs, regions, random.Random(seed))
    with prepare_task(run, Fork(1), model=model, config=config, roles=roles) as task:
        _check_model(run, task, is_given=bool(model or config))

        def ask(masked: Masked, opened: AnySandbox) -> Check:
            images = tuple(mask(picture, masks[masked][name]) for name, picture in run.inputs.items())
            again = replace(task, question=replace(run.question, images=images))
            folder = out / masked.replace(" ", "-") if out else None
            with open_recorder(again, folder) as keep:

                def take(event: Event) -> None:
                    keep(event)
                    watch(masked, event)

                found = solve(again, take, opened)
            is_same = is_same_answer(str(outcome.answer), found.answer)
            return Check(masked, found, is_same, str(folder) if folder else None)

        with nullcontext(sandbox) if sandbox else Sandbox(task.policy) as opened:
            checks = tuple(ask(masked, opened) for masked in _ASKED_AGAIN if masked in masks)
    return Verification(outcome.answer, regions, checks)


def regions_of(run: Run) -> tuple[Evidence, ...]:
    """The evidence that lies in the images of the question: as recorded, or else what the run looked at last.

    Raises ConfigError if there is none.
    """
    originals = {name: (picture.width, picture.height) for name, picture in run.inputs.items()}
    recorded = trace_evidence(run.ended.outcome.evidence if run.ended else (), originals, {}, 0)
    regions = {name: view.regions or () for name, view in run.views.items() if name not in originals}
    figures = dict(sorted(regions.items(), key=lambda item: _number(item[0])))
    found = recorded or derive_evidence(originals, figures)
    if not found:
        raise ConfigError(
            f"{str(run.folder)!r}: the run cites no region of an image and looked at none; answer the question again "
            "with --set evidence=true"
        )
    return found


def make_masks(
    pictures: Mapping[str, Picture], regions: Sequence[Evidence], chance: random.Random
) -> Mapping[Masked, Masks]:
    """What to mask in each image; no entry for `elsewhere masked` if no equal area is left in one of them."""
    sizes = {name: (picture.width, picture.height) for name, picture in pictures.items()}
    inside: dict[str, tuple[PixelBox, ...]] = {}
    for name, size in sizes.items():
        boxes = [each.box or (0, 0, *size) for each in regions if each.name == name]
        inside[name] = cover(boxes, size)
    others = {name: elsewhere(boxes, sizes[name], chance) for name, boxes in inside.items()}
    masks: dict[Masked, Masks] = {
        "evidence masked": inside,
        "evidence alone": {name: complement(boxes, sizes[name]) for name, boxes in inside.items()},
    }
    if None not in others.values():
        masks["elsewhere masked"] = {name: boxes or () for name, boxes in others.items()}
    return masks


def is_same_answer(one: str | None, other: str | None) -> bool:
    """Whether they differ in case, spaces, a full stop or the text behind the letter of a choice at most."""
    return one is not None and other is not None and _plain(one) == _plain(other)


def _check_model(run: Run, task: Task, *, is_given: bool) -> None:
    """Raises ConfigError if another model would answer, and nobody chose it."""
    recorded = set(run.began.models.values()) if run.began else set()
    now = {model.name for model in task.models.values()}
    if not is_given and not now & recorded:
        names = ", ".join(sorted(recorded))
        raise ConfigError(
            f"the run was answered by {names}, and this would ask {', '.join(sorted(now))}; choose with --model NAME"
        )


def _plain(answer: str) -> str:
    text = " ".join(answer.split()).rstrip(".")
    letter = _LETTER.fullmatch(text)
    return (letter[1] if letter else text).casefold()


def _number(name: str) -> int:
    digits = name.rpartition("_")[2]
    return int(digits) if digits.isascii() and digits.isdigit() else -1

"""A judge: a model that is asked about an answer where the rules of a metric found nothing in it.

A judged metric wraps a metric. The rules come first; only what they leave open goes to the judge: an answer in which
they found nothing, and for the metrics of `FREE_TEXT`, which take the whole answer for what was found, one that is not
right. The judge gets the question, the answer and, without options, the truth (of a choice it only says which option
the answer names). `Score.judge` holds the judge's name, the prompt with its version, and the verdict. A reply that is
not a verdict gives no score (None): it says nothing about the answer.

Replies are stored with their tokens as JSON lines, so that the same prompt to a model is paid for once.

Not covered: a judge that is wrong, or that follows instructions inside the answer. The answer is fenced by a line that
it cannot predict, and the verdict is read from the judge's last line alone; nothing more is promised.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Container, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from pyvision.bench.metrics.charts import charxiv_kind
from pyvision.bench.metrics.choice import options_of, right_letter
from pyvision.bench.metrics.registry import Metric
from pyvision.bench.samples import JudgeInfo, Sample, Score
from pyvision.errors import ConfigError
from pyvision.text import prompts
from pyvision.types import Message, Model, Sampling, Text, Usage

CHOICE, EQUAL, CHARXIV = "judge/choice.md", "judge/equal.md", "judge/charxiv.md"

FREE_TEXT = frozenset({"text", "gqa", "covr", "charxiv"})
"""The metrics whose rules may not know the wording of a right answer: a judge is asked about all that is not right."""

VERDICTS = "verdicts.jsonl"
"""The file of the replies in the folder of a run."""

_VERDICT = re.compile(r"\W*(?:CHOICE|VERDICT)\s*:\W*([A-Z]|NONE|RIGHT|WRONG)\W*", re.IGNORECASE)
_SAMPLING = Sampling(temperature=0.0)
_NONE = Usage()


@dataclass(frozen=True, slots=True)
class Judge:
    """A model with its earlier replies. The same prompt is sent to a model of the same name only once."""

    model: Model
    verdicts: Verdicts
    sampling: Sampling = _SAMPLING

    def verdict(self, prompt: str, allowed: Container[str]) -> str | None:
        """The allowed verdict that the judge ends with, or None. Raises ModelError, ConfigError.

        Only a reply with such a verdict is reused.
        """
        key = key_of(prompt, self.model.name)
        stored = self.verdicts.get(key)
        if stored is not None:
            return _find_allowed(stored, allowed)
        reply = self.model.complete((Message("user", (Text(prompt),)),), self.sampling)
        verdict = _find_allowed(reply.text, allowed)
        self.verdicts.put(key, self.model.name, reply.text if verdict else None, reply.usage)
        return verdict


def nothing_found(score: Score) -> bool:
    """Whether the rules found nothing to compare."""
    return score.parsed is None


def not_right(score: Score) -> bool:
    """Whether the rules call the answer anything but right: for free answers, whose wording they may not know."""
    return score.value != 1


def with_judge(name: str, metric: Metric, judge: Judge) -> Metric:
    """The metric of that name, then the judge where it is needed; never about an empty answer."""
    needs = not_right if name in FREE_TEXT else nothing_found

    def score(answer: str, sample: Sample) -> Score:
        by_rules = metric(answer, sample)
        if not answer.strip() or not needs(by_rules):
            return by_rules
        if name == "charxiv":
            return _equal(answer, sample, judge, CHARXIV, kind=charxiv_kind(sample))
        return _choose(answer, sample, judge) if sample.choices else _equal(answer, sample, judge, EQUAL)

    return score


def find_verdict(reply: str) -> str | None:
    """The verdict of a judge's last line, in capitals."""
    *_, last = ["", *reply.strip().splitlines()]
    found = _VERDICT.fullmatch(last)
    return found[1].upper() if found else None


class Verdicts:
    """A file of replies by key, read on the first use; safe to share between threads, not between processes.

    A line that cannot be read, as a crash during a write may leave, is skipped: its judge is asked again.
    A file that cannot be opened raises ConfigError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._replies: dict[str, str] | None = None

    def get(self, key: str) -> str | None:
        """The reply stored under a key."""
        with self._lock:
            return self._load().get(key)

    def put(self, key: str, model: str, reply: str | None, usage: Usage = _NONE) -> None:
        """Store a reply before returning; None stores only the tokens of a reply without a verdict."""
        tokens = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        line = json.dumps({"key": key, "model": model, "reply": reply, **tokens})
        with self._lock:
            if reply is not None:
                self._load()[key] = reply
            try:
                self._append(line)
            except OSError as error:
                raise ConfigError(f"verdicts cannot be written to {self.path}: {error.strerror}") from error

    def usage_by_model(self) -> dict[str, Usage]:
        """The tokens that each model has used so far, as its endpoint counted them."""
        used: dict[str, Usage] = {}
        for line in _lines(self.path):
            match line:
                case {"model": str(model), "input_tokens": int(sent), "output_tokens": int(received)}:
                    used[model] = used.get(model, Usage()) + Usage(sent, received)
        return used

    def _append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            end = file.seek(0, 2)
            file.seek(max(0, end - 1))
            is_partial = file.read(1) not in (b"", b"\n")
            file.write((f"\n{line}\n" if is_partial else f"{line}\n").encode())

    def _load(self) -> dict[str, str]:
        if self._replies is None:
            self._replies = dict(_replies(self.path))
        return self._replies


def key_of(prompt: str, model: str) -> str:
    """The key of a prompt to a model: the sha256 of both."""
    return sha256(f"{model}\0{prompt}".encode(errors="surrogatepass")).hexdigest()


def _choose(answer: str, sample: Sample, judge: Judge) -> Score:
    options = options_of(sample)
    listed = "\n".join(f"{letter}. {text}" for letter, text in options.items())
    prompt = prompts.render(CHOICE, question=sample.text, options=listed, **_fence(answer))
    word = judge.verdict(prompt, {*options, "NONE"})
    if word is None:
        return _score(None, CHOICE, judge, None)
    right = right_letter(sample)
    return _score(float(word == right), CHOICE, judge, word, None if word == "NONE" else word)


def _equal(answer: str, sample: Sample, judge: Judge, name: str, **also: str) -> Score:
    truth = sample.target if isinstance(sample.target, str) else json.dumps(sample.target)
    prompt = prompts.render(name, question=sample.text, truth=truth, **_fence(answer), **also)
    word = judge.verdict(prompt, {"RIGHT", "WRONG"})
    if word is None:
        return _score(None, name, judge, None)
    return _score(float(word == "RIGHT"), name, judge, word)


def _fence(answer: str) -> dict[str, str]:
    """The answer with a line around it that it cannot contain: a part of its hash."""
    return {
        "answer": answer,
        "fence": f"=== {sha256(answer.encode(errors='surrogatepass')).hexdigest()[:12]} ===",
    }


def _score(
    value: float | None, prompt: str, judge: Judge, verdict: str | None, parsed: str | None = None
) -> Score:
    version = sha256(prompts.load(prompt).encode()).hexdigest()[:8]
    why = f"judge {judge.model.name}, {prompt} {version}: {verdict or 'no verdict could be read'}"
    info = JudgeInfo(judge.model.name, prompt, version, verdict)
    return Score(value, why, parsed, info, unscored="no verdict" if value is None else None)


def _find_allowed(reply: str, allowed: Container[str]) -> str | None:
    verdict = find_verdict(reply)
    return verdict if verdict is not None and verdict in allowed else None


def _replies(path: Path) -> Iterator[tuple[str, str]]:
    for line in _lines(path):
        match line:
            case {"key": str(key), "reply": str(reply)}:
                yield key, reply


def _lines(path: Path) -> Iterator[Any]:
    """The value of each line, without the lines that cannot be read."""
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise ConfigError(f"verdicts cannot be read from {path}: {error.strerror}") from error
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)

"""Compare our metrics with the published scorers they stand for, on the same replies.

make conformance                          fetches the scorers and the published replies, and writes the table
python -m benchmarks.conformance --python .venv-conformance/bin/python [--sources ADDRESS] [--only NAME] [--dry-run]

The published scorers and replies are read with git at the commits named here, kept below build/, and run in an
environment of their own. The table (`pyvision/bench/metrics/conformance.json`, shown by `bench list --metrics`) holds
counts and one hash per comparison, over all replies and both values; no reply and no code. A difference is explained
where a rule of `EXPLAINED` names it; docs/benchmarks.md says what each rule means. The exit status is 1 if fewer than
99.9 % of the replies of a comparison are equal or explained.

What cannot be fetched is left out of the table, which then says "not compared".
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeAlias

from benchmarks.conformance import originals, replies
from benchmarks.conformance.replies import Replies, Reply
from benchmarks.conformance.sources import GITHUB, SourceError, Sources
from pyvision.bench.metrics import find_metric
from pyvision.bench.metrics.conformance import TABLE, Conformance, to_json
from pyvision.bench.metrics.mathvision import extract
from pyvision.bench.samples import Sample
from pyvision.errors import ConfigError
from pyvision.text.refusals import clauses_of

NEEDED = 0.999
_NEAR = 1e-9
_HERE = Path(__file__).parent
Explanation: TypeAlias = Callable[[Reply, Any, float | None], bool]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A published scorer beside the flavours that stand for it. files: the first is loaded, with the others beside."""

    flavours: tuple[str, ...]  # NAME:FLAVOUR
    repository: str  # OWNER/NAME@COMMIT
    licence: str
    files: tuple[str, ...]
    adapter: str
    replies: Replies
    compared: str
    rules: tuple[str, ...] = ()  # that may explain a difference, besides those for every comparison


_VLMEVALKIT = "open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94"
_LMMS_EVAL = "EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3"
_MATCHING = "vlmeval/utils/matching_util.py"
_VQA_EVAL = ("vlmeval/dataset/utils/vqa_eval.py", "vlmeval/smp/misc.py")

COMPARISONS = (
    Comparison(
        ("mathvision:official",), replies.MATH_V, "MIT",
        ("evaluation/evaluate.py", "evaluation/utils.py"), "mathvision", replies.math_v, "published replies of MATH-V",
        ("algebra", "code", "no option"),
    ),
    Comparison(
        ("mathvista:as-published",), replies.MATHVISTA, "CC-BY-SA-4.0",
        ("evaluation/calculate_score.py",), "mathvista", replies.mathvista, "published extractions of MathVista",
        ("no option",),
    ),
    Comparison(
        ("mathvista:vlmevalkit",), _VLMEVALKIT, "Apache-2.0",
        ("vlmeval/dataset/utils/mathvista.py", _MATCHING), "mathvista-vlmevalkit", replies.mathvista,
        "published extractions of MathVista", ("no option",),
    ),
    Comparison(
        ("mmmu:as-published",), replies.MMMU, "Apache-2.0",
        ("mmmu/utils/eval_utils.py",), "mmmu", replies.mmmu, "published replies of MMMU", ("no option",),
    ),
    Comparison(
        ("choice:mmmu",), replies.MMMU, "Apache-2.0",
        ("mmmu/utils/eval_utils.py",), "mmmu", replies.mmmu_choices, "published replies of MMMU and MMMU-Pro",
        ("box", "no option"),
    ),
    Comparison(
        ("choice:vlmevalkit", "visualpuzzles:vlmevalkit", "circular:vlmevalkit", "scienceqa:vlmevalkit",
         "mmmu:vlmevalkit"),
        _VLMEVALKIT, "Apache-2.0", (_MATCHING,), "vlmevalkit-choice", replies.mmmu_choices,
        "published replies of MMMU and MMMU-Pro", ("box", "no option"),
    ),
    Comparison(
        ("visualpuzzles:as-published",), "neulab/VisualPuzzles@ee212f97864bde4f0b662acca8ec14534e2ce9a7", "MIT",
        ("lmms-eval/lmms_eval/tasks/VisualPuzzles/utils.py",), "visualpuzzles", replies.four_choices,
        "published replies of MMMU and MMMU-Pro", ("box", "no option"),
    ),
    Comparison(
        ("scienceqa:lmms-eval",), _LMMS_EVAL, "MIT",
        ("lmms_eval/tasks/scienceqa/utils.py",), "scienceqa", replies.scienceqa, "published replies of ScienceQA",
        ("no option",),
    ),
    Comparison(
        ("vqa:official",), "GT-Vision-Lab/VQA@a013f0043c1e2cdc995922dfe257f7149aa9af06", "BSD-2-Clause",
        ("PythonEvaluationTools/vqaEvaluation/vqaEval.py",), "vqa", replies.annotators, "generated replies",
    ),
    Comparison(
        ("vqa:vlmevalkit", "textvqa:vlmevalkit"), _VLMEVALKIT, "Apache-2.0",
        _VQA_EVAL, "vlmevalkit-vqa", replies.annotators, "generated replies",
    ),
    Comparison(
        ("textvqa:official",), "facebookresearch/mmf@b0ffc7fba39f210f833c127362146aec01a2f259", "BSD-3-Clause",
        ("mmf/utils/m4c_evaluators.py",), "textvqa", replies.annotators, "generated replies",
    ),
    Comparison(
        ("infoseek:as-published",), "edchengg/infoseek_eval@bec0c4c306b00d1380983aed353b76853d8c1aba", "MIT",
        ("infoseek_eval.py",), "infoseek", replies.quantities, "generated replies",
    ),
    Comparison(
        ("anls:official", "docvqa:official"),
        "rubenpt91/MP-DocVQA-Framework@7939f521fe5a82a442f54831b1c0e96daab331d9", "MIT",
        ("metrics.py",), "anls", replies.texts, "published extractions of MathVista",
    ),
    Comparison(
        ("anls:vlmevalkit", "docvqa:vlmevalkit"), _VLMEVALKIT, "Apache-2.0",
        _VQA_EVAL, "vlmevalkit-anls", replies.documents, "generated replies",
    ),
    Comparison(
        ("anls:lmms-eval", "docvqa:lmms-eval"), _LMMS_EVAL, "MIT",
        ("lmms_eval/api/metrics.py",), "lmms-anls", replies.texts, "published extractions of MathVista",
    ),
    Comparison(
        ("relaxed:pix2struct", "chartqa:pix2struct"),
        "google-research/pix2struct@945f27e936c9464d9d7c133f1bd1f4f383be9e99", "Apache-2.0",
        ("pix2struct/metrics.py",), "relaxed", replies.chart_values, "generated replies",
    ),
    Comparison(
        ("relaxed:lmms-eval", "chartqa:lmms-eval"), _LMMS_EVAL, "MIT",
        ("lmms_eval/tasks/chartqa/utils.py",), "relaxed", replies.single_texts, "published extractions of MathVista",
    ),
    Comparison(
        ("relaxed:vlmevalkit", "chartqa:vlmevalkit"), _VLMEVALKIT, "Apache-2.0",
        _VQA_EVAL, "vlmevalkit-relaxed", replies.chart_values, "generated replies",
    ),
    Comparison(
        ("chartqapro:official",), "vis-nlp/ChartQAPro@4b422c658270aff1d3105fd0fb39b1dd5de9f08c", "MIT",
        ("evaluate_predictions.py",), "chartqapro", replies.chart_answers, "generated replies",
    ),
    Comparison(
        ("tallyqa:vlmevalkit", "integer:vlmevalkit"), _VLMEVALKIT, "Apache-2.0",
        ("vlmeval/dataset/utils/tallyqa.py",), "tallyqa", replies.counts, "generated replies",
    ),
    Comparison(
        ("gqa:vlmevalkit", "text:vlmevalkit"), _VLMEVALKIT, "Apache-2.0",
        _VQA_EVAL, "vlmevalkit-accuracy", replies.single_texts, "published extractions of MathVista",
    ),
)  # fmt: skip

FOR_EVERY = ("blank", "no target", "guess", "error")
EXPLAINED: Mapping[str, Explanation] = {
    "blank": lambda reply, _, ours: not reply.answer.strip() and ours == 0,
    "no target": lambda _, __, ours: ours is None,
    "guess": lambda _, theirs, ours: theirs == "guess" and ours == 0,
    "error": lambda _, theirs, ours: isinstance(theirs, str) and theirs != "guess" and ours == 0,
    "no option": lambda reply, _, ours: ours == 0 and _names_no_option(reply),
    "algebra": lambda reply, theirs, ours: theirs == 1 and ours == 0 and _needs_algebra(reply),
    "code": lambda reply, theirs, ours: theirs == 0 and ours == 1 and _needs_algebra(reply),
    "box": lambda reply, _, __: "oxed{" in reply.answer or "<answer>" in reply.answer,
}


def _names_no_option(reply: Reply) -> bool:
    """Whether the reply only declines, or the text of an option is an option's letter, which prose does not name."""
    letters, texts = ascii_uppercase[: len(reply.choices)], {text.strip().upper() for text in reply.choices}
    return bool(reply.choices) and (not clauses_of(reply.answer) or not texts.isdisjoint(letters))


def _needs_algebra(reply: Reply) -> bool:
    """Whether the extracted answer or the target is an expression, which latex2sympy evaluates (and rounds)."""
    place = ord(str(reply.target)[0]) - ord("A") if len(str(reply.target)) == 1 else -1
    target = reply.choices[place] if 0 <= place < len(reply.choices) else reply.target
    return any(mark in text for text in (extract(reply.answer), str(target)) for mark in "\\^*/+-_,:|!()")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conformance")
    parser.add_argument(
        "--python", default=sys.executable, help="the Python with requirements.txt (default: this one)"
    )
    parser.add_argument("--sources", default=GITHUB, help="address of repositories, with {owner} and {name}")
    parser.add_argument("--only", help="only the comparisons whose flavours contain this text")
    parser.add_argument("--dry-run", action="store_true", help="print, but do not write the table")
    parser.add_argument(
        "--show", type=int, default=0, help="print so many unexplained differences of each comparison"
    )
    options = parser.parse_args(arguments)
    sources = Sources(Path("build/conformance"), options.sources)
    wanted = [
        each
        for each in COMPARISONS
        if not options.only or any(options.only in name for name in each.flavours)
    ]
    found: list[Conformance] = []
    for each in wanted:
        try:
            found.append(compare(each, sources, options.python, options.show))
        except SourceError as error:
            print(f"{each.flavours[0]}: not compared: {error}")
            continue
        print(found[-1].line, flush=True)
    if not options.dry_run:
        TABLE.write_text(to_json(found, keep=bool(options.only)), encoding="utf-8")
    return int(any(each.share < NEEDED for each in found))


def compare(comparison: Comparison, sources: Sources, python: str, show: int = 0) -> Conformance:
    """Both scorers on all replies. Raises SourceError."""
    rows = list(comparison.replies(sources))
    theirs = run_original(comparison, sources, python, rows)
    name, _, flavour = comparison.flavours[0].partition(":")
    ours = [score(name, flavour, row) for row in rows]
    reasons = [
        explain(comparison, row, their, our) for row, their, our in zip(rows, theirs, ours, strict=True)
    ]
    differing = Counter(reason for reason in reasons if reason)
    unexplained = [
        row for row, reason in zip(zip(rows, theirs, ours, strict=True), reasons, strict=True) if reason == ""
    ]
    for row, their, our in unexplained[:show]:
        print(f"  {row.answer[-150:]!r} for {row.target!r} {row.choices}: theirs {their}, ours {our}")
    return Conformance(
        comparison.flavours, comparison.repository, comparison.files[0], comparison.licence, comparison.compared,
        len(rows), reasons.count(None), dict(sorted(differing.items())), len(unexplained), hash_of(rows, theirs, ours),
    )  # fmt: skip


def run_original(comparison: Comparison, sources: Sources, python: str, rows: Sequence[Reply]) -> list[Any]:
    """What the published scorer says of each reply. Raises SourceError."""
    with tempfile.TemporaryDirectory() as folder:
        for file in comparison.files:
            content = sources.read(comparison.repository, file)
            (Path(folder) / Path(file).name).write_bytes(content)
        command = [
            python,
            "-I",
            str(_HERE / "originals.py"),
            comparison.adapter,
            Path(comparison.files[0]).name,
        ]
        done = subprocess.run(
            command, input="".join(map(_line, rows)), cwd=folder, capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise SourceError(f"{comparison.adapter}: {done.stderr.strip()[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def score(name: str, flavour: str, row: Reply) -> float | None:
    """Our value of a reply; None where the target cannot be scored."""
    sample = Sample("it", "", (), row.target, row.choices, metadata=row.metadata)
    try:
        return find_metric(name, flavour)(row.answer, sample).value
    except ConfigError:
        return None


def explain(comparison: Comparison, row: Reply, theirs: Any, ours: float | None) -> str | None:
    """None for equal values, else the rule that explains the difference, or an empty text."""
    if not isinstance(theirs, str) and ours is not None and abs(theirs - ours) < _NEAR:
        return None
    rules = (*FOR_EVERY, *comparison.rules)
    return next((rule for rule in rules if EXPLAINED[rule](row, theirs, ours)), "")


def hash_of(rows: Sequence[Reply], theirs: Sequence[Any], ours: Sequence[float | None]) -> str:
    """The sha256 over all replies with both values."""
    digest = sha256()
    for row, their, our in zip(rows, theirs, ours, strict=True):
        digest.update(f"{_line(row)}{their} {our}\n".encode(errors="surrogatepass"))
    return digest.hexdigest()


def _line(row: Reply) -> str:
    fields = {"precision": 1, "answer_type": "text", **row.metadata}
    return json.dumps({**fields, "answer": row.answer, "target": row.target, "choices": row.choices}) + "\n"


if __name__ == "__main__":
    assert originals.ADAPTERS.keys() >= {each.adapter for each in COMPARISONS}
    sys.exit(main())

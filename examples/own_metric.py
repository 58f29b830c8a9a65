"""A metric of your own: an answer is right when its number is within ten percent of the target.

python examples/own_metric.py [--model offline]
"""

import argparse
from pathlib import Path

import pyvision
from pyvision.bench.samples import Sample, Score

SAMPLES = (
    Sample("circles", "How many circles are in the image?", (Path("examples/circles.png"),), target=7),
    Sample("squares", "How many squares are there?", (Path("examples/squares.png"),), target=9),
)


def within_ten_percent(answer: str, sample: Sample) -> Score:
    """A metric is a function from an answer and its sample to a score between 0 and 1."""
    try:
        number = float(answer)
    except ValueError:
        return Score(0.0, "not a number")
    right = abs(number - sample.target) <= 0.1 * abs(sample.target)
    return Score(float(right), f"{number:g}, and the target is {sample.target}", parsed=answer)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help="as for `pyvision run`; without it, the environment decides")
    options = parser.parse_args()
    for sample in SAMPLES:
        outcome = pyvision.answer(sample.text, [str(image) for image in sample.images], model=options.model)
        score = within_ten_percent(outcome.answer or "", sample)
        print(f"{sample.id}: {score.value:.0f} ({score.why})")


if __name__ == "__main__":
    main()

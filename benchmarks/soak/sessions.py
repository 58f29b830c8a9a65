"""One session of the soak, from its number alone: what it does, and what was wrong with it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from benchmarks.soak.bombs import BOMBS
from benchmarks.soak.work import Job, benign
from sandbox import Policy, Sandbox, SandboxError, Session

HOSTILE_SHARE = 0.05
PATIENT = Policy(cell_timeout_s=120)  # a loaded machine must not make benign work look wrong
IMPATIENT = Policy(cell_timeout_s=2, interrupt_grace_s=0.5, memory_bytes=2**30)
_ATTEMPTS = 4  # a lost kernel is told once; one that was spoilt may need its time limit first
_ALIVE = "print(6 * 7)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one session went; `wrong` is None where everything was as it must be."""

    number: int
    kind: str
    wrong: str | None


@dataclass(frozen=True, slots=True)
class Soak:
    """The two sandboxes of a soak and its seed: a session's number says all that it does."""

    patient: Sandbox
    impatient: Sandbox
    seed: int

    def session(self, number: int) -> Verdict:
        """Open, work, close. What the sandbox raises is wrong too."""
        random = Random(f"{self.seed}:{number}")
        if random.random() < HOSTILE_SHARE:
            kind = random.choice(sorted(BOMBS))
            return Verdict(number, kind, self._survive(BOMBS[kind]))
        job = benign(random)
        return Verdict(number, job.kind, self._work(job))

    def _work(self, job: Job) -> str | None:
        try:
            with self.patient.open(job.images) as session:
                answers = (cell.wrong(session.run(cell.code)) for cell in job.cells)
                return next((answer for answer in answers if answer is not None), None)
        except SandboxError as error:
            return f"{type(error).__name__}: {error}"

    def _survive(self, bomb: str) -> str | None:
        try:
            with self.impatient.open() as session:
                session.run(bomb)
                return _answers_again(session)
        except SandboxError as error:
            return f"{type(error).__name__}: {error}"


def _answers_again(session: Session) -> str | None:
    results = []
    for _ in range(_ATTEMPTS):
        results.append(session.run(_ALIVE))
        if results[-1].status == "ok" and results[-1].text == "42\n":
            return None
    return f"no right answer in {_ATTEMPTS} cells after it: {[result.status for result in results]}"

"""What one process needs to answer samples: the task, the sandbox, and the token that ends its episodes."""

from __future__ import annotations

from pyvision.agent.episode import Sandbox
from pyvision.bench.runner.engines.answering import answer_job
from pyvision.bench.runner.engines.protocol import Finished, Job
from pyvision.bench.runner.plan import Around
from pyvision.models.cancellation import Cancellation
from pyvision.solve import Task


class WorkerContext:
    """Answers jobs, in as many threads as call it. `task` and `sandbox` stay the caller's to close."""

    def __init__(
        self, task: Task, sandbox: Sandbox, around: Around = lambda sandbox, sample: sandbox
    ) -> None:
        self._task = task
        self._sandbox = sandbox
        self._around = around
        self._cancellation = Cancellation()

    def answer(self, job: Job) -> Finished:
        """The job, ended in whatever way."""
        return answer_job(
            self._task, lambda sample: self._around(self._sandbox, sample), job, self._cancellation
        )

    def stop(self) -> None:
        """End every running episode, and each one that still begins; kernels go at once."""
        self._cancellation.cancel()

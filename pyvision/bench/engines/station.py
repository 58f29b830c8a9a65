"""What one process needs to answer samples: the task, the sandbox, and a hold on the episodes that run."""

from __future__ import annotations

import threading

from pyvision.bench.engines.answering import answer_job
from pyvision.bench.engines.protocol import Finished, Job
from pyvision.bench.plan import Around
from pyvision.episode import Episode, Sandbox
from pyvision.solve import Task


class Station:
    """Answers jobs, in as many threads as call it. `task` and `sandbox` stay the caller's to close."""

    def __init__(
        self, task: Task, sandbox: Sandbox, around: Around = lambda sandbox, sample: sandbox
    ) -> None:
        self._task = task
        self._sandbox = sandbox
        self._around = around
        self._lock = threading.Lock()
        self._episodes: set[Episode] = set()
        self._is_stopped = False

    def answer(self, job: Job) -> Finished:
        """The job, ended in whatever way."""
        held: list[Episode] = []

        def hold(episode: Episode) -> None:
            held.append(episode)
            with self._lock:
                self._episodes.add(episode)
                is_late = self._is_stopped
            if is_late:
                episode.stop()

        try:
            return answer_job(self._task, lambda sample: self._around(self._sandbox, sample), job, hold)
        finally:
            with self._lock:
                self._episodes.difference_update(held)

    def stop(self) -> None:
        """End every running episode, and each one that still begins; kernels go at once."""
        with self._lock:
            self._is_stopped = True
            episodes = tuple(self._episodes)
        for episode in episodes:
            episode.stop()

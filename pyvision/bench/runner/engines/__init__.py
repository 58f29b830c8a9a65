"""Where samples are answered: in threads of this process, or on the nodes of a Ray cluster."""

from pyvision.bench.runner.engines.protocol import Engine, Finished, Job

__all__ = ["Engine", "Finished", "Job"]

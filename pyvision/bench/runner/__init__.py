"""Run an experiment: plan, workers, recording, progress."""

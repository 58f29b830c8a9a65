"""Run an experiment: plan, engines, recording, progress."""

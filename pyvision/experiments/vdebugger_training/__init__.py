"""Train a critic and a refiner for visual programs: injected errors, fine-tuning, evaluation (VDebugger)."""

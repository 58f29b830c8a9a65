"""Places where PyVision has to run, emulated on one machine: containers, pods, restricted servers."""

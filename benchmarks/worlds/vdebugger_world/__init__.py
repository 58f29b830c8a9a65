"""A simulated world with exactly known scenes, in which all of VDebugger can be measured on one machine."""

"""A world in which every picture is known exactly, so that the whole of VDebugger can be measured on one machine."""

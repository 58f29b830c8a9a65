"""Perception without any model: colours, simple shapes and capital letters, by rules."""

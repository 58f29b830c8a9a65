"""Tests of the data pipeline and the training."""

"""The analysis of recorded debates."""

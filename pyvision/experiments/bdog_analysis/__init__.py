"""Statistics, plots and pages of recorded debates."""

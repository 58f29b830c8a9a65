"""Where samples come from: the table of datasets, files and readers."""

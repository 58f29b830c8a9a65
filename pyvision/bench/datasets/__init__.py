"""Where samples come from: the registry of datasets, and the readers of files and of the Hugging Face hub."""

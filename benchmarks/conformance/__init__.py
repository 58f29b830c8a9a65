"""Published scorers beside ours, on the same replies: see `__main__`."""

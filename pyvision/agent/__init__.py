"""What a strategy works with: the episode, its budget, its context window."""

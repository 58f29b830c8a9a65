"""The commands, one file each: what each takes, and what it does with it."""

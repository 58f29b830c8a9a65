"""The chat in the browser: how soon it is there, and how many can use it."""

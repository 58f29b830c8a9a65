"""The web demo: a chat in which one watches the model think, write code and look at figures. Needs the extra `demo`."""

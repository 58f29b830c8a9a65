"""The web demo: a chat that shows how the model thinks, writes code and looks at figures. Needs the extra `demo`."""

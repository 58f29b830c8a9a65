"""The ways of reasoning. Each is a frozen dataclass of options with one method, and none imports another."""

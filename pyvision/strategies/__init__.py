"""The ways of reasoning. Each is a frozen dataclass of options with one method; none knows another."""

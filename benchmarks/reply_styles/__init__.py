"""Generated replies to every role, in the forms in which models write."""

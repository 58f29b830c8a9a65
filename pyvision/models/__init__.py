"""Models: one file per wire, and wrappers that retry, record and replay any of them."""

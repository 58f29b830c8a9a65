"""Random and broken input for the host-side parsers, which must handle anything that a guest sends."""

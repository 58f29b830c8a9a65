"""Random and broken input for the readers of a host, which must survive whatever a guest sends."""

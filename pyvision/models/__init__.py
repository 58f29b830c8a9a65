"""Models: endpoints over one of the `wires`, models in this process, and wrappers that retry, record and replay any."""

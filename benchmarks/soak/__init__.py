"""A long run of benign and hostile sessions, after which the host must be unchanged."""

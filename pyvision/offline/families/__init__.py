"""The kinds of questions that rules can answer, one file per kind; each has `plan(asked) -> Plan | None`."""

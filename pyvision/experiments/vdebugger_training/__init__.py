"""The data pipeline of VDebugger: collect programs, break them on purpose, and train who finds and mends the faults."""

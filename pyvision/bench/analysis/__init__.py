"""What benchmark numbers mean: reports, comparisons, audits and the taxonomy of tools."""

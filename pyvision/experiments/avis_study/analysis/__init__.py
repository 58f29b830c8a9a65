"""How the answers were sought, over many courses: numbers, tables and pictures."""

"""A simulated world for debates: scenes with exact graphs, questions, and scripted models that make errors."""

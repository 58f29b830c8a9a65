"""A small encyclopaedia of things that do not exist, questions about them, and scripted models that look them up."""

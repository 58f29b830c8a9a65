"""A simulated encyclopaedia of invented objects, questions about them, and scripted models that look them up."""

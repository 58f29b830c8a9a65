"""A world in which debates can be measured: scenes with exact graphs, questions, and scripted players that err."""

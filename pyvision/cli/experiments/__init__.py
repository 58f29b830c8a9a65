"""The commands of the papers, each with its studies and trainings."""

"""What the cells of the offline model import (`pyvision.offline.plans.MODULES`)."""

"""Sandboxed kernels for Jupyter clients: the provisioner and the kernelspec."""

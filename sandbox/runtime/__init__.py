"""Running kernels: the zygote, containers, kernels, the warm pool."""

"""What isolates a kernel from the machine: namespaces, seccomp filter, cgroups, clean-up."""

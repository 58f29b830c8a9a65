"""What keeps a kernel away from the machine: namespaces, system-call filter, cgroups, clean-up."""

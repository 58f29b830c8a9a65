"""What runs inside the container. Mounted read-only there as the package `guest`; never imported by the host."""

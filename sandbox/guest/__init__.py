"""What runs inside the room. Mounted read-only there as the package `guest`; never imported by the host."""

"""What a session may use: the limits that the jail and the session enforce."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True, slots=True)
class Policy:
    """Limits of every session of one Sandbox, in bytes and seconds."""

    cell_timeout_s: float = 30.0
    interrupt_grace_s: float = 1.5  # between the interrupt and the kill
    start_timeout_s: float = 60.0
    memory_bytes: int = 2048 * MIB  # address space of each process
    processes: int = 128  # processes and threads of the session's user
    file_bytes: int = 256 * MIB  # largest file a cell may write
    disk_bytes: int = 512 * MIB  # /tmp and the working directory together (tmpfs)
    output_chars: int = 1_000_000  # text kept per cell
    figures: int = 32  # figures kept per cell
    figure_pixels: int = 16_000_000
    figure_bytes: int = 16 * MIB

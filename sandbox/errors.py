"""Every exception of the sandbox. What guest code causes is never an exception: it is a CellResult.

SandboxError
├── IsolationError    this machine cannot isolate the guest: neither bubblewrap nor Landlock works, or nothing can
│                     limit the memory of a session
├── InterpreterError  `Policy.python` is not a Python interpreter, or lacks what a kernel needs;
│                     or a folder of `Policy.modules` does not exist
├── KernelStartError  the container was built, but no kernel started in it within `Policy.start_timeout_s`
├── SandboxBusy       no session became free within `Sandbox(acquire_timeout_s=…)`
├── ImageError        an image handed to `open` or `define` cannot be read or decoded
└── SessionClosed     the session or its sandbox was closed before this call
"""

from __future__ import annotations


class SandboxError(Exception):
    """The base class. The message is one line: the thing, the value and the fix."""


class IsolationError(SandboxError):
    """This machine cannot isolate the guest as well as the Policy asks for."""


class InterpreterError(SandboxError):
    """`Policy.python` or `Policy.modules` does not name what a kernel can use."""


class KernelStartError(SandboxError):
    """The container was built, but no kernel started in it within `Policy.start_timeout_s`."""


class SandboxBusy(SandboxError):  # noqa: N818 - it names a state
    """No session became free within `Sandbox(acquire_timeout_s=…)`."""


class ImageError(SandboxError):
    """An image handed to `open` or `define` cannot be read or decoded."""


class SessionClosed(SandboxError):  # noqa: N818 - it names a state
    """The session or its sandbox was closed before this call."""

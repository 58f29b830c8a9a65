"""The protocol between the host and a kernel: channels, requests, results, calls of host functions."""

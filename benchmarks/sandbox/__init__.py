"""The speed and size of the sandbox, beside plain jupyter_client and ipykernel in the same run."""

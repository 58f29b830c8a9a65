"""A checkpoint in this process, without a server: `--model local:FOLDER`."""

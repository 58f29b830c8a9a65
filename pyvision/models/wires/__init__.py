"""One file per API of a provider: each builds its requests and parses its replies."""

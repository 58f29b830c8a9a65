"""Perception on the host: what is in a picture, by models in roles, local models, engines and embedded rules."""

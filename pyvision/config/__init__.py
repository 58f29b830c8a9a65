"""Configuration: models, endpoints, prices, files, moved modules."""

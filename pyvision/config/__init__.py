"""Configuration: models, provider limits, endpoint profiles, prices, data folders."""

"""Perception tools on the host: caption, vqa, detect, … by models in roles, local networks and OCR engines."""

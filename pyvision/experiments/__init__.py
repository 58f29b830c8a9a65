"""The studies of the papers; no lower layer imports them."""

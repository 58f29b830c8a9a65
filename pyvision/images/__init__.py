"""Read, decode, encode, fit and crop images."""

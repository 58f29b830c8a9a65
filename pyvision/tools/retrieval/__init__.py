"""The user's own documents and images as one searchable SQLite file."""

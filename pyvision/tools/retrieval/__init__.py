"""The user's own collection as one searchable SQLite file: pictures by looks, texts by words."""

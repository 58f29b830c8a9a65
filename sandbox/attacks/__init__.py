"""Programs that try to get out of a session, one a file, by topic. Data: the host reads them, and imports none.

`sandbox/check/programs.py` says what their first lines mean.
"""

"""How long a test waits for an event before it fails: longer than a slow, busy machine needs."""

TIME_LIMIT_S = 300

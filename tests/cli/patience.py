"""How long the tests wait for what must come: longer than a slow and busy machine takes, so that only what hangs is cut off."""

TIME_LIMIT_S = 300

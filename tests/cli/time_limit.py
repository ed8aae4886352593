"""The time limit of tests for an event, which is longer than a slow, busy machine needs."""

TIME_LIMIT_S = 300

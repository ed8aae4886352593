"""Runs a tree of functions that numba compiles, for two seconds of CPU time."""

import time

from numba import njit


@njit
def leaf(n):
    total = 0.0
    for i in range(n):
        total += (i % 7) * 0.5 / (total + 1.0)
    return total


@njit
def inner(n, depth):
    if depth == 0:
        return leaf(n)
    return inner(n, depth - 1) + 1.0


@njit
def outer(n):
    total = 0.0
    for _ in range(n):
        total += inner(2000, 5)
    return total


outer(1)
end = time.process_time() + 2
while time.process_time() < end:
    outer(1000)

"""
The program of python_peers.py: its frames change all the time, and it knows how long its functions run.

Runs until it is killed. Each function is called by one other function only: a by chains, b by a, c by b; d by
chains, e by d, f by sorted() in e. After each round it prints as JSON when that was, how long a call of a() and d()
took, and the CPU times of third() and rest().
"""

import json
import time

CALLS = 20000


def chains():
    for _ in range(CALLS):
        a()
        d()


def a():
    b()


def b():
    c()


def c():
    for _ in range(20):
        pass


def d():
    e()


def e():
    sorted((3, 2, 1), key=f)


def f(number):
    return -number


def third(until):
    while time.thread_time() < until:
        sum(range(300))


def rest(until):
    while time.thread_time() < until:
        sorted(range(300), key=abs)


def timed(function, seconds):
    start = time.thread_time()
    function(start + seconds)
    return time.thread_time() - start


def main():
    while True:
        start = time.monotonic()
        chains()
        end = time.monotonic()
        print(json.dumps({"at": end, "call_s": (end - start) / CALLS, "third": timed(third, 0.01), "rest": timed(rest, 0.02)}), flush=True)


main()

"""
A Python program whose threads wait. Each thread waits in a function of its own; the names of two functions say when they run: in
phase a or b. Only then the GIL is held by the thread `hog` in a function of that phase. Argument: seconds.
"""

import queue
import socket
import sys
import threading
import time

SECONDS = float(sys.argv[1])
lock, results = threading.Lock(), queue.Queue()
left, right = socket.socketpair()
phases = threading.Barrier(3)


# Waits with a known reason.

def sleeps_for_work():
    time.sleep(SECONDS)


def holds_lock():
    with lock:
        ready.wait()
        time.sleep(SECONDS)


def wants_lock():
    ready.wait()
    with lock:
        pass


def gets_from_queue():
    results.get()


def receives_from_socket():
    right.recv(1)


# Waits for the GIL.

def hog():
    while time.monotonic() < end:
        phases.wait()
        spends_in_a(time.monotonic() + 0.05)
        phases.wait()
        spends_in_b(time.monotonic() + 0.05)
    phases.abort()


def spends_in_a(until):
    while time.monotonic() < until:
        for i in range(200):
            brief_in_a(i)
        sum(range(20000))


def brief_in_a(i):
    return i * i


def spends_in_b(until):
    while time.monotonic() < until:
        for i in range(200):
            brief_in_b(i)
        sum(range(20000))


def brief_in_b(i):
    return i * i


def wants_gil():
    try:
        while True:
            phases.wait()
            wants_in_a(time.monotonic() + 0.04)
            phases.wait()
            wants_in_b(time.monotonic() + 0.04)
    except threading.BrokenBarrierError:
        pass


def wants_in_a(until):
    while time.monotonic() < until:
        time.sleep(0.0001)


def wants_in_b(until):
    while time.monotonic() < until:
        time.sleep(0.0001)


def run(function):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w", encoding="utf-8") as comm:
        comm.write(function.__name__[:15])
    function()


def run_all(functions):
    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    return threads


ready = threading.Barrier(2)
waiting = run_all([sleeps_for_work, holds_lock, wants_lock, gets_from_queue, receives_from_socket])
time.sleep(SECONDS)
results.put(1)
left.send(b"x")
for each in waiting:
    each.join()
end = time.monotonic() + SECONDS
for each in run_all([hog, wants_gil, wants_gil]):
    each.join()

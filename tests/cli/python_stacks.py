"""
A Python program whose frames change all the time. The name of each function says its only possible caller: NAME_of_CALLER.
Arguments: seconds of CPU time for each thread, number of threads.
"""

import ctypes
import sys
import threading
import time
import types

SECONDS, THREADS = float(sys.argv[1]), int(sys.argv[2])
COMPARISON = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)


# Calls, and a generator that C runs.

def calls_of_work(count):
    leaf_of_calls(count)
    feed_of_calls(count)


def leaf_of_calls(count):
    total = 0
    for i in range(count):
        total += i * i
    return total


def feed_of_calls(count):
    return sum(generator_of_feed(count))


def generator_of_feed(count):
    for i in range(count):
        yield item_of_generator(i)


def item_of_generator(i):
    return i * i % 7


# C calls Python: sorted() and qsort() through ctypes.

def keys_of_work(count):
    return sorted(range(count), key=key_of_keys)


def key_of_keys(x):
    return part_of_key(x)


def part_of_key(x):
    return -x * x % 11


def native_of_work(count):
    numbers = (ctypes.c_int * count)(*[i * 7 % count for i in range(count)])
    libc.qsort(numbers, count, ctypes.sizeof(ctypes.c_int), COMPARISON(compare_of_native))


def compare_of_native(a, b):
    return difference_of_compare(a[0], b[0])


def difference_of_compare(a, b):
    return (a > b) - (a < b)


# Special methods: the interpreter calls __init__ with a frame of its own.

class Thing:
    def __init__(self, number):
        self.number = number_of___init__(number)

    def __lt__(self, other):
        return less_of___lt__(self, other)

    def __add__(self, other):
        return sum_of___add__(self, other)


def number_of___init__(number):
    return number * 3 % 17


def less_of___lt__(a, b):
    return a.number < b.number


def sum_of___add__(a, b):
    return a.number + b.number


def things_of_work(count):
    things = [Thing(i) for i in range(count)]
    return [a + b for a, b in zip(sorted(things), things)]


# Exceptions pass several frames.

def errors_of_work(count):
    for i in range(count):
        try:
            thrower_of_errors(i)
        except (KeyError, ValueError):
            pass


def thrower_of_errors(i):
    if i % 2:
        raise ValueError(i)
    return deeper_of_thrower(i)


def deeper_of_thrower(i):
    raise KeyError(i)


# A deep recursion fills several pieces of the stack of frames.

def depth_of_work(count):
    return deep_of_depth(count)


def deep_of_depth(left):
    return deep_of_depth(left - 1) + 1 if left else end_of_deep(left)


def end_of_deep(left):
    return left


# Coroutines and delegating generators.

def coroutines_of_work(count):
    return len(list(outer_of_coroutines(count)))


def outer_of_coroutines(count):
    yield from inner_of_outer(count)


def inner_of_outer(count):
    for i in range(count):
        yield step_of_inner(i)


def step_of_inner(i):
    return i ^ 3


@types.coroutine
def pause():
    yield


async def task_of_tasks(count):
    for i in range(count):
        await part_of_task(i)


async def part_of_task(i):
    await pause()


def tasks_of_work(count):
    tasks = [task_of_tasks(5) for _ in range(count)]
    while tasks:
        for task in tasks[:]:
            try:
                task.send(None)
            except StopIteration:
                tasks.remove(task)


# Code objects come and go, and new ones get the memory of old ones.

SOURCE = """
def made{0}_of_compiled(count):
    for i in range(count):
        part{0}_of_made{0}(i)
def part{0}_of_made{0}(i):
    return i * i % 5
"""


def compiled_of_work(count):
    for i in range(count):
        made = {}
        exec(compile(SOURCE.format(i), __file__, "exec"), made)
        made[f"made{i}_of_compiled"](50)
        made.clear()


def work():
    while time.thread_time() < SECONDS:
        calls_of_work(200)
        keys_of_work(200)
        native_of_work(50)
        things_of_work(50)
        errors_of_work(50)
        depth_of_work(300)
        coroutines_of_work(100)
        tasks_of_work(5)
        compiled_of_work(5)


sys.setrecursionlimit(2000)
threads = [threading.Thread(target=work) for _ in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

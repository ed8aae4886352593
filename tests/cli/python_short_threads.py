"""
A Python program whose threads end after 5 ms of CPU time. The name of each function says its only possible caller: NAME_of_CALLER.
Argument: seconds of CPU time.
"""

import os
import sys
import threading
import time


def clock_of_work():
    return time.thread_time()


def file_of_work():
    return os.stat("/")


def pause_of_work():
    time.sleep(0)


def sum_of_work():
    return sum(square_of_sum(i) for i in range(20))


def square_of_sum(i):
    return i * i % 7


def work():
    while clock_of_work() < 0.005:
        file_of_work()
        pause_of_work()
        sum_of_work()


while time.process_time() < float(sys.argv[1]):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

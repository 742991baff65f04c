"""Times of whole processes, shared by the programs beside it. The first runs only warm up and are not counted."""

import statistics
import subprocess
import time

WARM_UP = 3


def wall(command, environment, **streams):
    """Wall time of one run in milliseconds; the run must succeed."""
    begin = time.perf_counter()
    subprocess.run(command, env=environment, check=True, **{"stdout": subprocess.DEVNULL, **streams})
    return (time.perf_counter() - begin) * 1000


def spread(name, values):
    print(f"{name:34} {statistics.median(values):8.2f} ms   (min {min(values):.2f}, max {max(values):.2f})")


def ratio(times, program, peer):
    """Prints and returns how many times as long as its peer a program takes."""
    value = statistics.median(times[program][WARM_UP:]) / statistics.median(times[peer][WARM_UP:])
    print(f"{program} / {peer}: {value:.2f}")
    return value

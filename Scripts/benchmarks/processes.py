"""Times of whole processes."""

import os
import pathlib
import shutil

from harness import PROGRAMS, compared, compiled, daemon, in_turn, value, wall

# Whole processes are short, so one run is this many pairs.
PAIRS = 10
WARM_UP = 3


def processes(folder, options):
    "norrisctl fact beside fortune, and norrisctl prompt beside a static client in C"
    floor = compiled(folder, "floor_client", "-static")
    fortune = shutil.which("fortune", path="/usr/games:" + os.environ["PATH"])
    with daemon(folder / "norrisd") as server:
        environment = {"NORRISD_SOCKET": str(server.path), "PATH": os.environ["PATH"], "HOME": str(folder)}
        def pair(ours, peer):
            # Only these two: after a third process, caches and the daemon would be colder for one of them.
            times = in_turn(options.runs * PAIRS, {
                "ours": lambda: wall(ours, environment), "peer": lambda: wall(peer, environment)
            }, WARM_UP)
            return times["ours"], times["peer"]
        fact = pair([PROGRAMS / "norrisctl", "fact"], [pathlib.Path(fortune)])
        prompt = pair([PROGRAMS / "norrisctl", "prompt"], [floor, server.path])
    return [
        compared("norrisctl fact / fortune", *fact, "ms", at_most=0.3),
        compared("norrisctl prompt / floor client", *prompt, "ms", at_most=1.5),
    ]


def start(folder, options):
    "norrisd from its start to READY=1, the first time and with its databases there"
    times = {"first": [], "later": []}
    for number in range(options.runs):
        for name in times:
            with daemon(folder / str(number)) as server:
                times[name].append(server.start)
    return [value(f"norrisd, {name} start to READY=1", figures, "ms") for name, figures in times.items()]

"""The cost of facts in fortune files: starts, memory, disk, fact.random and fact.search."""

import contextlib
import dataclasses
import itertools
import json
import random
import shutil
import statistics
import threading
import time

from harness import (OFFLINE, Client, Failure, Worker, compared, compiled, cpu_seconds, daemon, in_turn, loaded,
                     need_root, request, resident, value, wait_for)

REFERENCE = 1_000  # facts of the daemon that fact.random is compared with
USERS = [60001, 60002]
CONNECTIONS = 50
SHORT = 80  # the measured max_length

# Words that are in no other word. No fact contains both common words.
COMMON, OTHER_COMMON, RARE, ABSENT = "hammer", "anvil", "zyzzyva", "quixotic"
RARE_HITS, RARE_CATEGORY_FACTS, RARE_CATEGORY_HITS = 3, 5, 2
# The fraction of all facts in each large category. The rare category precedes them.
CATEGORIES = {"large": 0.5, "medium": 0.3, "minor": 0.2}
# The parameters of each search, and the number of hits if it is known.
SEARCHES = {
    "common word": ({"query": COMMON}, None),
    "rare word": ({"query": RARE}, RARE_HITS),
    "two letters, many hits": ({"query": "an"}, None),
    "two letters, few hits": ({"query": "zy"}, None),
    "two letters, no hit": ({"query": "qx"}, 0),
    "common word, rare category": ({"query": COMMON, "category": "rare"}, RARE_CATEGORY_HITS),
    "rare word, large category": ({"query": RARE, "category": "large"}, RARE_HITS),
    "two common words, never together": ({"query": f"{COMMON} {OTHER_COMMON}"}, 0),
    "no hit": ({"query": ABSENT}, 0),
}
SEARCH_RUNS, LONGEST_GOAL = 20, 1_250  # requests of each kind, and the longest time of one in ms
RATIO_GOAL, NEW_SHUFFLE_GOAL = 1.5, 50  # relative to REFERENCE; ms


def generate(folder, count):
    """Writes fortune files with `count` different facts of 20 to 300 bytes, equal in each run."""
    generator = random.Random(count)
    syllables = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
    words = ["".join([*generator.choices(syllables, k=generator.choice([1, 1, 2, 2, 3, 4])),
                      generator.choice(["", "", "n", "s"])]) for _ in range(5_000)]
    # Zipf's law: the nth word is n times as rare as the first.
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    seen = set()

    def text(word):
        """Returns a new text that begins with the word, if any."""
        while True:
            length = min(300, max(30, int(generator.lognormvariate(4.6, 0.5))))
            chosen = [word] * bool(word) + generator.choices(words, cum_weights=weights, k=length // 4)
            text = " ".join(chosen)[:length].rsplit(" ", 1)[0].capitalize() + "."
            if text not in seen:
                seen.add(text)
                return text + "\n%\n"

    folder.mkdir(parents=True)
    rare = [COMMON] * RARE_CATEGORY_HITS + [None] * (RARE_CATEGORY_FACTS - RARE_CATEGORY_HITS)
    (folder / "rare").write_text("".join(map(text, rare)))
    left = count - RARE_CATEGORY_FACTS
    for name, share in CATEGORIES.items():
        facts = left if name == list(CATEGORIES)[-1] else int(count * share)
        left -= facts
        first = [[COMMON, OTHER_COMMON, None][number % 3] for number in range(facts)]
        if name == "large":
            for hit in range(RARE_HITS):
                first[facts // RARE_HITS * hit + facts // RARE_HITS // 2] = RARE
        (folder / name).write_text("".join(map(text, first)))


def fortunes(folder, **facts):
    return {**OFFLINE, "facts": {"enabled": False, "fortunes": [str(folder)], **facts}}


class Peak:
    """The peak anonymous memory of a process, sampled every 50 ms until the process ends."""

    def __init__(self, process):
        self.bytes = 0
        threading.Thread(target=self.watch, args=(process.pid,), daemon=True).start()

    def watch(self, pid):
        with contextlib.suppress(OSError):
            while (memory := resident(pid)) == memory:
                self.bytes = max(self.bytes, memory)
                time.sleep(0.05)


def store(folder, options):
    """starts, memory, disk, fact.random and fact.search by the number of facts; --sizes"""
    need_root()
    load, rows = compiled(folder, "load"), []
    with daemon(folder / "empty") as server:
        built_in = server.items()
    generate(folder / "reference-facts", REFERENCE)
    with daemon(folder / "reference", fortunes(folder / "reference-facts")) as reference:
        wait_for(lambda: reference.items() == built_in + REFERENCE, "the reference's facts")
        for size in options.sizes:
            figures = measured(folder / str(size), size, built_in, load, reference, options.runs)
            rows += [dataclasses.replace(row, name=f"{size:,} facts: {row.name}") for row in figures]
            shutil.rmtree(folder / str(size))
    return rows


def measured(home, size, built_in, load, reference, runs):
    """Returns the figures of one size."""
    rows, peaks, timeout = [], [], 60 + size / 500
    generate(home / "facts", size)
    setting = fortunes(home / "facts")

    def add(name, figure, unit, at_most=None, note=""):
        rows.append(value(name, [figure], unit, at_most, note))

    def all_facts():
        return server.items() == built_in + size

    begin = time.perf_counter()
    with daemon(home, setting, timeout=timeout, started=lambda process: peaks.append(Peak(process))) as server:
        add("first start to READY", server.start, "ms", at_most=500)
        wait_for(all_facts, "all facts", timeout)
        add("start to all facts", time.perf_counter() - begin, "s", at_most=2)
        add("anonymous memory, peak of the import", peaks[0].bytes / 1e6, "MB", at_most=128)
    with daemon(home, setting, timeout=timeout, started=lambda process: peaks.append(Peak(process))) as server:
        add("restart to READY", server.start, "ms", at_most=200)
        wait_for(all_facts, "all facts", timeout)
        for uid in USERS:
            Worker(uid, draw, server.path).result()
        settle(server)
        add("anonymous memory, restart and 2 x 1,000 facts", server.memory() / 1e6, "MB",
            at_most=12 if size <= 10_000 else 60)
        add("anonymous memory, peak since the restart", peaks[1].bytes / 1e6, "MB")
        add("resident memory", server.memory("VmRSS") / 1e6, "MB", at_most=24 if size <= 3_000 else None)
        rows += rates(server, reference, load, runs)
        kept = {"kind": "fact", "id": server.call("fact.random")["items"][0]["id"]}
        times, _ = repeated(server, *(request(f"favorite.{verb}", **kept) for verb in ["add", "remove"]))
        add("favorite.add and favorite.remove", statistics.median(times), "ms")
        for name, (parameters, hits) in SEARCHES.items():
            times, reply = repeated(server, request("fact.search", **parameters))
            count = len(reply["result"]["items"])
            if hits not in (None, count):
                raise Failure(f"{name}: {count} hits in place of {hits}")
            add(f"search, {name}", statistics.median(times), "ms", at_most=1 if size <= 1_000 else 20)
            add(f"search, {name}, longest", max(times), "ms", at_most=LONGEST_GOAL)
    add("stop", server.stop, "ms")
    for name in ["state", "cache"]:
        add(f"{name}.db", (home / name / f"{name}.db").stat().st_size / 1e6, "MB")
    return rows


def draw(path):
    with Client(path) as client:
        client.repeat(request("fact.random", source="all"), 1000)


def settle(server):
    """Waits until the daemon has used almost no CPU time for a second, at most a minute."""
    for _ in range(60):
        before = cpu_seconds(server.process.pid)
        time.sleep(1)
        if cpu_seconds(server.process.pid) - before <= 0.02:
            break


def rates(server, reference, load, runs):
    """Measures fact.random, alternating with the reference."""
    shapes = {
        "1 conn.": ({}, {"connections": 1}), "50 conn.": ({}, {}), "pipeline 16": ({}, {"pipeline": 16}),
        f"max_length {SHORT}": ({"max_length": SHORT}, {}), "category": ({"category": "large"}, {}),
    }
    rows, longest = [], 0
    for name, (parameters, shape) in shapes.items():
        parameters, shape = {"source": "all", **parameters}, {"connections": CONNECTIONS, **shape}
        line = request("fact.random", **parameters)
        for each in [reference, server]:
            begin = time.perf_counter()
            # load.c does not check replies.
            if not each.call("fact.random", **parameters)["items"]:
                raise Failure(f"no facts: {line}")
        longest = max(longest, (time.perf_counter() - begin) * 1000)
        figures = in_turn(runs, {
            "here": lambda: loaded(load, server.path, line, seconds=0.5, **shape),
            "reference": lambda: loaded(load, reference.path, line, seconds=0.5, **shape),
        }, warm_up=1)
        peers, here = ([run[0] / 1000 for run in figures[each]] for each in ["reference", "here"])
        p50, p99 = (statistics.median(run[index] for run in figures["here"]) for index in [1, 2])
        # One connection has no goal, because it is several times as fast if both processes are on the same processor.
        row = compared(f"fact.random, {name}, {REFERENCE:,} / here", peers, here, "k/s",
                       at_most=RATIO_GOAL if shape["connections"] > 1 else None)
        row.note = f"p50 {p50:.3f} ms, p99 {p99:.3f} ms"
        rows.append(row)
    return [*rows, value("fact.random, longest first of a shuffle", [longest], "ms", at_most=NEW_SHUFFLE_GOAL)]


def repeated(server, *lines):
    """Sends the lines in turn; returns the times in ms and the last reply."""
    times = []
    with server.connect() as client:
        for line in itertools.islice(itertools.cycle(lines), SEARCH_RUNS):
            sent = time.perf_counter()
            reply = client.ask(line)
            times.append((time.perf_counter() - sent) * 1000)
    return times, json.loads(reply)

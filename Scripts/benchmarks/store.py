"""Measures the cost of facts in fortune files: starts, memory, disk, fact.random, fact.search, and latency during
imports."""

import contextlib
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import threading
import time

import harness
from harness import FACT_RANDOM, Failure, Row, compared, compiled, daemon, effective_user, exchange, in_turn, load
from harness import load_command, quantity, request, resident, running, upstream, value, wait_for

REFERENCE = 1_000
DEFAULT_SIZES = [1_000, 10_000, 100_000]
USERS = [60001, 60002]
CONNECTIONS = 50
SHORT = 80  # the measured max_length
FETCHED = 500  # facts of the upstream that cache.clear removes

# Words that are in no other word. No fact contains both common words.
COMMON, OTHER_COMMON, RARE, ABSENT = "hammer", "anvil", "zyzzyva", "quixotic"
RARE_HITS, RARE_CATEGORY_FACTS, RARE_CATEGORY_HITS = 3, 5, 2
PER_FILE = 100_000  # facts; a category's other files are in other folders
# The fraction of all facts in each large category. The rare category precedes them.
CATEGORIES = {"large": 0.5, "medium": 0.3, "minor": 0.2}
SEARCHES = {
    "common word": {"query": COMMON},
    "rare word": {"query": RARE},
    "two letters, many hits": {"query": "an"},
    "two letters, few hits": {"query": "zy"},
    "two letters, no hit": {"query": "qx"},
    "common word, rare category": {"query": COMMON, "category": "rare"},
    "rare word, large category": {"query": RARE, "category": "large"},
    "two common words, never together": {"query": f"{COMMON} {OTHER_COMMON}"},
    "no hit": {"query": ABSENT},
}
HITS = {"rare word": RARE_HITS, "common word, rare category": RARE_CATEGORY_HITS,
        "rare word, large category": RARE_HITS, "two letters, no hit": 0, "two common words, never together": 0,
        "no hit": 0}
SEARCH_RUNS, SEARCH_SECONDS = 20, 5  # the maximum for each kind of search
CUT_OFF, CUT_OFF_GOAL = -32004, 1_250  # the error of a search longer than a second, and its maximum time in ms
RATIO_GOAL = 1.5  # of fact.random, relative to REFERENCE facts
CLEAR_GOAL = 1.25  # of the median of fact.random, after cache.clear relative to before
NEW_SHUFFLE_GOAL = 50  # ms, the first request of a shuffle


# Facts


def generate(folder, count):
    """Writes fortune files with `count` different facts of 20 to 300 bytes, equal in each run."""
    generator = random.Random(count)
    syllables = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
    words = ["".join([*generator.choices(syllables, k=generator.choice([1, 1, 2, 2, 3, 4])),
                      generator.choice(["", "", "n", "s"])]) for _ in range(5_000)]
    # Zipf's law: the nth word is n times as rare as the first.
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    seen = set()

    def fact(word):
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
    (folder / "rare").write_text("".join(map(fact, rare)))
    left = count - RARE_CATEGORY_FACTS
    for name, share in CATEGORIES.items():
        facts = left if name == list(CATEGORIES)[-1] else int(count * share)
        left -= facts
        words_in_front = ([COMMON, OTHER_COMMON, None][number % 3] for number in itertools.count())
        if name == "large":
            rare = {facts // RARE_HITS * hit + facts // RARE_HITS // 2 for hit in range(RARE_HITS)}
            words_in_front = (RARE if number in rare else word for number, word in enumerate(words_in_front))
        for number, first in enumerate(range(0, facts, PER_FILE)):
            part = folder / str(number)
            part.mkdir(exist_ok=True)
            texts = map(fact, itertools.islice(words_in_front, min(PER_FILE, facts - first)))
            (part / name).write_text("".join(texts))


def fortunes(folder):
    return f"facts: {{enabled: false, fortunes: ['{folder}']}}\n"


def items(server):
    return next(source["items"] for source in server.call("server.status")["sources"] if source["name"] == "facts")


def jokes(count):
    """Returns an upstream function that answers as api.chucknorris.io, with `count` facts."""
    facts = [
        {"categories": [], "created_at": "2020-01-05 13:42:19.324003", "id": f"bench-{number:017}",
         "icon_url": "https://api.chucknorris.io/img/avatar/chuck-norris.png",
         "updated_at": "2020-01-05 13:42:19.324003", "url": f"https://api.chucknorris.io/jokes/bench-{number:017}",
         "value": f"Chuck Norris has counted to infinity {number} times, and once more to be sure of it."}
        for number in range(count)
    ]
    bodies = {"/jokes/search": json.dumps({"total": count, "result": facts}).encode(), "/jokes/categories": b"[]"}
    return lambda path, _: (200, {"Content-Type": "application/json"}, bodies[path.split("?")[0]])


# Sizes


class Peak:
    """The peak anonymous memory of a process, sampled every 50 ms until the process ends."""

    def __init__(self, process):
        self.bytes = 0
        threading.Thread(target=self.watch, args=(process.pid,), daemon=True).start()

    def watch(self, pid):
        # A process that has ended has no status file, or no such line in it.
        with contextlib.suppress(OSError, StopIteration):
            while True:
                self.bytes = max(self.bytes, resident(pid))
                time.sleep(0.05)


class Column:
    """The figures of one size."""

    def __init__(self, size):
        self.size, self.cells, self.missed = size, {}, []

    def add(self, name, figure, unit="", at_most=None, text=None):
        text = text or quantity(figure, unit)
        if at_most is not None and figure > at_most:
            self.missed.append(name)
            text += f" (> {quantity(at_most, '')})"
        self.cells[name] = text
        print(f"store: {self.size:,} facts: {name}: {text}", flush=True)


def store(folder, options):
    "starts, memory, disk, fact.random and fact.search by the number of facts; --sizes (only if named)"
    begin = time.monotonic()
    # Other users connect.
    folder.chmod(0o711)
    program = compiled(folder, "load")
    with daemon(folder / "empty") as server:
        built_in = items(server)
    generate(folder / "reference-facts", REFERENCE)
    columns = []
    with daemon(folder / "reference", fortunes(folder / "reference-facts")) as reference:
        wait_for(lambda: items(reference) == built_in + REFERENCE, "the reference's facts")
        for size in options.sizes:
            columns.append(measured(folder / str(size), size, built_in, program, reference, options.runs))
            shutil.rmtree(folder / str(size))
    names = list(dict.fromkeys(name for column in columns for name in column.cells))
    harness.table([["facts", *(f"{column.size:,}" for column in columns)]] +
                  [[name, *(column.cells.get(name, "-") for column in columns)] for name in names])
    rows = []
    for column in columns:
        note = f"missed: {', '.join(column.missed)}" if column.missed else ""
        rows.append(Row(f"{column.size:,} facts, goals missed", str(len(column.missed)), goal="0",
                        met=not column.missed, note=note))
    return [*rows, value("store, in all", [time.monotonic() - begin], "s")]


def measured(home, size, built_in, program, reference, runs):
    """Measures one size; does not remove the folder."""
    column = Column(size)
    generate(home / "facts", size)
    configuration = fortunes(home / "facts")
    timeout = 60 + size / 500
    peaks = []
    begin = time.perf_counter()
    with daemon(home, configuration, timeout=timeout, started=lambda process: peaks.append(Peak(process))) as server:
        column.add("first start to READY", server.start, "ms", at_most=500)
        wait_for(lambda: items(server) >= built_in + size, "the import", timeout=timeout)
        seconds = time.perf_counter() - begin
        if items(server) != built_in + size:
            raise Failure(f"{items(server) - built_in:,} facts in place of {size:,}")
        column.add("start to all facts", seconds, "s", at_most=2)
        column.add("anonymous memory, peak of the import", peaks[0].bytes / 1e6, "MB", at_most=128)
        everything = source_of_all(server)
    with daemon(home, configuration, timeout=timeout, started=lambda process: peaks.append(Peak(process))) as server:
        column.add("restart to READY", server.start, "ms", at_most=200)
        server.timeout = timeout
        server.path.chmod(0o666)
        for uid in USERS if os.geteuid() == 0 else [os.geteuid()]:
            with effective_user(uid):
                connection = server.connect()
            with connection:
                exchange(connection, request("fact.random", **everything), 1000)
        settle(server)
        column.add("anonymous memory, restart and 2 x 1,000 facts", server.anonymous_memory() / 1e6, "MB",
                   at_most=12 if size <= 10_000 else 60)
        column.add("anonymous memory, peak since the restart", peaks[1].bytes / 1e6, "MB")
        column.add("resident memory", resident(server.process.pid, "VmRSS") / 1e6, "MB",
                   at_most=24 if size <= 3_000 else None)
        rates(column, server, reference, program, everything, runs)
        favorites(column, server)
        for name, parameters in SEARCHES.items():
            search(column, server, name, parameters)
        clear(column, server, home, configuration, program, everything, runs)
    column.add("stop", server.stop, "ms")
    sizes = {path.name: path.stat().st_size for kind in ["state", "cache"] for path in (home / kind).rglob("*")
             if path.is_file()}
    for name in ["state.db", "cache.db"]:
        column.add(name, sizes.pop(name, 0) / 1e6, "MB")
    column.add("other files", sum(sizes.values()) / 1e6, "MB", text=", ".join(
        f"{name} {quantity(size / 1e6, 'MB')}" for name, size in sorted(sizes.items()) if size) or "none")
    return column


def source_of_all(server):
    """Returns the parameters for which fact.random includes the fortune files in this version."""
    parameters = {"source": "all"}
    return {} if "error" in server.reply("fact.random", **parameters) else parameters


def settle(server):
    """Waits until the daemon has used almost no CPU time for a second, at most a minute."""
    def cpu():
        fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    for _ in range(60):
        before = cpu()
        time.sleep(1)
        if cpu() - before <= 2:
            break


def rates(column, server, reference, program, everything, runs):
    """Measures fact.random, alternating with the reference."""
    shapes = {
        "1 conn.": ({}, {"connections": 1}), "50 conn.": ({}, {}), "pipeline 16": ({}, {"pipeline": 16}),
        f"max_length {SHORT}": ({"max_length": SHORT}, {}), "category": ({"category": "large"}, {}),
    }
    longest = 0
    for name, (parameters, shape) in shapes.items():
        parameters, shape = everything | parameters, {"connections": CONNECTIONS} | shape
        line = request("fact.random", **parameters)
        for each in [reference, server]:
            begin = time.perf_counter()
            # load.c does not check replies.
            if not each.call("fact.random", **parameters)["items"]:
                raise Failure(f"no facts: {line}")
        longest = max(longest, (time.perf_counter() - begin) * 1000)
        figures = in_turn(runs, {
            "here": lambda: load(program, server.path, line, seconds=0.5, **shape),
            "reference": lambda: load(program, reference.path, line, seconds=0.5, **shape),
        }, warm_up=1)
        rate = statistics.median(here for here, _, _ in figures["here"]) / 1000
        ratio = statistics.median(peer[0] / here[0] for here, peer in zip(figures["here"], figures["reference"]))
        p50, p99 = (statistics.median(run[index] for run in figures["here"]) for index in [1, 2])
        name = f"fact.random, {name}"
        column.add(name, rate, text=f"{rate:.1f} k/s, p50 {p50:.3f} ms, p99 {p99:.3f} ms")
        # One connection has no goal, because it is several times as fast if both processes are on the same processor.
        goal = RATIO_GOAL if shape["connections"] > 1 else None
        column.add(f"{name}, {REFERENCE:,} / here", ratio, at_most=goal)
    column.add("fact.random, longest first of a shuffle", longest, "ms", at_most=NEW_SHUFFLE_GOAL)


def repeated(server, requests):
    """Sends the requests in turn; returns the times in ms and the last reply."""
    times, begin = [], time.perf_counter()
    with server.connect() as connection:
        replies = connection.makefile("rb")
        for line in itertools.islice(itertools.cycle(requests), SEARCH_RUNS):
            sent = time.perf_counter()
            connection.sendall(line.encode() + b"\n")
            reply = json.loads(replies.readline())
            times.append((time.perf_counter() - sent) * 1000)
            if sent > begin + SEARCH_SECONDS:
                break
    return times, reply


def favorites(column, server):
    """Measures writes that are on the disk before the reply, as the queries of searches are."""
    kept = {"kind": "fact", "id": server.call("fact.random")["items"][0]["id"]}
    times, _ = repeated(server, [request(f"favorite.{verb}", **kept) for verb in ["add", "remove"]])
    column.add("favorite.add and favorite.remove", statistics.median(times), "ms")


def search(column, server, name, parameters):
    """Measures the median and the maximum of one kind of search."""
    times, reply = repeated(server, [request("fact.search", **parameters)])
    name, error = f"search, {name}", reply.get("error", {})
    if error:
        if error["code"] != CUT_OFF:
            raise Failure(f"{name}: {error}")
        hits = f"cut off: {error['data']['reason']}"
    else:
        hits = HITS.get(name.removeprefix("search, "), count := len(reply["result"]["items"]))
        if hits != count:
            raise Failure(f"{name}: {count} hits in place of {hits}")
        hits = f"{count} hits"
    median = statistics.median(times)
    goal = 1 if column.size <= 1_000 else 20 if column.size <= 100_000 else CUT_OFF_GOAL
    column.add(name, median, at_most=goal, text=f"{median:.2f} ms, {hits}")
    column.add(f"{name}, longest", max(times), "ms", at_most=CUT_OFF_GOAL)


def clear(column, server, home, configuration, program, everything, runs):
    """Measures fact.random before and after cache.clear removes the facts of an upstream."""
    before = items(server)
    with upstream(jokes(FETCHED)) as port:
        (home / "config.yaml").write_text(configuration.replace(
            "enabled: false", f"enabled: true, base_url: 'http://127.0.0.1:{port}'"))
        server.call("server.reload")
        wait_for(lambda: items(server) == before + FETCHED, "the fetch", timeout=server.timeout)
        (home / "config.yaml").write_text(configuration)
        server.call("server.reload")
    line = request("fact.random", **everything)
    medians = []
    for number in range(2):
        if number:
            begin = time.perf_counter()
            removed = server.call("cache.clear")["removed"]
            column.add("cache.clear", (time.perf_counter() - begin) * 1000, "ms")
            if removed != FETCHED or items(server) != before:
                raise Failure(f"cache.clear removed {removed} and left {items(server)}")
        runs_of = [load(program, server.path, line, CONNECTIONS, seconds=0.5) for _ in range(runs)]
        medians.append(statistics.median(p50 for _, p50, _ in runs_of))
    column.add("fact.random, p50 after / before cache.clear", medians[1] / medians[0], at_most=CLEAR_GOAL)


# Latency


IMPORTED = 50_000


def imports(folder, options):
    "latency on 50 connections while 50,000 facts are imported, beside a quiet daemon (only if named)"
    program = compiled(folder, "load")
    home = folder / "norrisd"
    with upstream(jokes(IMPORTED)) as port, daemon(home) as server:
        def measure(seconds):
            return load(program, server.path, connections=CONNECTIONS, seconds=seconds)[1:]

        measure(1)
        latencies = {"quiet": measure(5)}
        (home / "config.yaml").write_text(
            f"facts: {{enabled: true, base_url: 'http://127.0.0.1:{port}'}}\n"
            "http: {max_body: 128MiB, timeout: 60s}\n")
        command = load_command(program, server.path, FACT_RANDOM, CONNECTIONS, seconds=1000)
        with running(command, stdout=subprocess.PIPE) as process:
            server.process.send_signal(signal.SIGHUP)
            wait_for(lambda: items(server) >= IMPORTED, "the import", timeout=900)
            process.send_signal(signal.SIGTERM)
            latencies["import"] = [float(word) for word in process.communicate(timeout=30)[0].split()[1:]]
        latencies["after"] = measure(5)
    rows = []
    for name, (p50, p99) in latencies.items():
        rows.append(value(f"{name}, p50", [p50], "ms"))
        rows.append(compared(f"{name}, p99 / quiet", [p99], [latencies["quiet"][1]], "ms"))
    return rows

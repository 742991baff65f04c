"""Measures the cost of facts in fortune files: starts, memory, disk, fact.random, fact.search, and latency during
imports. Tests that kill -9 loses no acknowledged write."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import statistics
import subprocess
import threading
import time

import harness
from feeds import ITEM, RSS
from harness import FACT_RANDOM, Failure, Row, compared, compiled, daemon, effective_user, exchange, in_turn, load
from harness import load_command, quantity, request, resident, running, upstream, value, wait_for

REFERENCE = 1_000
DEFAULT_SIZES = [1_000, 3_000, 100_000]
USERS = [60001, 60002]
CONNECTIONS = 50
SHORT = 80  # the measured max_length
FETCHED = 500  # facts of the upstream that cache.clear removes

# Words that are in no other word. No fact contains both common words.
COMMON, OTHER_COMMON, RARE, ABSENT = "hammer", "anvil", "zyzzyva", "quixotic"
RARE_HITS, RARE_CATEGORY_FACTS, RARE_CATEGORY_HITS = 3, 5, 2
PER_FILE = 100_000  # facts, because norrisd refuses more than 16 MiB; a category's other files are in other folders
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
            # A million facts need 2 GB of disk space.
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
        column.add("start to all facts", seconds, "s", at_most=20 * size / 100_000 if size >= 100_000 else None)
        column.add("anonymous memory, peak of the import", peaks[0].bytes / 1e6, "MB", at_most=128)
        everything = source_of_all(server)
    with daemon(home, configuration, timeout=timeout, started=lambda process: peaks.append(Peak(process))) as server:
        column.add("restart to READY", server.start, "ms", at_most=150)
        server.timeout = timeout
        server.path.chmod(0o666)
        for uid in USERS if os.geteuid() == 0 else [os.geteuid()]:
            with effective_user(uid):
                connection = server.connect()
            with connection:
                exchange(connection, request("fact.random", **everything), 1000)
        settle(server)
        column.add("anonymous memory, restart and 2 x 1,000 facts", server.anonymous_memory() / 1e6, "MB",
                   at_most=12 if size <= 3_000 else 24)
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
    times, reply = repeated(server, [request("fact.search", offline=True, **parameters)])
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


# kill -9


WRITERS, WRITTEN_FACTS, POSTS = 4, 3_000, 2_000
MARKS = 0.05  # the fraction of writes that mark posts as read, which is permanent
LIFETIME = 0.05, 0.6  # seconds from READY to SIGKILL
STARTS, EVERY = 0.15, 4  # maximum seconds until SIGKILL during a start; one of EVERY starts is killed


class Writer:
    """A client that adds and removes favorites, and marks posts as read, until the daemon has ended. It records the
    acknowledged writes."""

    def __init__(self, facts, posts):
        self.facts, self.posts, self.kept, self.read = facts, posts, set(), set()
        self.unsure, self.acknowledged, self.failure = None, collections.Counter(), None

    def write(self, server, generator):
        with contextlib.suppress(OSError), server.connect() as connection:
            replies = connection.makefile("rb")
            while True:
                if generator.random() < MARKS and len(self.read) < len(self.posts):
                    self.unsure = self.posts[len(self.read)]
                    method, parameters = "post.mark_read", {"ids": [self.unsure]}
                else:
                    self.unsure = generator.choice(self.facts)
                    method = "favorite.remove" if self.unsure in self.kept else "favorite.add"
                    parameters = {"kind": "fact", "id": self.unsure}
                connection.sendall(request(method, **parameters).encode() + b"\n")
                reply = replies.readline()
                if not reply.endswith(b"\n"):
                    return
                if b'"result"' not in reply:
                    self.failure = reply[:200]
                    return
                if method == "post.mark_read":
                    self.read.add(self.unsure)
                elif method == "favorite.add":
                    self.kept.add(self.unsure)
                else:
                    self.kept.remove(self.unsure)
                self.acknowledged[method] += 1
                self.unsure = None

    def lost(self, listed, read):
        """Returns the number of lost acknowledged writes, and continues from the stored state."""
        unsure = {self.unsure}
        kept, marked = listed & set(self.facts), read & set(self.posts)
        lost = len((self.kept ^ kept) - unsure) + len((self.read ^ marked) - unsure)
        # Posts are marked in their order.
        self.kept, self.read, self.unsure = kept, marked, None
        return lost


def kill(folder, options):
    "kill -9 in the middle of writes, --kills times: nothing acknowledged is lost (only if named)"
    generator, home, growing = random.Random(), folder / "norrisd", folder / "facts" / "growing"
    generate(folder / "facts", WRITTEN_FACTS)
    growing.touch()
    posts = POSTS

    def feed(path, headers):
        nonlocal posts
        posts += 1
        text = RSS.format("".join(ITEM.format(number, "Chuck Norris reads it.") for number in range(posts)))
        return 200, {"Content-Type": "application/rss+xml"}, text.encode()

    starts, lost, bad = [], 0, []
    with upstream(feed) as port:
        configuration = fortunes(folder / "facts") + (
            f"posts: {{sources: {{feed: {{kind: feed, url: 'http://127.0.0.1:{port}/'}}}}}}\n")
        with daemon(home, configuration) as server:
            wait_for(lambda: items(server) >= WRITTEN_FACTS, "the import", timeout=120)
            wait_for(lambda: server.call("post.list")["items"], "posts")
            facts = [fact["id"] for fact in server.pages("fact.search", query="a", offline=True, limit=100)]
            ids = [post["id"] for post in server.pages("post.list", limit=100)]
        writers = [Writer(facts[number::WRITERS], ids[number::WRITERS]) for number in range(WRITERS)]
        for number in range(options.kills + 1):
            # The daemon also imports a fact.
            with open(growing, "a") as file:
                file.write(f"A fact of start {number}, with which cache.db is written to.\n%\n")
            if number % EVERY == 1:
                harness.killed_start(home, configuration, generator.uniform(0, STARTS))
            with daemon(home, configuration) as server:
                starts.append(server.start)
                status = server.call("server.status")
                if status["database"]["read_only"] or not server.call("fact.random", count=100)["items"]:
                    bad.append(f"start {number}: {status['message']}")
                listed = {item["id"] for item in server.pages("favorite.list", limit=100)}
                read = {post["id"] for post in server.pages("post.list", limit=100) if post["read"]}
                here = sum(writer.lost(listed, read) for writer in writers)
                lost += here
                if here:
                    bad.append(f"start {number}: {here} lost")
                if number == options.kills:
                    break
                # A separate generator for each thread, because the threads run concurrently.
                threads = [threading.Thread(target=writer.write, args=(server, random.Random(generator.random())))
                           for writer in writers]
                for thread in threads:
                    thread.start()
                server.call("source.refresh")
                time.sleep(generator.uniform(*LIFETIME))
                server.process.kill()
                for thread in threads:
                    thread.join()
                server.process.wait()
            if number % 20 == 0 or number == options.kills - 1:
                bad += [f"after kill {number + 1}: {fault}" for fault in faults_of(home, folder / "copy")]
        bad += [f"after a clean stop: {fault}" for fault in faults_of(home, folder / "copy")]
    bad += [f"a write was refused: {writer.failure}" for writer in writers if writer.failure]
    files = sorted(path.name for name in ["state", "cache"] for path in (home / name).iterdir())
    return [
        Row("kill -9 between writes", str(options.kills), note=f"files: {', '.join(files)}"),
        *(Row(f"{method}, acknowledged", f"{count:,}")
          for method, count in sorted(sum((writer.acknowledged for writer in writers), collections.Counter()).items())),
        Row("of them lost", str(lost), goal="0", met=lost == 0),
        Row("faults", str(len(bad)), goal="0", met=not bad, note="; ".join(bad[:10])),
        value("start after kill -9 to READY", starts, "ms", note=f"longest {max(starts):.0f} ms"),
    ]


def faults_of(home, copy):
    """Returns the faults that SQLite finds in copies of the databases and their logs."""
    faults = []
    for name in ["state", "cache"]:
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for path in (home / name).glob(f"{name}.db*"):
            # SQLite recreates the index of the log.
            if not path.name.endswith("-shm"):
                shutil.copy(path, copy)
        with contextlib.closing(sqlite3.connect(copy / f"{name}.db")) as database:
            try:
                faults += [f"{name}.db: {row}" for row in database.execute("PRAGMA integrity_check") if row != ("ok",)]
                faults += [f"{name}.db: {row}" for row in database.execute("PRAGMA foreign_key_check")]
                indices = database.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'").fetchall()
                for (index,) in indices:
                    # A rank of 1 compares the index with its table.
                    database.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")
            except sqlite3.DatabaseError as error:
                faults.append(f"{name}.db: {error}")
    return faults

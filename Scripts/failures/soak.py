"""Runs norrisd for a month of simulated time, with sources that fail and clients of several users.

libfaketime multiplies the speed of all clocks and shortens all waits of the daemon. Therefore schedules, upkeep, quota
and expiry run as often as in a month. Time limits are shortened as much: a search may take half a millisecond, and a
connection may be idle for 140 ms. Clients therefore count "busy" replies and ended connections, which are no faults
here, and use only the cache.
"""

import collections
import contextlib
import itertools
import os
import pathlib
import random
import shutil
import sqlite3
import statistics
import time
import urllib.parse
import zlib
from concurrent.futures import ThreadPoolExecutor

from clocks import faked
from harness import (FACT_RANDOM, FORK, Daemon, Failure, Row, Upstream, content, daemon, effective_user, fact, faultless, feed,
                     item, key_file, need_root, percentile, quantity, replied, request, resident, rss, wait_for)

SPEED = 2_160  # simulated seconds a second; a day takes 40 s
DAY = 86_400 / SPEED  # seconds
USERS, CONNECTIONS, PAUSE = range(60_001, 60_006), 10, 0.01  # connections of each user; seconds between its requests
SUBSCRIBERS = 2  # of the connections of each user
KEPT, LASTING = 30, 5  # favorites of each user; favorites of the first day that are never removed
MARKS, RUN = 10_000, 2_000  # read marks that norrisd stores for a user, the oldest of which new ones replace; posts of a run
LOG = 8 << 20  # bytes of a database's log, which SQLite begins again at 4 MiB unless a reader is busy
NEW, HELD = 20, 40  # new posts and posts of each document of the growing feed
TOLERANCE = 0.05
BURSTS, BURST = 20, 300  # bursts of fact.random a day, and requests of each
WARM = 50  # times that each connection sends all reading requests before the first day
BUSY, NOT_FOUND = -32004, -32001
FAULTS = ["garbage", "down", "rate limit"]
GOOD = {"facts": 6, "gifs": 6, "growing": 1, "slow": 2}  # refresh intervals in hours
OTHERS = {"failing": 1, "hostile": 2}
HOSTILE = [
    replied(b"\1\2\3 neither XML nor JSON"), replied("<!DOCTYPE html><html><body>Log in</body></html>", "text/html"),
    replied(zlib.compress(b" " * (32 << 20), 9, 31), Content_Encoding="gzip"), replied(rss([item("half")] * 9)[:400]),
    replied("", status=302, Location="/hostile"), replied("<a>" * 50_000), replied("", status=429, Retry_After="600"),
    replied(rss(item(f"&#27;[2J{number}", "d&#8238;") for number in range(20)))]


class Sources:
    """The upstream of all sources. The facts, GIFs and good feeds fail on demand."""

    def __init__(self):
        self.fault, self.hostile, self.upstream = None, itertools.cycle(HOSTILE), Upstream(self.answer)
        self.counts, self.has_archive = collections.Counter(), False

    def set(self, fault):
        """Begins a fault, or ends it with None."""
        if self.fault == "down":
            self.upstream.start()
        if fault == "down":
            self.upstream.stop()
        self.fault = fault

    def answer(self, target, _):
        path = urllib.parse.urlsplit(target).path.strip("/")
        name = {"jokes/search": "facts", "v1/gifs/trending": "gifs"}.get(path, path)
        self.counts[name] += 1
        if name == "failing":
            return replied("", status=500)
        if name == "hostile":
            return next(self.hostile)
        if self.fault == "rate limit":
            return replied("", status=429, Retry_After="3600")
        if self.fault == "garbage":
            return replied(b"\1\2 garbage" * 99)
        if name == "facts":
            # Ten facts of 300 are others at each fetch.
            first = 10 * self.counts[name]
            return replied({"total": 300, "result": [fact(number) for number in range(first, first + 300)]})
        if path.startswith(("v1/", "jokes/")):
            return content(target, range(20))
        if name == "slow":
            time.sleep(0.1)  # more than three simulated minutes
        if self.has_archive:
            return replied(rss(item(f"{self.counts[name]}-{number}") for number in range(RUN)))
        last = NEW * self.counts[name] if name == "growing" else HELD
        return replied(rss(item(f"{name}-{number}") for number in range(last - HELD, last)))


def configuration(url, key):
    # The limits are in simulated time: a fetch of 5 ms takes 11 s.
    return {"http": {"timeout": "10m", "max_body": "4MiB"},
            "facts": {"base_url": url, "refresh": f"{GOOD['facts']}h", "queries": ["chuck"]},
            "gifs": {"base_url": url, "refresh": f"{GOOD['gifs']}h", "queries": ["norris"], "api_key_file": key},
            "posts": {"sources": {name: feed(f"{url}/{name}", refresh=f"{({**GOOD, **OTHERS})[name]}h", keep="1d")
                                  for name in ["growing", "slow", *OTHERS]}}}


def expected(name, hours_of_fault):
    """Returns the least and the most requests of a source in a day, in which it failed for some hours."""
    if name == "failing":
        # Retries wait for a random time of at most an hour, and a day may end within a wait. An upstream that is down
        # counts no requests.
        return 22 * (24 - hours_of_fault) / 24, 96
    if name == "hostile":
        # Most replies are failures, which begin with retries after seconds.
        return 6, 160
    runs = (24 - hours_of_fault) / GOOD[name]
    # A retry waits for a random time of at most an hour, and the first ones for seconds.
    retries = 10 + 4 * hours_of_fault if hours_of_fault else 0
    return int(runs / 1.1 * 0.8) - 1, runs / 0.9 * 1.1 + 1 + retries


# Clients


class User:
    """The connections of a user in a process. The user reads, searches, and changes favorites and read marks."""

    # The rest of the chances are changes of favorites, and disconnects.
    READS = [(0.40, "fact.random", {}), (0.10, "fact.search", {"query": "norris"}),
             (0.10, "post.list", {"unread": True, "limit": 20}), (0.05, "post.search", {"query": "reads"}),
             (0.05, "gif.search", {"query": "norris", "offline": True}), (0.05, "recent.list", {}),
             (0.03, "server.status", {}), (0.01, "post.mark_read", {"all": True}), (0.02, "favorite.list", {})]

    def __init__(self, server, uid):
        self.server, self.random = server, random.Random(uid)
        self.clients, self.counts, self.faults = [None] * CONNECTIONS, collections.Counter(), []
        self.kept, self.unsure, self.lasting = set(), set(), set()

    def call(self, slot, method, **parameters):
        """Returns the result, or None for an error or an end of the connection that is none here."""
        try:
            if not self.clients[slot]:
                self.clients[slot] = self.server.connect()
                if slot < SUBSCRIBERS:
                    self.clients[slot].ask(request("event.subscribe"))
            reply = self.clients[slot].reply(method, **parameters)
        except OSError:
            self.disconnect(slot)
            return None
        self.counts[method] += 1
        if "error" in reply and reply["error"]["code"] not in (BUSY, NOT_FOUND):
            self.faults.append(f"{method}: {reply}")
        return reply.get("result")

    def disconnect(self, slot):
        if self.clients[slot]:
            self.clients[slot].close()
        self.clients[slot] = None
        self.counts["ended connections"] += 1

    def change(self, slot, verb, fact):
        """Adds or removes a favorite. Without a reply it is unknown whether norrisd did."""
        self.unsure.add(fact)
        if self.call(slot, f"favorite.{verb}", kind="fact", id=fact) is not None:
            self.unsure.discard(fact)
            (self.kept.add if verb == "add" else self.kept.discard)(fact)

    def act(self, slot):
        """Does one thing of a user."""
        chance = self.random.random()
        for share, method, parameters in self.READS:
            if (chance := chance - share) < 0:
                return self.call(slot, method, **parameters)
        if chance < 0.03:
            posts = self.call(slot, "post.list", unread=True, limit=5)
            if posts and posts["items"]:
                self.call(slot, "post.mark_read", ids=[post["id"] for post in posts["items"]])
        elif chance < 0.15:
            removable = sorted(self.kept - self.lasting - self.unsure)
            if removable and (len(self.kept) > KEPT or self.random.random() < 0.4):
                self.change(slot, "remove", self.random.choice(removable))
            elif found := self.call(slot, "fact.random"):
                self.change(slot, "add", found["items"][0]["id"])
        elif self.clients[slot]:
            # Disconnects in the middle: after half a line, or before the reply.
            with contextlib.suppress(OSError):
                line = request("post.list", limit=100).encode() + b"\n"
                self.clients[slot].socket.sendall(line[:self.random.choice([30, len(line)])])
            self.disconnect(slot)

    def warm(self, slot):
        """Lets norrisd open all readers of its databases, which otherwise takes weeks, because most of them are needed at
        rare moments only."""
        for _, method, parameters in self.READS * WARM:
            self.call(slot, method, **parameters)

    def run(self, end):
        """Acts until the event; returns what happened and what norrisd has lost."""
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(self.warm, range(CONNECTIONS)))
        while len(self.lasting) < LASTING:
            if found := self.call(SUBSCRIBERS, "fact.random"):
                self.change(SUBSCRIBERS, "add", found["items"][0]["id"])
                self.lasting = set(self.kept)
        for slot in itertools.cycle(range(CONNECTIONS)):
            if end.is_set():
                break
            begin = time.monotonic()
            self.act(slot)
            time.sleep(max(0, PAUSE + begin - time.monotonic()))
        listed = wait_for(lambda: self.call(SUBSCRIBERS, "favorite.list", limit=100), "favorites")["items"]
        kept = {each["id"] for each in listed}
        lost = [f"favorite {id}" for id in (self.kept ^ kept) - self.unsure]
        return self.counts, self.faults, lost, len(kept)


class Users:
    """The processes of all users. They are forked early, because a process that is forked later would keep the port of the
    upstream open."""

    def __init__(self, server):
        self.begin, self.end, self.results = FORK.Event(), FORK.Event(), FORK.Queue()
        self.processes = [FORK.Process(target=self.run, args=(server, uid), daemon=True) for uid in USERS]
        for process in self.processes:
            process.start()

    def run(self, server, uid):
        self.begin.wait(300)
        os.setgid(uid)
        os.setuid(uid)
        try:
            self.results.put(User(server, uid).run(self.end))
        except Exception as error:
            self.results.put((collections.Counter(), [f"{type(error).__name__}: {error}"], [], 0))

    def finish(self):
        self.end.set()
        return [self.results.get(timeout=60) for _ in self.processes]


# Measurements


def burst(server):
    """Returns the latencies of requests in µs, and the CPU time of the loop's thread per request in µs."""
    loop = next(path for path in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir()
                if (path / "comm").read_text().strip() == "norrisd-loop") / "schedstat"
    times = []
    with server.connect() as client:
        client.repeat(FACT_RANDOM, 100)
        before = int(loop.read_text().split()[0])
        for _ in range(BURST):
            sent = time.perf_counter()
            client.ask(FACT_RANDOM)
            times.append((time.perf_counter() - sent) * 1e6)
    return times, (int(loop.read_text().split()[0]) - before) / 1e3 / BURST


def used(path):
    """Returns the bytes of the used pages of a database, as of the last commit."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as database:
        size, pages, free = (database.execute(f"PRAGMA {name}").fetchone()[0]
                             for name in ["page_size", "page_count", "freelist_count"])
    return (pages - free) * size


def fault_of(day):
    """The fault of the first half of a day; none in the days that are compared."""
    return FAULTS[(day // 4) % len(FAULTS)] if day >= 5 and day % 4 == 1 else None


def simulated_day(server, sources, number, end):
    """Waits until the end of a day, and returns its figures by their name, and the requests of each source."""
    pid, home, before = server.process.pid, server.home, sources.counts.copy()
    memory, descriptors, latencies, costs, logs = [], [], [], [], collections.Counter()
    if fault := fault_of(number):
        sources.set(fault)
    bursts = [end - DAY * (part + 0.5) / BURSTS for part in range(BURSTS)]
    while (now := time.monotonic()) < end:
        if sources.fault and now > end - DAY / 2:
            sources.set(None)
        memory.append(resident(pid) / 1e6)
        descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
        for path in [*home.glob("*/*.db-wal")]:
            with contextlib.suppress(OSError):
                logs[path.name] = max(logs[path.name], path.stat().st_size)
        if bursts and now > bursts[-1]:
            bursts.pop()
            # A busy machine may end the connection, which may be idle for 140 ms only.
            with contextlib.suppress(OSError):
                times, cost = burst(server)
                latencies += times
                costs.append(cost)
        time.sleep(min(0.25, max(0, end - time.monotonic())))
    if server.process.poll() is not None or not costs:
        raise Failure(f"day {number}: the daemon has ended, or the machine is too slow")
    figures = {
        "anonymous memory, MB": statistics.mean(memory), "descriptors": statistics.mean(descriptors),
        "least CPU time of fact.random, µs": min(costs),
        **{f"{name}.db, used KiB": used(home / name / f"{name}.db") / 1024 for name in ["state", "cache"]},
        "fact.random, p50 µs": percentile(latencies, 0.5), "fact.random, p99 µs": percentile(latencies),
        "largest log, bytes": max(logs.values(), default=0)}
    requests = {name: sources.counts[name] - before[name] for name in [*GOOD, *OTHERS]}
    print(f"soak: day {number:2}: " + ", ".join(f"{name} {figure:,.1f}" for name, figure in figures.items()) +
          f"; requests: {requests}" + (f"; fault: {fault}" if fault else ""), flush=True)
    return figures, requests


def flat(name, figures, goal=True):
    """Returns a row that compares the last three days with the days 8 to 10, because the allocator and the read marks
    fill their memory in the first week; in a short run with earlier days. Latencies have no goal, because they depend on
    the clients' load."""
    count, begin = (3, 7) if len(figures) >= 14 else (3, 1) if len(figures) >= 7 else (1, 1)
    of = min if "CPU" in name else statistics.mean
    early, late = of(figures[begin:begin + count]), of(figures[-count:])
    return Row(name, quantity(late, ""), quantity(early, ""), late / early,
               f"<= {1 + TOLERANCE:.2f}" if goal else "", late / early <= 1 + TOLERANCE if goal else None)


def store_marks(home, sources, key):
    """Stores as many read marks as norrisd stores for each user, in real time; the cache is removed afterwards."""
    sources.has_archive = True
    with daemon(home, configuration(sources.upstream.url, key)) as server:
        for number in range(1, MARKS // RUN + 1):
            wait_for(lambda: server.items("growing") >= RUN * number, "posts")
            server.call("source.refresh", source="growing")
        ids = [post["id"] for post in server.pages("post.list", source="growing", limit=100)][:MARKS]
        for uid in USERS:
            with effective_user(uid):
                client = server.connect()
            with client:
                for first in range(0, MARKS, 1_000):
                    client.repeat(request("post.mark_read", ids=ids[first:first + 1_000]), 1)
    shutil.rmtree(home / "cache")
    (home / "log").unlink()
    sources.has_archive = False
    sources.counts.clear()


def soak(folder, options):
    """30 simulated days with faults and 50 clients in --minutes: memory, descriptors, files and CPU time stay flat"""
    need_root()
    days, home, sources = max(4, round(options.minutes * 60 / DAY)), folder / "norrisd", Sources()
    key, samples = key_file(folder), []
    users = Users(Daemon(None, home, 0))
    with sources.upstream:
        store_marks(home, sources, key)
        with daemon(home, configuration(sources.upstream.url, key), faked(f"FAKETIME=+0 x{SPEED}")) as server:
            wait_for(lambda: all(server.items(name) for name in GOOD), "the first fetches")
            users.begin.set()
            begin, failure = time.monotonic(), []
            try:
                for number in range(1, days + 1):
                    samples.append(simulated_day(server, sources, number, begin + number * DAY))
            except Failure as error:
                failure.append(str(error))
            reports = users.finish()
    if len(samples) < 4:
        return [faultless("simulated days", len(samples), failure or ["too few"])]
    late = []
    for number, (_, requests) in enumerate(samples, 1):
        for name, count in requests.items():
            least, most = expected(name, 12 if fault_of(number) else 0)
            # The first day begins with the start.
            if not least <= count <= most + (2 if number == 1 else 0):
                late.append(f"day {number}: {count} requests of {name}, expected {least} to {most:.0f}")
    names = [name for name in samples[0][0] if name != "largest log, bytes"]
    log = max(figures["largest log, bytes"] for figures, _ in samples)
    counts = sum((counts for counts, *_ in reports), collections.Counter())
    print("soak: replies:", ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())), flush=True)
    bad = [line[:200] for line in server.log() if line.split(maxsplit=2)[1:2] not in (["warning"], ["notice"], ["info"])]
    return [
        faultless("simulated days without a crash", len(samples), failure),
        *(flat(name, [figures[name] for figures, _ in samples], "fact.random, p" not in name) for name in names),
        Row("largest log of a database", quantity(log / 1024, "KiB"), goal=f"<= {LOG >> 10:,} KiB", met=log <= LOG),
        faultless("requests of each source, each day", sum(sum(each.values()) for _, each in samples), late),
        faultless("favorites kept", sum(kept for *_, kept in reports), [each for *_, lost, _ in reports for each in lost]),
        faultless("replies", f"{counts.total():,}", [fault for _, faults, *_ in reports for fault in faults]),
        faultless("lines of the log", len(server.log()), bad)]

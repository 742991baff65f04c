"""Runs norrisd for a month of simulated time, with sources of which some fail, and clients of several users.

libfaketime multiplies the speed of all clocks and shortens all waits of the daemon. Therefore schedules, upkeep and
expiry run as often as in a month. Time limits are shortened as much: a search may take half a millisecond, and a
connection may be idle for 140 ms. Clients therefore count no "busy" replies and ended connections as faults, and use
only the cache.
"""

import collections
import contextlib
import itertools
import os
import pathlib
import random
import statistics
import time
import urllib.parse
import zlib
from concurrent.futures import ThreadPoolExecutor

from harness import (FACT_RANDOM, FORK, Daemon, Failure, Row, Upstream, content, daemon, fact, faultless, faked, feed,
                     item, key_file, need_root, percentile, quantity, replied, request, resident, rss, wait_for)

SPEED = 2_160  # simulated seconds a second; a day takes 40 s
DAY = 86_400 / SPEED  # seconds
USERS, CONNECTIONS, PAUSE = range(60_001, 60_006), 10, 0.01  # connections of each user; seconds between its requests
SUBSCRIBERS = 2  # of the connections of each user
KEPT = 30  # favorites of each user
LOG = 8 << 20  # bytes of a database's log, which SQLite begins again at 4 MiB unless a reader is busy
NEW, HELD = 20, 40  # new posts and posts of each document of the growing feed
TOLERANCE = 0.05
BURSTS, BURST = 20, 300  # bursts of fact.random a day, and requests of each
WARM = 50  # times that each connection sends all reading requests before the first day
BUSY, NOT_FOUND = -32004, -32001
# The refresh intervals in hours, and the least and the most requests of a day. Intervals vary by ten percent. Retries
# wait for a random time of at most an hour, the first ones for seconds.
SOURCES = {"facts": (6, 2, 6), "gifs": (6, 2, 6), "growing": (1, 16, 31), "slow": (2, 7, 16), "failing": (1, 22, 96),
           "hostile": (2, 6, 160)}
HOSTILE = [
    replied(b"\1\2\3 neither XML nor JSON"), replied("<!DOCTYPE html><html><body>Log in</body></html>", "text/html"),
    replied(zlib.compress(b" " * (32 << 20), 9, 31), Content_Encoding="gzip"), replied(rss([item("half")] * 9)[:400]),
    replied("", status=302, Location="/hostile"), replied("<a>" * 50_000), replied("", status=429, Retry_After="600"),
    replied(rss(item(f"&#27;[2J{number}", "d&#8238;") for number in range(20)))]


class Sources(Upstream):
    """The upstream of all sources. Counts the fetches of each."""

    def __init__(self):
        super().__init__(self.source)
        self.counts, self.hostile = collections.Counter(), itertools.cycle(HOSTILE)

    def source(self, target, _):
        path = urllib.parse.urlsplit(target).path.strip("/")
        name = {"jokes/search": "facts", "v1/gifs/trending": "gifs"}.get(path, path)
        self.counts[name] += 1
        if name == "failing":
            return replied("", status=500)
        if name == "hostile":
            return next(self.hostile)
        if name == "facts":
            # Ten facts of 300 are others at each fetch.
            first = 10 * self.counts[name]
            return replied({"total": 300, "result": [fact(number) for number in range(first, first + 300)]})
        if path.startswith(("v1/", "jokes/")):
            return content(target, range(20))
        if name == "slow":
            time.sleep(0.1)  # more than three simulated minutes
        last = NEW * self.counts[name] if name == "growing" else HELD
        return replied(rss(item(f"{name}-{number}") for number in range(last - HELD, last)))


def configuration(url, key):
    feeds = {name: feed(f"{url}/{name}", refresh=f"{SOURCES[name][0]}h", keep="1d") for name in list(SOURCES)[2:]}
    # The limits are in simulated time: a fetch of 5 ms takes 11 s.
    return {"http": {"timeout": "10m", "host_gap": "0s", "max_body": "4MiB"}, "posts": {"sources": feeds},
            "facts": {"base_url": url, "refresh": "6h", "queries": ["chuck"]},
            "gifs": {"base_url": url, "refresh": "6h", "queries": ["norris"], "api_key_file": key}}


# Clients


class User:
    """The connections of a user in a process. The user reads, searches, and changes favorites and read marks."""

    READS = [(0.40, "fact.random", {}), (0.10, "fact.search", {"query": "norris"}),
             (0.10, "post.list", {"unread": True, "limit": 20}), (0.05, "post.search", {"query": "reads"}),
             (0.05, "gif.search", {"query": "norris", "offline": True}), (0.05, "recent.list", {}),
             (0.03, "server.status", {}), (0.01, "post.mark_read", {"all": True}), (0.02, "favorite.list", {})]

    def __init__(self, server, uid):
        self.server, self.random = server, random.Random(uid)
        self.clients, self.counts, self.faults = [None] * CONNECTIONS, collections.Counter(), []
        self.kept, self.unsure, self.answered = set(), set(), False

    def call(self, slot, method, **parameters):
        """Returns the result, or None for an error or an end of the connection that is none here."""
        self.answered = False
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
        self.answered = True
        if "error" in reply and reply["error"]["code"] not in (BUSY, NOT_FOUND):
            self.faults.append(f"{method}: {reply}")
        return reply.get("result")

    def disconnect(self, slot):
        if self.clients[slot]:
            self.clients[slot].close()
        self.clients[slot] = None
        self.counts["ended connections"] += 1

    def act(self, slot):
        """Does one thing of a user."""
        chance = self.random.random()
        for share, method, parameters in self.READS:
            if (chance := chance - share) < 0:
                return self.call(slot, method, **parameters)
        if chance < 0.03:
            # Marks of the growing feed would fill the state for weeks.
            posts = self.call(slot, "post.list", source="slow", limit=5)
            self.call(slot, "post.mark_read", ids=[post["id"] for post in (posts or {"items": []})["items"]])
        elif chance < 0.15:
            self.change(slot)
        elif self.clients[slot]:
            # Disconnects in the middle: after half a line, or before the reply.
            with contextlib.suppress(OSError):
                line = request("post.list", limit=100).encode() + b"\n"
                self.clients[slot].socket.sendall(line[:self.random.choice([30, len(line)])])
            self.disconnect(slot)

    def change(self, slot):
        """Adds or removes a favorite. Without a reply it is unknown whether norrisd did."""
        removable = sorted(self.kept - self.unsure)
        if removable and (len(self.kept) > KEPT or self.random.random() < 0.4):
            verb, fact = "remove", self.random.choice(removable)
        elif found := self.call(slot, "fact.random"):
            verb, fact = "add", found["items"][0]["id"]
        else:
            return
        self.unsure.add(fact)
        if self.call(slot, f"favorite.{verb}", kind="fact", id=fact) is not None:
            (self.kept.add if verb == "add" else self.kept.discard)(fact)
        if self.answered:
            self.unsure.discard(fact)

    def warm(self, slot):
        """Lets norrisd open all readers of its databases, which otherwise takes weeks, because most of them are needed
        at rare moments only."""
        for _, method, parameters in self.READS * WARM:
            self.call(slot, method, **parameters)

    def run(self, end):
        """Acts until the event; returns what happened and what norrisd has lost."""
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(self.warm, range(CONNECTIONS)))
        for slot in itertools.cycle(range(CONNECTIONS)):
            if end.is_set():
                break
            begin = time.monotonic()
            self.act(slot)
            time.sleep(max(0, PAUSE + begin - time.monotonic()))
        listed = wait_for(lambda: self.call(SUBSCRIBERS, "favorite.list", limit=100), "favorites")["items"]
        kept = {each["id"] for each in listed}
        return self.counts, self.faults, [f"favorite {id}" for id in (self.kept ^ kept) - self.unsure]


def simulate_user(server, uid, begin, end, results):
    """Runs a user between two events, in a process."""
    begin.wait(300)
    os.setgid(uid)
    os.setuid(uid)
    try:
        results.put(User(server, uid).run(end))
    except Exception as error:
        results.put((collections.Counter(), [f"{type(error).__name__}: {error}"], []))


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


def simulated_day(server, sources, number, end):
    """Waits until the end of a day, and returns its figures by their name, and the requests of each source."""
    pid, home, before = server.process.pid, server.home, sources.counts.copy()
    memory, descriptors, latencies, costs, logs = [], [], [], [], [0]
    bursts = [end - DAY * (part + 0.5) / BURSTS for part in range(BURSTS)]
    while (now := time.monotonic()) < end:
        memory.append(resident(pid) / 1e6)
        descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
        # A log is removed at any moment, and a busy machine may end a connection, which may be idle for 140 ms only.
        with contextlib.suppress(OSError):
            logs += [path.stat().st_size for path in home.glob("*/*.db-wal")]
        if bursts and now > bursts[-1]:
            bursts.pop()
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
        **{f"{name}.db, KiB": (home / name / f"{name}.db").stat().st_size / 1024 for name in ["state", "cache"]},
        "fact.random, p50 µs": percentile(latencies, 0.5), "fact.random, p99 µs": percentile(latencies),
        "largest log, KiB": max(logs) / 1024}
    requests = {name: sources.counts[name] - before[name] for name in SOURCES}
    print(f"soak: day {number:2}: " + ", ".join(f"{name} {figure:,.1f}" for name, figure in figures.items()) +
          f"; requests: {requests}", flush=True)
    return figures, requests


def flat(name, figures):
    """Returns a row that compares the last three days with the days 8 to 10, because the allocator fills its memory in
    the first week; in a short run with earlier days. Latencies have no goal, because they depend on the clients'
    load."""
    count, begin = (3, 7) if len(figures) >= 14 else (3, 1) if len(figures) >= 7 else (1, 1)
    of, goal = min if "CPU" in name else statistics.mean, "p50" not in name and "p99" not in name
    early, late = of(figures[begin:begin + count]), of(figures[-count:])
    return Row(name, quantity(late, ""), quantity(early, ""), late / early,
               f"<= {1 + TOLERANCE:.2f}" if goal else "", late / early <= 1 + TOLERANCE if goal else None)


def soak(folder, options):
    """30 simulated days with 50 clients in --minutes: memory, descriptors, files and CPU time stay flat"""
    need_root()
    days, home, sources = max(4, round(options.minutes * 60 / DAY)), folder / "norrisd", Sources()
    begin, end, results, samples, ended = FORK.Event(), FORK.Event(), FORK.Queue(), [], []
    for uid in USERS:
        FORK.Process(target=simulate_user, args=(Daemon(None, home, 0), uid, begin, end, results), daemon=True).start()
    with sources, daemon(home, configuration(sources.url, key_file(folder)), faked(SPEED)) as server:
        wait_for(lambda: all(server.items(name) for name in list(SOURCES)[:4]), "the first fetches")
        begin.set()
        start = time.monotonic()
        try:
            for number in range(1, days + 1):
                samples.append(simulated_day(server, sources, number, start + number * DAY))
        except Failure as error:
            ended.append(str(error))
        end.set()
        reports = [results.get(timeout=60) for _ in USERS]
    if len(samples) < 4:
        return [faultless("simulated days", len(samples), ended)]
    late = [f"day {number}: {count} requests of {name}, expected {SOURCES[name][1:]}"
            for number, (_, requests) in enumerate(samples, 1) for name, count in requests.items()
            # The first day begins with the start.
            if not SOURCES[name][1] <= count <= SOURCES[name][2] + 2 * (number == 1)]
    figures = {name: [sample[name] for sample, _ in samples] for name in samples[0][0]}
    log = max(figures.pop("largest log, KiB"))
    counts = sum((counts for counts, *_ in reports), collections.Counter())
    expected = ["warning"], ["notice"], ["info"]
    bad = [line[:200] for line in server.log() if line.split(maxsplit=2)[1:2] not in expected]
    return [
        faultless("simulated days without a crash", len(samples), ended),
        *(flat(name, each) for name, each in figures.items()),
        Row("largest log of a database", quantity(log, "KiB"), goal=f"<= {LOG >> 10:,} KiB", met=log <= LOG >> 10),
        faultless("requests of each source, each day", sum(sum(each.values()) for _, each in samples), late),
        faultless("favorites added", counts["favorite.add"], [each for *_, lost in reports for each in lost]),
        faultless("replies", f"{counts.total():,}", [fault for _, faults, _ in reports for fault in faults],
                  note=", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))),
        faultless("lines of the log", len(server.log()), bad)]

"""Runs norrisd for a month of simulated time, with sources that fail and clients of several users.

libfaketime multiplies the speed of all clocks and shortens all waits of the daemon. Therefore schedules, upkeep, quota
and expiry run as often as in a month. Time limits are shortened as much: a search may take half a millisecond, and a
connection may be idle for 140 ms. Clients therefore count "busy" replies and ended connections, which are no faults
here, and use only the cache."""

import collections
import contextlib
import dataclasses
import gzip
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import statistics
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import harness
from clocks import faked, logged
from feeds import ITEM, RSS
from harness import FACT_RANDOM, Row, daemon, request, resident, wait_for
from upgrade import gif

SPEED = 2_160  # simulated seconds a second; a day takes 40 s
DAY = 86_400 / SPEED  # seconds
UNDER = faked(f"FAKETIME=+0 x{SPEED}")
USERS, CONNECTIONS, PAUSE = range(60_001, 60_006), 10, 0.01  # connections and seconds between the requests of each user
SUBSCRIBERS = 2  # of the connections of each user
KEPT, LASTING = 30, 5  # favorites of each user; favorites of the first day that are never removed
MARKS = 10_000  # read marks that norrisd stores for a user; new ones then replace the oldest
LOG = 8 << 20  # bytes of a database's log, which SQLite begins again at 4 MiB unless a reader is busy
NEW, HELD = 20, 40  # new posts and posts of each document of the growing feed
TOLERANCE = 0.05
BURSTS, BURST = 20, 300  # bursts of fact.random a day, and requests of each
BUSY, NOT_FOUND = -32004, -32001
READS = [("post.list", {"limit": 100}), ("post.search", {"query": "reads"}),
         ("gif.search", {"query": "norris", "offline": True}), ("fact.search", {"query": "rested", "offline": True})]
WARM = 50  # times that each connection sends these requests before the first day
CACHE = ["cache.db"]
FAULTS = ["garbage", "down", "rate limit"]
GOOD = {"facts": 6, "gifs": 6, "growing": 1, "slow": 2}  # refresh intervals in hours


# Upstreams


class Upstream:
    """The upstreams of all sources. Counts the requests of each source; the facts, GIFs and feeds fail on demand."""

    def __init__(self):
        self.counts, self.fault, self.has_archive = collections.Counter(), None, False
        self.stack, self.port = contextlib.ExitStack(), 0
        self.hostile = itertools.cycle([
            (200, {}, b"\1\2\3 neither XML nor JSON"),
            (200, {"Content-Type": "text/html"}, b"<!DOCTYPE html><html><body>Log in</body></html>"),
            (200, {"Content-Encoding": "gzip"}, gzip.compress(b" " * (32 << 20))),
            (200, {}, RSS.format(ITEM.format("half", "d") * 9)[:400].encode()),
            (302, {"Location": "/hostile"}, b""),
            (200, {}, RSS.format("".join(ITEM.format(f"&#27;[2J{each}", "d&#8238;") for each in range(20))).encode()),
            (429, {"Retry-After": "600"}, b""),
            (200, {}, ("<a>" * 50_000).encode()),
        ])

    def start(self):
        def listens():
            # Another process may have a connection from this port for a moment.
            with contextlib.suppress(OSError):
                self.port = self.stack.enter_context(harness.upstream(self.answer, self.port))
                return True

        wait_for(listens, "the port of the upstream", timeout=60)

    def set(self, fault):
        """Begins a fault, or ends it with None."""
        if self.fault == "down":
            self.start()
        if fault == "down":
            self.stack.close()
        self.fault = fault

    def answer(self, target, _):
        url = urllib.parse.urlsplit(target)
        name = {"/jokes/search": "facts", "/v1/gifs/trending": "gifs"}.get(url.path, url.path.strip("/"))
        self.counts[name] += 1
        if name == "failing":
            return 500, {}, b""
        if name == "hostile":
            return next(self.hostile)
        if self.fault == "rate limit":
            return 429, {"Retry-After": "3600"}, b""
        if self.fault == "garbage":
            return 200, {}, b"\1\2 garbage" * 99
        if name.startswith("v1/gifs") or name == "gifs":
            query = urllib.parse.parse_qs(url.query).get("q", ["trending"])[0]
            gifs = [gif(query, number) for number in range(20)]
            return 200, {"Content-Type": "application/json"}, json.dumps(
                {"data": gifs, "pagination": {"total_count": 20, "count": 20, "offset": 0},
                 "meta": {"status": 200, "response_id": "a"}}).encode()
        if name == "facts":
            # Ten facts of 300 are others at each fetch.
            first = 10 * self.counts[name]
            facts = [{"id": f"soak-{number}", "value": f"Chuck Norris has rested {number} times.", "categories": []}
                     for number in range(first, first + 300)]
            return 200, {"Content-Type": "application/json"}, json.dumps({"total": 300, "result": facts}).encode()
        if name == "jokes/categories":
            return 200, {"Content-Type": "application/json"}, b"[]"
        if name == "slow":
            time.sleep(0.1)  # more than three simulated minutes
        last = NEW * self.counts[name] if name == "growing" else HELD
        numbers = range(-MARKS, 0) if self.has_archive else range(last - HELD, last)
        items = "".join(ITEM.format(f"{name}-{number}", "Chuck Norris reads it. " * 10) for number in numbers)
        return 200, {"Content-Type": "application/rss+xml"}, RSS.format(items).encode()


def configuration(port, key):
    url = f"http://127.0.0.1:{port}"
    intervals = GOOD | {"failing": 1, "hostile": 2}
    feeds = ", ".join(f"{name}: {{kind: feed, url: '{url}/{name}', refresh: {intervals[name]}h, keep: 1d}}"
                      for name in ["growing", "slow", "failing", "hostile"])
    # The limits are in simulated time: a fetch of 5 ms takes 11 s.
    return (f"http: {{timeout: 10m, max_body: 4MiB}}\n"
            f"facts: {{base_url: '{url}', refresh: {GOOD['facts']}h, queries: [chuck]}}\n"
            f"gifs: {{base_url: '{url}', refresh: {GOOD['gifs']}h, queries: [norris], api_key_file: '{key}'}}\n"
            f"posts: {{sources: {{{feeds}}}}}\n")


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


class Lost(Exception):
    """The connection ended without a reply."""


class User:
    """The connections of a user in a process. The user reads, searches, and changes favorites and read marks."""

    def __init__(self, path, uid):
        self.path, self.uid, self.random = path, uid, random.Random(uid)
        self.connections, self.counts, self.faults = [None] * CONNECTIONS, collections.Counter(), []
        self.kept, self.unsure, self.lasting = set(), set(), set()

    def connect(self, slot):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(10)
        connection.connect(str(self.path))
        self.connections[slot] = connection, connection.makefile("rb")
        if slot < SUBSCRIBERS:
            self.call(slot, "event.subscribe")

    def disconnect(self, slot):
        connection, lines = self.connections[slot]
        self.connections[slot] = None
        lines.close()
        connection.close()

    def call(self, slot, method, **parameters):
        """Returns the result, or None for an error that is none here."""
        connection, lines = self.connections[slot]
        try:
            connection.sendall(request(method, **parameters).encode() + b"\n")
            while True:
                line = lines.readline()
                if not line.endswith(b"\n"):
                    raise Lost
                reply = json.loads(line)
                if reply.get("method") != "event":
                    break
                self.counts["events"] += 1
        except (OSError, Lost):
            self.disconnect(slot)
            self.counts["ended connections"] += 1
            raise Lost from None
        self.counts[method] += 1
        if "result" in reply:
            return reply["result"]
        if reply["error"]["code"] not in (BUSY, NOT_FOUND):
            self.faults.append(f"{method}: {reply}")
        self.counts[f"{method} {reply['error']['code']}"] += 1
        return None

    def change(self, slot, verb, fact):
        """Adds or removes a favorite. Without a reply it is unknown whether norrisd did."""
        self.unsure.add(fact)
        done = self.call(slot, f"favorite.{verb}", kind="fact", id=fact)
        self.unsure.discard(fact)
        if done is None:
            self.faults += [f"favorite.remove {fact}: refused"] if verb == "remove" else []
        elif verb == "add":
            self.kept.add(fact)
        else:
            self.kept.discard(fact)

    def act(self, slot):
        chance = self.random.random()
        if chance < 0.40:
            self.call(slot, "fact.random")
        elif chance < 0.50:
            self.call(slot, "fact.search", query=self.random.choice(["norris", "rested", "cat"]))
        elif chance < 0.60:
            self.call(slot, "post.list", unread=True, limit=20)
        elif chance < 0.65:
            self.call(slot, "post.search", query="reads")
        elif chance < 0.70:
            self.call(slot, "gif.search", query="norris", offline=True)
        elif chance < 0.75:
            self.call(slot, "recent.list")
        elif chance < 0.78:
            self.call(slot, "server.status")
        elif chance < 0.81:
            posts = self.call(slot, "post.list", unread=True, limit=5)
            if posts and posts["items"]:
                self.call(slot, "post.mark_read", ids=[post["id"] for post in posts["items"]])
        elif chance < 0.82:
            self.call(slot, "post.mark_read", all=True)
        elif chance < 0.94:
            removable = sorted(self.kept - self.lasting)
            if len(self.kept) > KEPT or (removable and self.random.random() < 0.4):
                self.change(slot, "remove", self.random.choice(removable))
            elif fact := self.call(slot, "fact.random"):
                if (fact := fact["items"][0]["id"]) not in self.unsure:
                    self.change(slot, "add", fact)
        elif chance < 0.96:
            self.call(slot, "favorite.list")
        else:
            self.leave(slot)

    def leave(self, slot):
        """Disconnects in the middle: after half a line, or before the reply."""
        line = request("post.list", limit=100).encode() + b"\n"
        with contextlib.suppress(OSError):
            self.connections[slot][0].sendall(line if self.random.random() < 0.5 else line[:30])
        self.disconnect(slot)
        self.counts["disconnects"] += 1

    def warm(self):
        """Lets norrisd open all readers of its databases, and fill their caches, which otherwise takes weeks, because
        most readers are needed at rare moments only."""
        def read(slot):
            for method, parameters in READS * WARM:
                with contextlib.suppress(Lost):
                    if not self.connections[slot]:
                        self.connect(slot)
                    self.call(slot, method, **parameters)

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(read, range(CONNECTIONS)))

    def begin(self):
        """Keeps the lasting favorites."""
        self.connect(CONNECTIONS - 1)
        while len(self.lasting) < LASTING:
            fact = self.call(CONNECTIONS - 1, "fact.random")["items"][0]["id"]
            self.change(CONNECTIONS - 1, "add", fact)
            self.lasting = set(self.kept)

    def run(self, end):
        self.begin()
        self.warm()
        for slot in itertools.cycle(range(CONNECTIONS)):
            if end.is_set():
                break
            begin = time.monotonic()
            with contextlib.suppress(Lost):
                if not self.connections[slot]:
                    self.connect(slot)
                self.act(slot)
            time.sleep(max(0, PAUSE + begin - time.monotonic()))
        self.connect(0)
        kept, page = set(), {"next": None}
        while "next" in page:
            page = self.call(0, "favorite.list", limit=100, **({"cursor": page["next"]} if page["next"] else {}))
            kept |= {item["id"] for item in page["items"]}
        return {"lost": sorted(self.kept - kept - self.unsure), "surplus": sorted(kept - self.kept - self.unsure),
                "kept": len(kept), "counts": self.counts, "faults": self.faults}


def user(path, uid, begin, end, results):
    """The process of a user."""
    begin.wait(300)
    if os.getuid() == 0:
        os.setgid(uid)
        os.setuid(uid)
    try:
        results.put((uid, User(path, uid).run(end)))
    except Exception as error:
        results.put((uid, {"lost": [], "surplus": [], "kept": 0, "counts": collections.Counter(),
                           "faults": [f"{type(error).__name__}: {error}"]}))


@contextlib.contextmanager
def users(path):
    """Forks the clients. Yields a function that begins their requests, and a function that ends the clients and returns
    their reports. A process that is forked later would keep the port of the upstream open."""
    context = multiprocessing.get_context("fork")
    begin, end, results = context.Event(), context.Event(), context.Queue()
    processes = [context.Process(target=user, args=(path, uid, begin, end, results), daemon=True) for uid in USERS]

    def finish():
        begin.set()
        end.set()
        reports = dict(results.get(timeout=60) for _ in processes)
        for process in processes:
            process.join(20)
        return [reports[uid] for uid in USERS]

    try:
        for process in processes:
            process.start()
        yield begin.set, finish
    finally:
        for process in processes:
            process.kill()
            process.join()


# Measurements


@dataclasses.dataclass
class Sample:
    """The figures of one simulated day: means of memory in bytes and descriptors, sizes in bytes, times in µs, and the
    least CPU time of a burst in µs."""
    memory: float
    descriptors: float
    sizes: dict
    used: dict
    logs: int
    p50: float
    p99: float
    cpu: float
    requests: dict
    hours_of_fault: float


def burst(server):
    """Returns the figures of a burst. A busy machine may end its connection, which may be idle for 140 ms only."""
    for left in reversed(range(5)):
        try:
            return timed(server)
        except OSError:
            if not left or server.process.poll() is not None:
                raise


def timed(server):
    """Returns the latencies of requests in µs, and the CPU time of the loop's thread per request in µs."""
    loop = loop_thread(server.process.pid)
    times = []
    with server.connect() as connection:
        replies = connection.makefile("rb")
        for number in range(BURST + 100):
            if number == 100:
                before = int(loop.read_text().split()[0])
            sent = time.perf_counter()
            connection.sendall(FACT_RANDOM.encode() + b"\n")
            if b'"result"' not in replies.readline():
                raise ConnectionError("the connection ended")
            if number >= 100:
                times.append((time.perf_counter() - sent) * 1e6)
    return times, (int(loop.read_text().split()[0]) - before) / 1e3 / BURST


def loop_thread(pid):
    """Returns the file with the CPU time of the thread that serves requests."""
    for path in pathlib.Path(f"/proc/{pid}/task").iterdir():
        if (path / "comm").read_text().strip() == "norrisd-loop":
            return path / "schedstat"
    raise harness.Failure("norrisd has no thread norrisd-loop")


def files(home):
    """Returns the sizes of the databases and their logs."""
    sizes = {}
    for folder in ["state", "cache"]:
        for path in sorted((home / folder).glob("*.db*")):
            if not path.name.endswith("-shm"):
                # A log is removed at any moment.
                with contextlib.suppress(OSError):
                    sizes[path.name] = path.stat().st_size
    return sizes


def used(home):
    """Returns the bytes of the used pages of each database, as of the last commit."""
    figures = {}
    for path in [home / "state" / "state.db", *(home / "cache" / name for name in CACHE)]:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as database:
            size, pages, free = (database.execute(f"PRAGMA {name}").fetchone()[0]
                                 for name in ["page_size", "page_count", "freelist_count"])
            figures[path.name] = (pages - free) * size
    return figures


class Month:
    """The simulated days: begins and ends faults, and takes samples."""

    def __init__(self, folder, server, upstream):
        self.folder, self.server, self.upstream = folder, server, upstream
        self.begin = time.monotonic()

    def fault_of(self, day):
        """The fault of the first half of a day; none in the days that are compared."""
        return FAULTS[(day // 4) % len(FAULTS)] if day >= 5 and day % 4 == 1 else None

    def day(self, number):
        """Waits for the end of a day, and returns its sample."""
        pid, before = self.server.process.pid, self.upstream.counts.copy()
        memory, descriptors, latencies, costs, sizes = [], [], [], [], collections.Counter()
        fault, end = self.fault_of(number), self.begin + number * DAY
        if fault:
            self.upstream.set(fault)
        bursts = iter([end - DAY + DAY * (part + 0.5) / BURSTS for part in range(BURSTS)])
        following = next(bursts)
        while (now := time.monotonic()) < end:
            if self.upstream.fault and now > end - DAY / 2:
                self.upstream.set(None)
            memory.append(resident(pid))
            descriptors.append(len(os.listdir(f"/proc/{pid}/fd")))
            for name, size in files(self.folder / "norrisd").items():
                sizes[name] = max(sizes[name], size)
            if following and now > following:
                times, cost = burst(self.server)
                latencies += times
                costs.append(cost)
                following = next(bursts, None)
            time.sleep(min(0.25, max(0, end - time.monotonic())))
        latencies.sort()
        if self.server.process.poll() is not None:
            raise ConnectionError("the daemon has ended")
        if not latencies:
            raise harness.Failure("the machine is too slow")
        return Sample(
            statistics.mean(memory), statistics.mean(descriptors), dict(sizes), used(self.folder / "norrisd"),
            sum(size for name, size in sizes.items() if name.endswith("-wal")), statistics.median(latencies),
            latencies[len(latencies) * 99 // 100], min(costs),
            {name: self.upstream.counts[name] - before[name] for name in [*GOOD, "failing", "hostile"]},
            12 if fault else 0)


def show(number, sample, fault):
    used = ", ".join(f"{name} {size / 1024:,.0f}" for name, size in sample.used.items())
    requests = ", ".join(f"{name} {count}" for name, count in sample.requests.items())
    print(f"soak: day {number:2}: memory {sample.memory / 1e6:.2f} MB, descriptors {sample.descriptors:.1f}, "
          f"KiB used: {used}, all files {sum(sample.sizes.values()) / 1024:,.0f}, logs {sample.logs / 1024:,.0f}, "
          f"fact.random p50 {sample.p50:.0f} µs p99 {sample.p99:.0f} µs, "
          f"CPU {sample.cpu:.1f} µs; requests: {requests}"
          f"{f'; fault: {fault}' if fault else ''}", flush=True)


def flat(name, figures, unit, scale, of=statistics.mean, note=""):
    """Returns a row that compares the mean, or the least value, of the last three days with that of the days 8 to 10,
    because the allocator and the read marks fill their memory in the first week; in a short run with earlier days."""
    count, begin = (3, 7) if len(figures) >= 14 else (3, 1) if len(figures) >= 7 else (1, 1)
    early, late = (of(part) for part in [figures[begin:begin + count], figures[-count:]])
    change = late / early - 1
    return Row(name, harness.quantity(late / scale, unit), harness.quantity(early / scale, unit), late / early,
               f"<= {1 + TOLERANCE:.2f}", change <= TOLERANCE, note)


def judged(samples):
    """Returns the rows about memory, descriptors, files and times of the samples."""
    days = f"peer: the mean of three early days; figure: the mean of the last days of {len(samples)}"
    rows = [flat("anonymous memory", [sample.memory for sample in samples], "MB", 1e6, note=days),
            flat("descriptors", [sample.descriptors for sample in samples], "", 1),
            flat("least CPU time of fact.random", [sample.cpu for sample in samples], "µs", 1, min,
                 note="the CPU time of the serving thread, because the latency depends on the clients' load")]
    for name in samples[0].used:
        rows.append(flat(f"{name}, used pages", [sample.used[name] for sample in samples], "KiB", 1024))
    for name in sorted(set().union(*(sample.sizes for sample in samples))):
        if name.endswith("-wal"):
            largest = max(sample.sizes.get(name, 0) for sample in samples)
            rows.append(Row(f"{name}, largest", harness.quantity(largest / 1024, "KiB"),
                            goal=f"<= {LOG >> 10:,} KiB", met=largest <= LOG))
    # Without a goal, because the latency depends on other programs of the machine.
    for name in ["p50", "p99"]:
        row = flat(f"fact.random, {name}", [getattr(sample, name) for sample in samples], "µs", 1)
        rows.append(dataclasses.replace(row, goal="", met=None))
    return rows


def missed(samples):
    """Returns the days on which a source was fetched too seldom or too often."""
    faults = []
    for number, sample in enumerate(samples, 1):
        # The day after a fault begins with sources that wait for a retry, and the first day with the start.
        for name, count in sample.requests.items():
            least, most = expected(name, sample.hours_of_fault)
            if not least <= count <= most + (2 if number == 1 else 0):
                faults.append(f"day {number}: {count} requests of {name}, expected {least} to {most:.0f}")
    return faults


def soak(folder, options):
    "30 simulated days with faults and 50 clients in --minutes: memory, descriptors, files and CPU time stay flat"
    days = max(4, round(options.minutes * 60 / DAY))
    folder.chmod(0o711)  # Other users connect.
    home, upstream = folder / "norrisd", Upstream()
    home.mkdir()
    key = home / "key"
    key.write_text("0123456789")
    key.chmod(0o600)
    with users(home / "sock") as (begin, finish), upstream.stack, contextlib.ExitStack() as stack:
        upstream.start()
        text = configuration(upstream.port, key)
        store_marks(home, text, upstream)
        server = stack.enter_context(daemon(home, text, under=logged(folder / "log", UNDER)))
        server.path.chmod(0o666)
        wait_for(lambda: all(source["items"] for source in server.call("server.status")["sources"]
                             if source["name"] in GOOD), "the first fetches")
        begin()
        month = Month(folder, server, upstream)
        samples = []
        try:
            for number in range(1, days + 1):
                samples.append(month.day(number))
                show(number, samples[-1], month.fault_of(number))
        except (OSError, harness.Failure):
            # A daemon that crashes ends the month early.
            if server.process.poll() is None:
                raise
        reports = finish()
        crash = server.process.poll()
        state = f"ended with {crash}" if crash is not None else server.call("server.status")["state"]
    ended = Row("simulated days without a crash", str(len(samples)), goal=str(days),
                met=len(samples) == days and server.process.returncode == 0, note=f"the daemon's state: {state}")
    if len(samples) < 4:
        return [ended]
    return [ended, *judged(samples), *checks(folder / "log", samples, reports)]


def store_marks(home, text, upstream):
    """Stores as many read marks as norrisd stores for each user, in real time; the cache is removed afterwards."""
    upstream.has_archive = True
    with daemon(home, text) as server:
        server.path.chmod(0o666)
        wait_for(lambda: any(source["items"] == MARKS for source in server.call("server.status")["sources"]), "posts")
        ids = [f"growing:growing-{number}" for number in range(-MARKS, 0)]
        for uid in USERS if os.geteuid() == 0 else [os.geteuid()]:
            with harness.effective_user(uid):
                connection = server.connect()
            with connection:
                for first in range(0, MARKS, 1_000):
                    harness.exchange(connection, request("post.mark_read", ids=ids[first:first + 1_000]), 1)
    shutil.rmtree(home / "cache")
    upstream.has_archive = False
    upstream.counts.clear()


def checks(log, samples, reports):
    """Returns the rows about requests, favorites, replies and the log."""
    def faultless(name, figure, faults):
        for fault in faults:
            print(f"soak: FAULT: {name}: {fault}", flush=True)
        return Row(name, str(figure), goal="no fault", met=not faults, note="; ".join(faults[:5]))

    counts = sum((report["counts"] for report in reports), collections.Counter())
    print("soak: replies:", ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())), flush=True)
    lines = [line.split(maxsplit=2) for line in log.read_text().splitlines()]
    bad = [" ".join(line)[:200] for line in lines if line[1:2] not in (["warning"], ["notice"], ["info"])]
    names = collections.Counter(line[2].split()[0] for line in lines if len(line) > 2)
    print("soak: log:", ", ".join(f"{name} {count}" for name, count in sorted(names.items())), flush=True)
    kept = sum(report["kept"] for report in reports)
    lost = [f"{kind} {', '.join(report[kind])}" for report in reports for kind in ["lost", "surplus"] if report[kind]]
    return [faultless("requests of each source, each day", sum(sum(s.requests.values()) for s in samples),
                      missed(samples)),
            faultless("favorites kept", kept, lost),
            faultless("replies", counts.total(), [fault for report in reports for fault in report["faults"]]),
            faultless("lines of the log", len(lines), bad)]

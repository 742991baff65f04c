"""Disks that fail, and damaged files.

A daemon has used facts, GIFs and posts of an upstream on loopback, and a user keeps, removes, reads, searches and
clears. norrisd must not crash, must not acknowledge what it cannot store, and must serve within a second of its start.
"""

import contextlib
import itertools
import mmap
import os
import random
import re
import shutil
import sqlite3
import struct
import subprocess
import time

from harness import (FORK, Failure, Upstream, compiled, content, daemon, faultless, feed, key_file, need_root, wait_for)

FACTS, PROCESSES, CHUNK = 8, 2, 16
SERVED_GOAL, SETTLED = 1_000, 5  # ms until a fact, s until all sources have ended a run
# Exit statuses of sysexits.h with which a start without a disk may end: software, OS, file, I/O, temporary.
GIVEN_UP = {70, 71, 73, 74, 75, 78}
FAVORITES, PAGE, WRONG_BYTES = 60, 4096, 200
# Facts of 3 MB, and the pages that a disk has left for other writes.
MANY_FACTS, SMALL_WRITES = 8_000, 150
DATABASES = ["cache/cache.db", "state/state.db"]
# Correct answers without content: nothing found, nothing cached, a cursor of another list.
REFUSALS = {-32001, -32002, -32602}
# Every control character except for line breaks and tabs, and the controls of bidirectional text.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
READS = [("fact.random", {"count": 50, "source": "all"}), ("fact.search", {"query": "chuck", "limit": 100}),
         ("fact.categories", {}), ("fact.today", {}), ("favorite.list", {"limit": 100}), ("recent.list", {}),
         ("recent.served", {"kind": "fact"}), ("post.list", {"limit": 100}), ("post.list", {"unread": True}),
         ("post.search", {"query": "chuck"}), ("author.list", {}), ("post.sources", {}), ("gif.trending", {}),
         ("gif.search", {"query": "kick", "offline": True}), ("server.status", {}),
         # Writes also read the files.
         ("post.mark_read", {"all": True}), ("favorite.remove", {"kind": "fact", "id": "none"})]


def configuration(folder, url):
    return {"facts": {"base_url": url}, "posts": {"sources": {"planet": feed(url + "/planet")}},
            "gifs": {"base_url": url, "api_key_file": key_file(folder), "queries": ["kick"]}}


def small_upstream():
    return Upstream(lambda target, _: content(target, range(FACTS)))


def settled(server):
    """Waits until every source has ended a run, with or without success."""
    def ended():
        sources = server.reply("server.status").get("result", {}).get("sources", [])
        return sources and all("fetched_at" in each["freshness"] or each["freshness"]["error"] for each in sources)

    with contextlib.suppress(Failure):
        wait_for(ended, "the runs", timeout=SETTLED)


def faults_of(home):
    """Returns the faults that SQLite finds in copies of the databases and their logs."""
    faults, copy = [], home.parent / f"{home.name}-checked"
    for name in ["state", "cache"]:
        shutil.rmtree(copy, ignore_errors=True)
        # SQLite recreates the index of the log.
        shutil.copytree(home / name, copy, ignore=shutil.ignore_patterns("*-shm", "lock"))
        with contextlib.closing(sqlite3.connect(copy / f"{name}.db")) as database:
            try:
                faults += [f"{name}.db: {row}" for row in database.execute("PRAGMA integrity_check") if row != ("ok",)]
                faults += [f"{name}.db: {row}" for row in database.execute("PRAGMA foreign_key_check")]
            except sqlite3.DatabaseError as error:
                faults.append(f"{name}.db: {error}")
    shutil.rmtree(copy)
    return faults + [f"given up: {path.name}" for path in home.rglob("*.damaged*")]


# The n-th call fails


class User:
    """Keeps favorites and marks posts as read; knows what must be stored."""

    def __init__(self):
        self.kept, self.read, self.unsure, self.refused = set(), set(), set(), 0

    def write(self, server, method, stored, key, **parameters):
        """Calls a method that adds `key` to a set or removes it; a refusal changes nothing that is known."""
        reply = server.reply(method, **parameters)
        if "result" in reply:
            stored.symmetric_difference_update({key})
        else:
            # A failed sync after the write: the next start may find the write or not.
            self.unsure.add(key)
            self.refused += 1

    def work(self, server):
        def ids(method, **parameters):
            return [item["id"] for item in server.reply(method, **parameters).get("result", {}).get("items", [])]

        facts = ids("fact.random", count=4)
        for fact in facts:
            self.write(server, "favorite.add", self.kept, ("fact", fact), kind="fact", id=fact)
        server.reply("fact.search", query="chuck")
        server.reply("fact.today")
        settled(server)
        posts = ids("post.list")
        for post in posts[:2]:
            self.write(server, "post.mark_read", self.read, post, ids=[post])
        for kind, items in [("post", posts[:1]), ("gif", ids("gif.search", query="kick", offline=True)[:1])]:
            for item in items:
                self.write(server, "favorite.add", self.kept, (kind, item), kind=kind, id=item)
        if facts and ("fact", facts[0]) in self.kept:
            self.write(server, "favorite.remove", self.kept, ("fact", facts[0]), kind="fact", id=facts[0])
        server.reply("cache.clear")
        server.reply("source.refresh")
        settled(server)

    def lost(self, server):
        """Returns what differs in a daemon without failures."""
        kept = {(item["kind"], item["id"]) for item in server.pages("favorite.list", limit=100)}
        posts = list(server.pages("post.list", limit=100))
        read, known = ({post["id"] for post in posts if post["read"] or every} for every in [False, True])
        return sorted(map(str, ((self.kept ^ kept) | (self.read & known ^ read)) - self.unsure))


class Calls:
    """The counted calls of a running daemon (failing.c), of which one or all later ones may fail."""

    def __init__(self, path, failing=0):
        path.write_bytes(struct.pack("qq", 0, failing))
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 16)

    @property
    def count(self):
        return struct.unpack_from("q", self.memory)[0]

    def fail(self, number):
        """Lets the n-th call from now on fail; 0 for none."""
        struct.pack_into("q", self.memory, 8, self.count + number if number else 0)

    def under(self, library, kind, folder):
        return ["env", f"LD_PRELOAD={library}", f"FAILING_REPORT={self.file.name}", f"FAILING_FOLDER={folder}",
                f"FAILING_KIND={kind}"]


def run(case):
    """Runs the daemon with one failure, and then without any on the same files. Returns the number of the failing call,
    whether the daemon reached it and started, the refused writes, and what went wrong."""
    folder, library, kind, number, setting = case
    folder.mkdir()
    home, user, problems, processes, started = folder / "home", User(), [], [], False
    calls = Calls(folder / "report", number)
    try:
        with daemon(home, setting, under=calls.under(library, kind, home), started=processes.append) as server:
            server.timeout, started = 10, True
            user.work(server)
    except Failure:
        pass
    except (OSError, ValueError) as error:
        problems.append(f"{type(error).__name__}: {error}")
    status, text = processes[0].poll(), (home / "log").read_text(errors="replace")
    if status is None or status < 0 or "Fatal error" in text or "crashed" in text:
        problems.append(f"ended with {status}")
    elif status != 0 if started else (status not in GIVEN_UP or not text.strip()):
        problems.append(f"status {status}, {len(text)} bytes of log, {'started' if started else 'did not start'}")
    try:
        with daemon(home, setting) as server:
            problems += [f"READY after {server.start:.0f} ms"] if server.start > SERVED_GOAL else []
            problems += [f"lost: {lost}" for lost in user.lost(server)[:3]]
            after = server.call("server.status")
            problems += [f"afterwards: {after['message']}"] if after["database"]["read_only"] else []
    except (Failure, OSError, ValueError, KeyError) as error:
        problems.append(f"afterwards {type(error).__name__}: {error}")
    problems += faults_of(home)
    problems += text.splitlines()[-6:] if problems else []
    shutil.rmtree(folder)
    return number, calls.count >= number, started, user.refused, problems


def points(folder, name, every, kind):
    """Runs one failure after the other until a whole run passes without it."""
    library = compiled(folder, "failing", "-shared", "-fPIC")
    faults, tried, unstarted, refused, first = [], 0, 0, 0, 1
    with small_upstream() as upstream, FORK.Pool(PROCESSES) as pool:
        setting = configuration(folder, upstream.url)
        while True:
            numbers = range(first, first + CHUNK * every, every)
            cases = [(folder / f"run{number}", library, kind, number, setting) for number in numbers]
            reached = [result for result in pool.map(run, cases, chunksize=1) if result[1]]
            tried += len(reached)
            unstarted += sum(not started for _, _, started, _, _ in reached)
            refused += sum(refusals for *_, refusals, _ in reached)
            faults += [f"{number}: {'; '.join(problems)}" for number, *_, problems in reached if problems]
            if not reached:
                break
            first = numbers[-1] + every
    print(f"{name}: {tried} points, {len(faults)} with a defect", flush=True)
    row = faultless(name, f"{tried - len(faults)} of {tried}", faults, "all survived",
                    f"{unstarted} starts given up with a message, {refused} writes refused")
    row.met = row.met and tried > 0
    return row


def disk(folder, options):
    """the n-th write or sync fails with EIO, ENOSPC or after half of its bytes, for every n"""
    return [points(folder, title, options.every, kind)
            for title, kind in [("n-th write or sync: EIO", "eio"), ("n-th write: short, then ENOSPC", "short"),
                                ("from the n-th write on: ENOSPC", "full")]]


# Starts


@contextlib.contextmanager
def mounted(folder, kibibytes):
    """A file system of a size at the folder."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "norris", folder], check=True, timeout=20)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, timeout=20)


def fill(home, setting):
    """Creates the files of a used daemon; returns the favorites."""
    with daemon(home, setting) as server:
        settled(server)
        kept = set()
        while len(kept) < FAVORITES:
            for fact in server.call("fact.random", count=20)["items"]:
                server.call("favorite.add", kind="fact", id=fact["id"])
                kept.add(fact["id"])
        asked(server)
    return kept


def copied(home, target):
    """Copies the files of a daemon; returns the copy."""
    shutil.copytree(home, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("sock", "notify", "log"))
    return target


def strings(value):
    """Yields all texts in a reply."""
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def asked(server):
    """Calls all methods that read; returns unexpected errors and texts with control characters."""
    faults = []
    with server.connect() as client:
        for method, parameters in READS:
            reply = client.reply(method, **parameters)
            if reply.get("error", {}).get("code", -32001) not in REFUSALS:
                faults.append(f"{method}: {reply['error']}")
            faults += [f"{method}: {text[:100]!r}" for text in strings(reply) if CONTROLS.search(text)]
    return faults


class Start:
    """One start on files: what it serves and says, and what is wrong with it."""

    def __init__(self, home, setting, kept=None, then=lambda server: [], under=()):
        self.faults, self.served, self.message = [], 0, ""
        try:
            begin = time.perf_counter()
            with daemon(home, setting, under=under) as server:
                server.timeout = 10
                fact = server.call("fact.random")["items"][0]["id"]
                self.served = (time.perf_counter() - begin) * 1000
                status = server.call("server.status")
                self.state, self.message = status["state"], status["message"]
                favorites = {item["id"] for item in server.pages("favorite.list", limit=100)}
                self.added = "result" in server.reply("favorite.add", kind="fact", id=fact)
                self.faults += then(server)
            self.expect(server.process.returncode == 0, f"status {server.process.returncode} at its end")
            self.expect(kept is None or favorites == kept, "favorites are missing")
        except (Failure, OSError, ValueError, KeyError, IndexError) as error:
            self.faults.append(f"{type(error).__name__}: {error}")
        self.expect(self.served <= SERVED_GOAL, f"served after {self.served:.0f} ms")

    def expect(self, condition, fault):
        self.faults += [] if condition else [fault]

    def row(self, name):
        return faultless(name, f"{self.served:.0f} ms", self.faults, f"<= {SERVED_GOAL} ms", self.message)


def filled(target, free):
    """Fills the disk of a folder except for so many pages; returns the file that takes the space."""
    path = target / "ballast"
    with open(path, "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(PAGE))
    os.truncate(path, max(0, os.path.getsize(path) - free * PAGE))
    return path


def full_disk(folder, home, setting, kept):
    """The disk has room for the socket and the configuration alone."""
    with mounted(folder / "full", 16_384):
        target = copied(home, folder / "full")
        filled(target, 3)
        return Start(target, setting, kept).row("a full disk")


def damage_on_full_disk(folder, home, setting, kept):
    """The disk has no room for the copy of a damaged state: nothing is acknowledged until the space returns, and then
    all favorites are there."""
    with mounted(folder / "damaged-full", 16_384):
        target = copied(home, folder / "damaged-full")
        state = target / "state/state.db"
        state.write_bytes(os.urandom(state.stat().st_size))
        copy, ballast = (target / "state/state.db.bak").read_bytes(), filled(target, 3)

        def then(server):
            told = server.call("server.status")["state"]
            faults = [] if told == "degraded" else [f"the state was {told}"]
            ballast.unlink()
            wait_for(lambda: {item["id"] for item in server.pages("favorite.list", limit=100)} == kept,
                     "the favorites", timeout=10)
            message = server.call("server.status")["message"]
            return faults + ([] if "the copy of" in message else [f"the status does not name the copy: {message}"])

        start = Start(target, setting, then=then)
        start.expect(not start.added, "a favorite was acknowledged")
        return start.row("a damaged state on a full disk")


def small_writes_only(folder, home, setting, kept):
    """The disk has room for favorites, but not for the facts of an upstream, which is not asked again before the space
    returns, and then at once."""
    with mounted(folder / "small", 32_768), Upstream(lambda target, _: content(target, range(MANY_FACTS))) as upstream:
        target = folder / "small"
        with daemon(target, configuration(target, "http://127.0.0.1:9")):
            pass
        ballast = filled(target, SMALL_WRITES)
        setting = {**setting, "facts": {"base_url": upstream.url}}

        def source(server):
            return next(each for each in server.call("server.status")["sources"] if each["name"] == "facts")

        def then(server):
            wait_for(lambda: source(server)["freshness"]["error"], "the failure")
            kind, asked_before = source(server)["freshness"]["error"]["kind"], len(upstream.times["/jokes/search"])
            states, end = set(), time.monotonic() + 12
            while time.monotonic() < end:
                states.add(server.call("server.status")["state"])
                time.sleep(0.2)
            asked_since = len(upstream.times["/jokes/search"]) - asked_before
            ballast.unlink()
            wait_for(lambda: source(server)["freshness"]["error"] is None, "the facts", timeout=20)
            wait_for(lambda: server.call("server.status")["state"] == "ok", "the recovery", timeout=10)
            told = [kind, states, asked_since]
            return [] if told == ["storage", {"degraded"}, 0] else [f"kind, states and requests were {told}"]

        start = Start(target, setting, then=then)
        start.expect(start.added, "a favorite was refused")
        return start.row("a disk that is full for large writes")


def read_only_disk(folder, home, setting, kept):
    """Nothing is acknowledged, and the status is degraded."""
    target = folder / "read-only"
    with contextlib.ExitStack() as stack:
        target.mkdir()
        for name in ["state", "cache"]:
            stack.enter_context(mounted(target / name, 8192))
        copied(home, target)
        for name in ["state", "cache"]:
            subprocess.run(["mount", "-o", "remount,ro", target / name], check=True, timeout=20)
        start = Start(target, setting, kept)
    start.expect(not start.added, "a favorite was acknowledged")
    start.expect(start.state == "degraded", f"the state is {start.state}")
    return start.row("a read-only disk")


def stopped_disk(folder, home, setting, kept):
    """The disk becomes read-only under the daemon, which says so, and can be written again."""
    target = copied(home, folder / "stopped")
    calls = Calls(folder / "stopped.report")
    library = compiled(folder, "failing", "-shared", "-fPIC")

    def then(server):
        fact = min(kept)
        calls.fail(1)
        error = server.reply("favorite.remove", kind="fact", id=fact).get("error", {}).get("code")
        told = [error, server.call("server.status")["state"]]
        calls.fail(0)
        wait_for(lambda: "result" in server.reply("favorite.remove", kind="fact", id=fact), "a write", timeout=10)
        wait_for(lambda: server.call("server.status")["state"] == "ok", "the recovery", timeout=10)
        return [] if told == [-32005, "degraded"] else [f"favorite.remove and status said {told}"]

    under = calls.under(library, "readonly", target)
    return Start(target, setting, kept, then, under).row("a disk that becomes read-only")


def pages(folder, home, setting, kept):
    """Each page of state.db is overwritten in turn: all favorites come from the copy, and the status names it."""
    count, faults, slowest = (home / "state/state.db").stat().st_size // PAGE, [], 0
    for page in range(count):
        target = copied(home, folder / f"page{page}")
        with open(target / "state/state.db", "r+b") as file:
            file.seek(page * PAGE)
            file.write(os.urandom(PAGE))
        start = Start(target, setting, kept)
        start.expect("the copy of" in start.message, "the status does not name the copy")
        slowest, faults = max(slowest, start.served), faults + [f"page {page}: {fault}" for fault in start.faults]
        shutil.rmtree(target)
    return faultless(f"a damaged page of the state, {count} pages", f"{slowest:.0f} ms", faults, f"<= {SERVED_GOAL} ms")


def wrong_bytes(seed, path):
    """Overwrites bytes of a file at random places, the same for the same seed."""
    generator, damaged = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(WRONG_BYTES):
        damaged[generator.randrange(len(damaged))] = generator.randrange(256)
    path.write_bytes(damaged)


def damaged_start(case):
    """Starts on a damaged copy, or damages the copy under the daemon; returns the milliseconds and the faults."""
    home, setting, file, under_way, seed = case
    target = copied(home, home.with_name(f"damaged-{os.getpid()}"))

    def then(server):
        if under_way:
            wrong_bytes(seed, target / file)
        return [*asked(server), *asked(server)]

    if not under_way:
        wrong_bytes(seed, target / file)
    start = Start(target, setting, then=then)
    shutil.rmtree(target)
    return start.served, [f"seed {seed}: {'; '.join(start.faults[:3])}"] if start.faults else []


def damages(home, setting, copies):
    """All methods answer with wrong bytes anywhere in a database, before a start and under the daemon."""
    rows = []
    with FORK.Pool(PROCESSES) as pool:
        for file, under_way in itertools.product(DATABASES, [False, True]):
            name = f"{copies} × {WRONG_BYTES} wrong bytes in {file}{', while running' * under_way}"
            results = pool.map(damaged_start, [(home, setting, file, under_way, seed) for seed in range(copies)])
            rows.append(faultless(name, f"{max(served for served, _ in results):.0f} ms",
                                  [fault for _, faults in results for fault in faults], f"<= {SERVED_GOAL} ms"))
    return rows


STARTS = [full_disk, damage_on_full_disk, small_writes_only, read_only_disk, stopped_disk, pages]


def starts(folder, options):
    """a full, a read-only and a failing disk, damaged files: served within a second, with all favorites"""
    need_root()
    home = folder / "used"
    with small_upstream() as upstream:
        setting = configuration(folder, upstream.url)
        kept = fill(home, setting)
        rows = [each(folder, home, setting, kept) for each in STARTS]
    # Nothing listens on the upstream's port from now on.
    return rows + damages(home, setting, options.copies)

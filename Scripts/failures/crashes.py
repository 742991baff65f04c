"""Kills norrisd with SIGKILL at random moments, and checks that what was acknowledged is stored.

Clients keep and remove favorites, mark posts as read, search and draw facts, while an administrator refreshes, clears
and reloads, and feeds come and go. Each daemon is killed within a second of its start, one in four already while it
starts. strace(1) then shows that a reply follows the sync of its change.
"""

import collections
import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

import harness
from feeds import ITEM, RSS
from harness import Row, daemon, request, upstream, value, wait_for
from store import fortunes, generate, items

WRITERS, WRITTEN_FACTS, POSTS = 4, 3_000, 2_000
MARKS = 0.05  # the fraction of writes that mark posts as read, which is permanent
LIFETIME = 0.05, 1.0  # seconds from READY to SIGKILL
STARTS, EVERY = 0.15, 4  # maximum seconds until SIGKILL during a start; one of EVERY starts is killed
READY_GOAL = 1_000  # milliseconds


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


class Drawer:
    """A client that draws facts of one shuffle. After a crash, facts of the last second may come again (PROTOCOL.md),
    in their old order; apart from that, each fact comes once before any comes again."""

    CATEGORY, PAUSE, WINDOW = "large", 0.002, 1.0  # seconds between draws, and before a crash

    def __init__(self, count):
        self.count, self.order = count, []
        # The first fact that may come again.
        self.bound = self.repeated = 0
        self.faults = []

    def draw(self, server):
        begin, ids, moments = time.monotonic(), [], []
        with contextlib.suppress(OSError), server.connect() as connection:
            replies = connection.makefile("rb")
            line = request("fact.random", category=self.CATEGORY, source="fortune").encode() + b"\n"
            while True:
                connection.sendall(line)
                reply = replies.readline()
                if not reply.endswith(b"\n"):
                    break
                # Fortune files are read after the start.
                if found := re.search(rb'"id":"([^"]+)","text"', reply):
                    ids.append(found.group(1))
                    moments.append(time.monotonic())
                time.sleep(self.PAUSE)
        end = time.monotonic()
        # The first place from which this life repeats the order of the last one, if it does.
        known = len(self.order)
        first = next((place for place in range(self.bound, known)
                      if self.order[place:place + len(ids)] == ids[:known - place]), known)
        self.repeated += min(known - first, len(ids))
        for id in ids[known - first:]:
            self.note(id)
        # In a shorter life the daemon may have stored nothing.
        if end - begin > self.WINDOW:
            self.bound = next((first + number for number, moment in enumerate(moments)
                               if moment > end - self.WINDOW), len(self.order))

    def note(self, id):
        """Adds a fact that was not drawn before in this cycle."""
        start = len(self.order) - len(self.order) % self.count
        if id in self.order[start:]:
            self.faults.append(f"{id.decode()} came again as number {len(self.order) - start} of {self.count}")
        self.order.append(id)


def search(server, generator):
    """Searches until the daemon has ended. Each search is stored."""
    with contextlib.suppress(OSError), server.connect() as connection:
        replies = connection.makefile("rb")
        while True:
            query = generator.choice("abcdefgh") + generator.choice("aeiou")
            connection.sendall(request("fact.search", query=query, limit=3).encode() + b"\n")
            if not replies.readline().endswith(b"\n"):
                return


def administer(server, number, home, url):
    """Refreshes, and in some lives clears a source, or adds or removes a feed and reloads."""
    server.call("source.refresh")
    if number % 5 == 2:
        server.reply("cache.clear", source="extra")
    if number % 3 == 1:
        if not server.reply("source.remove", name="extra")["result"]["removed"]:
            server.reply("source.add", url=url, name="extra")
        server.process.send_signal(signal.SIGHUP)


def kills(folder, count):
    generator, home, growing = random.Random(), folder / "norrisd", folder / "facts" / "growing"
    generate(folder / "facts", WRITTEN_FACTS)
    growing.touch()
    posts = POSTS

    def feed(path, headers):
        nonlocal posts
        posts += path == "/"
        text = RSS.format("".join(ITEM.format(number, "Chuck Norris reads it.") for number in range(posts)))
        return 200, {"Content-Type": "application/rss+xml"}, text.encode()

    starts, lost, bad = [], 0, []
    with upstream(feed) as port:
        url = f"http://127.0.0.1:{port}/"
        configuration = fortunes(folder / "facts") + f"posts: {{sources: {{feed: {{kind: feed, url: '{url}'}}}}}}\n"
        with daemon(home, configuration) as server:
            wait_for(lambda: items(server) >= WRITTEN_FACTS, "the import", timeout=120)
            wait_for(lambda: server.call("post.list", source="feed")["items"], "posts")
            facts = [fact["id"] for fact in server.pages("fact.search", query="a", limit=100)]
            ids = [post["id"] for post in server.pages("post.list", source="feed", limit=100)]
            large = {each["name"]: each["count"] for each in server.call("fact.categories", source="fortune")["items"]}
        writers = [Writer(facts[number::WRITERS], ids[number::WRITERS]) for number in range(WRITERS)]
        drawer = Drawer(large[Drawer.CATEGORY])
        with daemon(home, configuration) as server:
            thread = threading.Thread(target=drawer.draw, args=(server,))
            thread.start()
            time.sleep(1)
        thread.join()
        # A clean stop loses nothing.
        drawer.bound = len(drawer.order)
        for number in range(count + 1):
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
                read = {post["id"] for post in server.pages("post.list", source="feed", limit=100) if post["read"]}
                here = sum(writer.lost(listed, read) for writer in writers)
                lost += here
                if here:
                    bad.append(f"start {number}: {here} lost")
                if number == count:
                    break
                # A separate generator for each thread, because the threads run concurrently.
                threads = [threading.Thread(target=writer.write, args=(server, random.Random(generator.random())))
                           for writer in writers]
                threads += [threading.Thread(target=drawer.draw, args=(server,)),
                            threading.Thread(target=search, args=(server, random.Random(generator.random())))]
                for thread in threads:
                    thread.start()
                administer(server, number, home, url + "extra")
                time.sleep(generator.uniform(*LIFETIME))
                server.process.kill()
                for thread in threads:
                    thread.join()
                server.process.wait()
            if number % 20 == 0 or number == count - 1:
                bad += [f"after kill {number + 1}: {fault}" for fault in faults_of(home, folder / "copy")]
                print(f"crashes: {number + 1} kills, {lost} lost, {len(bad) + len(drawer.faults)} faults", flush=True)
        bad += [f"after a clean stop: {fault}" for fault in faults_of(home, folder / "copy")]
    bad += [f"a write was refused: {writer.failure}" for writer in writers if writer.failure]
    bad += [f"given up: {path.name}" for path in home.rglob("*.damaged*")]
    files = sorted(path.name for name in ["state", "cache"] for path in (home / name).iterdir())
    return [
        Row("kill -9 between writes", str(count), note=f"files: {', '.join(files)}"),
        *(Row(f"{method}, acknowledged", f"{number:,}") for method, number in sorted(
            sum((writer.acknowledged for writer in writers), collections.Counter()).items())),
        Row("of them lost", str(lost), goal="0", met=lost == 0),
        Row("facts of one shuffle that came too early", str(len(drawer.faults)), goal="0", met=not drawer.faults,
            note=f"{len(drawer.order):,} drawn, {len(drawer.order) // drawer.count} whole cycles of {drawer.count:,}, "
                 f"{drawer.repeated:,} again after a crash; {'; '.join(drawer.faults[:5])}"),
        Row("faults", str(len(bad)), goal="0", met=not bad, note="; ".join(bad[:10])),
        value("start after kill -9 to READY", starts, "ms", note=f"longest {max(starts):.0f} ms"),
        Row("longest start after kill -9", f"{max(starts):.0f} ms", goal=f"<= {READY_GOAL} ms",
            met=max(starts) <= READY_GOAL),
    ]


# The order of writes, syncs and replies

TRACED = "read,recvfrom,recvmsg,write,writev,sendto,sendmsg,pwrite64,fsync,fdatasync"
# Changes that are acknowledged after they are on the disk, and a request that needs no disk.
DURABLE = ["favorite.add", "favorite.remove", "post.mark_read"]


def order(folder):
    """Returns a row for each method: whether its change is written, synced and then acknowledged."""
    trace, home, rows = folder / "trace", folder / "traced", []

    def feed(path, headers):
        return 200, {"Content-Type": "application/rss+xml"}, RSS.format(ITEM.format(1, "a")).encode()

    under = ["strace", "-f", "-y", "-s", "300", "-e", f"trace={TRACED}", "-o", trace]
    with upstream(feed) as port:
        setting = harness.BUILT_IN_FACTS + (
            f"posts: {{sources: {{feed: {{kind: feed, url: 'http://127.0.0.1:{port}/'}}}}}}\n")
        with daemon(home, setting, under=under) as server:
            wait_for(lambda: server.call("post.list")["items"], "a post")
            fact = server.call("fact.random")["items"][0]["id"]
            post = server.call("post.list")["items"][0]["id"]
            # The shuffle is written half a second after its first move.
            time.sleep(1.5)
            for number, (method, parameters) in enumerate([
                    ("favorite.add", {"kind": "fact", "id": fact}), ("favorite.remove", {"kind": "fact", "id": fact}),
                    ("post.mark_read", {"ids": [post]}), ("fact.random", {"count": 3})]):
                line = request(method, **parameters).replace('"id":1,', f'"id":77{number},', 1)
                with server.connect() as connection:
                    connection.sendall(line.encode() + b"\n")
                    connection.makefile().readline()
            # strace passes no signal on to the program that it has started.
            pid = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, timeout=10).stdout)
            os.kill(pid, signal.SIGTERM)
    lines = trace.read_text(errors="replace").splitlines()
    for number, method in enumerate([*DURABLE, "fact.random"]):
        mark = f'\\"id\\":77{number},'
        begin = next(place for place, line in enumerate(lines) if mark in line and re.search(r" (read|recv)", line))
        end = next(place for place, line in enumerate(lines) if mark in line and re.search(r" (write|send)", line))
        calls = [(place, line) for place, line in enumerate(lines[begin:end + 1]) if "/state/state.db" in line]
        written = [place for place, line in calls if "pwrite64(" in line]
        synced = [place for place, line in calls if re.search(r"(fsync|fdatasync)\(", line)]
        for line in [lines[begin], *(line for _, line in calls), lines[end]]:
            print(f"crashes: {method}: {re.sub(r'/tmp/[^ >]*/traced/', '', line)[:110]}", flush=True)
        if method in DURABLE:
            good = bool(written and synced) and synced[-1] > written[-1]
            rows.append(Row(f"{method}: write, sync, reply", "in this order" if good else "NOT in this order",
                            goal="in this order", met=good, note=f"{len(written)} writes, {len(synced)} syncs"))
        else:
            rows.append(Row(f"{method}: calls for a disk before the reply", str(len(calls)), goal="0", met=not calls))
    folders = [line for line in lines if re.search(r"(fsync|fdatasync)\(\d+<[^>]*/state>", line)]
    rows.append(Row("syncs of the folder of a new state", str(len(folders)), goal=">= 1", met=bool(folders)))
    return rows


def crashes(folder, options):
    "kill -9 in the middle of writes and starts, --kills times; the order of writes, syncs and replies"
    return [*order(folder), *kills(folder, options.kills)]


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

"""Kills norrisd with SIGKILL at random moments, and checks that what was acknowledged is stored.

Clients keep and remove favorites, mark posts as read, search and draw facts, while an administrator refreshes, clears
and reloads, and feeds come and go. Each daemon is killed within a second of its start, one in four already while it
starts. strace(1) then shows that a reply follows the sync of its change. A daemon whose folder of the state comes later
loses nothing of it.
"""

import collections
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

from disk import faults_of
from harness import (OFFLINE, Failure, Row, Upstream, daemon, faultless, feed, item, replied, request, rss, value,
                     wait_for)

WRITERS, FACTS, POSTS = 4, 1_000, 1_500
MARKS = 0.05  # the fraction of writes that mark posts as read, which is permanent
LIFETIME = 0.05, 1.0  # seconds from READY to SIGKILL
STARTS, EVERY = 0.15, 4  # maximum seconds until SIGKILL during a start; one of EVERY starts is killed
READY_GOAL = 1_000  # milliseconds
DRAWN, WINDOW = 3.0, 1.0  # seconds of draws before a crash, after which facts of the last second may come again
TRACED = "read,recvfrom,recvmsg,write,writev,sendto,sendmsg,pwrite64,fsync,fdatasync"


class Writer:
    """A client that adds and removes favorites, and marks posts as read, until the daemon has ended. It records the
    acknowledged writes."""

    def __init__(self, facts, posts):
        self.facts, self.posts, self.kept, self.read = facts, posts, set(), set()
        self.unsure, self.acknowledged, self.faults = None, collections.Counter(), []

    def write(self, server, generator):
        with contextlib.suppress(OSError), server.connect() as client:
            while not self.faults:
                if generator.random() < MARKS and len(self.read) < len(self.posts):
                    self.unsure = self.posts[len(self.read)]
                    method, parameters = "post.mark_read", {"ids": [self.unsure]}
                else:
                    self.unsure = generator.choice(self.facts)
                    method = "favorite.remove" if self.unsure in self.kept else "favorite.add"
                    parameters = {"kind": "fact", "id": self.unsure}
                reply = client.reply(method, **parameters)
                # Right after a start, the fortune files may not be read yet.
                if "error" in reply and reply["error"]["data"]["reason"] == "not_found":
                    continue
                if "result" not in reply:
                    self.faults.append(f"a write was refused: {reply}")
                    break
                (self.read if method == "post.mark_read" else self.kept).symmetric_difference_update({self.unsure})
                self.acknowledged[method] += 1
                self.unsure = None

    def lost(self, listed, read):
        """Returns the number of lost acknowledged writes, and continues from the stored state."""
        unsure, kept, marked = {self.unsure}, listed & set(self.facts), read & set(self.posts)
        lost = len((self.kept ^ kept) - unsure) + len((self.read ^ marked) - unsure)
        self.kept, self.read, self.unsure = kept, marked, None
        return lost


def repeat(server, make):
    """Sends requests until the daemon has ended."""
    with contextlib.suppress(OSError), server.connect() as client:
        while True:
            client.ask(make())


def administer(server, number, url):
    """Refreshes, and in some lives clears a source, or adds or removes a feed and reloads."""
    server.call("source.refresh")
    if number % 5 == 2:
        server.reply("cache.clear", source="extra")
    if number % 3 == 1:
        if not server.reply("source.remove", name="extra")["result"]["removed"]:
            server.reply("source.add", url=url, name="extra")
        server.process.send_signal(signal.SIGHUP)


def killed_start(home, setting, seconds):
    """Starts norrisd and sends SIGKILL after some seconds, whether it is ready or not."""
    with contextlib.suppress(Failure), daemon(
            home, setting, started=lambda process: threading.Timer(seconds, process.kill).start()):
        time.sleep(seconds)


def kills(folder, count):
    """Acknowledged favorites and read marks survive each kill; the databases are whole, and starts are quick."""
    generator, home, files = random.Random(), folder / "norrisd", folder / "facts"
    growing = files / "growing"
    files.mkdir()
    (files / "facts").write_text("\n%\n".join(f"Fact {number} is written." for number in range(FACTS)))
    growing.touch()
    fetches = iter(range(POSTS, 1 << 30))
    starts, lost, bad = [], 0, []
    with Upstream(lambda *_: replied(rss(item(number) for number in range(next(fetches))))) as upstream:
        setting = {**OFFLINE, "facts": {"enabled": False, "fortunes": [str(files)]},
                   "posts": {"sources": {"feed": feed(upstream.url)}}}
        with daemon(home, setting) as server:
            wait_for(lambda: server.items() > FACTS and server.items("feed"), "facts and posts")
            facts = [fact["id"] for fact in server.pages("fact.search", query="written", limit=100)]
            posts = [post["id"] for post in server.pages("post.list", source="feed", limit=100)]
        writers = [Writer(facts[number::WRITERS], posts[number::WRITERS]) for number in range(WRITERS)]
        for number in range(count + 1):
            # The daemon also reads a new fact.
            with open(growing, "a") as file:
                file.write(f"A fact of start {number}.\n%\n")
            if number % EVERY == 1:
                killed_start(home, setting, generator.uniform(0, STARTS))
            with daemon(home, setting) as server:
                starts.append(server.start)
                status = server.call("server.status")
                if status["database"]["read_only"] or not server.call("fact.random", count=100)["items"]:
                    bad.append(f"start {number}: {status['message']}")
                listed = {kept["id"] for kept in server.pages("favorite.list", limit=100)}
                read = {post["id"] for post in server.pages("post.list", source="feed", limit=100) if post["read"]}
                lost += sum(writer.lost(listed, read) for writer in writers)
                if number == count:
                    break
                # A separate generator for each thread, because the threads run concurrently.
                threads = [threading.Thread(target=writer.write, args=(server, random.Random(generator.random())))
                           for writer in writers]
                threads += [threading.Thread(target=repeat, args=(server, make)) for make in [
                    lambda: request("fact.random", source="all"),
                    lambda: request("gif.search", query=random.choice("abcdefgh"), offline=True)]]
                for thread in threads:
                    thread.start()
                administer(server, number, upstream.url + "/extra")
                time.sleep(generator.uniform(*LIFETIME))
                server.process.kill()
                for thread in threads:
                    thread.join()
                server.process.wait()
            if number % 20 == 0:
                bad += [f"after kill {number + 1}: {fault}" for fault in faults_of(home)]
                print(f"crashes: {number + 1} kills, {lost} lost, {len(bad)} faults", flush=True)
        bad += [f"at the end: {fault}" for fault in faults_of(home)]
    bad += [fault for writer in writers for fault in writer.faults]
    acknowledged = sum((writer.acknowledged for writer in writers), collections.Counter())
    return [
        *(Row(f"{method}, acknowledged", f"{number:,}") for method, number in sorted(acknowledged.items())),
        Row("of them lost", str(lost), goal="0", met=lost == 0 and acknowledged.total() > 0),
        faultless(f"{count} times kill -9 between writes", f"{len(starts)} starts", bad),
        value("start after kill -9 to READY", starts, "ms"),
        Row("longest start after kill -9", f"{max(starts):.0f} ms", goal=f"<= {READY_GOAL} ms",
            met=max(starts) <= READY_GOAL),
    ]


def shuffle(folder, count):
    """After a crash, facts of the last second may come again; all others come once in a cycle."""
    home, drawn, faults = folder / "shuffled", [], []
    (folder / "many").write_text("\n%\n".join(f"Fact {number} comes once." for number in range(50_000)))
    setting = {**OFFLINE, "facts": {"enabled": False, "fortunes": [str(folder / "many")]}}
    for number in range(count):
        with daemon(home, setting) as server, server.connect() as client:
            wait_for(lambda: server.items() > 50_000, "facts")
            settled, here = set(drawn), []
            begin = time.monotonic()
            while (now := time.monotonic()) < begin + DRAWN:
                fact = client.reply("fact.random", source="fortune")["result"]["items"][0]["id"]
                if fact in settled or any(fact == other for _, other in here):
                    faults.append(f"{fact} came again in life {number}")
                here.append((now, fact))
                time.sleep(0.005)
            server.process.kill()
            server.process.wait()
        drawn += [fact for moment, fact in here if moment < begin + DRAWN - WINDOW]
    return [faultless(f"facts of one shuffle over {count} crashes", f"{len(drawn):,} drawn", faults, "each once")]


def late(folder, _):
    """A daemon that starts without the folder of its state gets it back while it runs, and nothing of it is lost."""
    home, lost = folder / "late", collections.Counter()
    (folder / "few").write_text("\n%\n".join(f"Fact {number} comes once." for number in range(FACTS)))
    setting = {**OFFLINE, "facts": {"enabled": False, "fortunes": [str(folder / "few")]}}

    def draw(server, count):
        return {server.call("fact.random", source="fortune")["items"][0]["id"] for _ in range(count)}

    def note_lost(server, favorites, drawn, today):
        lost["favorites"] += len(favorites - {kept["id"] for kept in server.pages("favorite.list", limit=100)})
        lost["sources"] += "added" not in server.sources()
        lost["read marks"] += sum(not post["read"] for post in server.pages("post.list", limit=100))
        lost["shuffles"] += len(drawn & draw(server, 15))
        lost["facts of the day"] += server.call("fact.today")["fact"]["id"] != today

    with Upstream(lambda *_: replied(rss(item(number) for number in range(5)))) as upstream:
        with daemon(home, setting) as server:
            wait_for(lambda: server.items() > FACTS, "facts")
            server.call("source.add", url=upstream.url + "/added", name="added", wait=True)
            server.call("post.mark_read", all=True)
            drawn, today = draw(server, 20), server.call("fact.today")["fact"]["id"]
            for fact in drawn:
                server.call("favorite.add", kind="fact", id=fact)
        (home / "state").rename(home / "kept")
        (home / "state").touch()
        with daemon(home, setting) as server:
            wait_for(lambda: server.items() > FACTS, "facts without the folder")
            draw(server, 9)
            server.call("fact.today")
            (home / "state").unlink()
            (home / "kept").rename(home / "state")
            wait_for(lambda: "added" in server.sources(), "the folder")
            note_lost(server, drawn, drawn, today)
        with daemon(home, setting) as server:
            wait_for(lambda: server.items() > FACTS, "facts")
            note_lost(server, drawn, drawn, today)
    return [Row(f"a state folder that comes later: lost {kind}", str(count), goal="0", met=count == 0)
            for kind, count in lost.items()]


def order(folder, _):
    """A change is written and synced before its reply; a fact needs no disk."""
    trace, home, rows = folder / "trace", folder / "traced", []
    under = ["strace", "-f", "-y", "-s", "300", "-e", f"trace={TRACED}", "-o", trace]
    with Upstream() as upstream, daemon(
            home, {**OFFLINE, "posts": {"sources": {"feed": feed(upstream.url)}}}, under=under) as server:
        post = wait_for(lambda: server.call("post.list")["items"], "a post")[0]["id"]
        kept = {"kind": "fact", "id": server.call("fact.random")["items"][0]["id"]}
        # The shuffle is written half a second after its first move.
        time.sleep(1.5)
        calls = {"favorite.add": kept, "favorite.remove": kept, "post.mark_read": {"ids": [post]}, "fact.random": {}}
        for number, (method, parameters) in enumerate(calls.items()):
            with server.connect() as client:
                client.ask(json.dumps({"jsonrpc": "2.0", "id": 770 + number, "method": method, "params": parameters}))
        # strace passes no signal on to the program that it has started.
        pid = int(subprocess.run(["pgrep", "-P", str(server.process.pid)], capture_output=True, timeout=10).stdout)
        os.kill(pid, signal.SIGTERM)
    lines = trace.read_text(errors="replace").splitlines()
    for number, method in enumerate(calls):
        marked = [place for place, line in enumerate(lines) if re.search(rf'\\"id\\": ?77{number}[,}}]', line)]
        calls_between = [line for line in lines[marked[0]:marked[-1]] if "/state/state.db" in line]
        written = [place for place, line in enumerate(calls_between) if "pwrite64(" in line]
        synced = [place for place, line in enumerate(calls_between) if re.search(r"(fsync|fdatasync)\(", line)]
        if method == "fact.random":
            rows.append(Row(f"{method}: calls for a disk before the reply", str(len(calls_between)), goal="0",
                            met=not calls_between))
        else:
            good = bool(written and synced) and synced[-1] > written[-1]
            rows.append(Row(f"{method}: write, sync, reply", "in this order" if good else "NOT in this order",
                            goal="in this order", met=good, note=f"{len(written)} writes, {len(synced)} syncs"))
    folders = [line for line in lines if re.search(r"(fsync|fdatasync)\(\d+<[^>]*/state>", line)]
    rows.append(Row("syncs of the folder of a new state", str(len(folders)), goal=">= 1", met=bool(folders)))
    return rows


def crashes(folder, options):
    """kill -9 in the middle of writes and starts, --kills times; a late folder; the order of writes, syncs, replies"""
    return [*late(folder, options), *order(folder, options), *shuffle(folder, max(2, options.kills // 50)),
            *kills(folder, options.kills)]

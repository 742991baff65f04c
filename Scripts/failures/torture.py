"""Lets the n-th write, sync or allocation of norrisd fail, for every n until a whole run passes without a failure.

A daemon starts on empty folders, fetches facts, GIFs and posts from an upstream on loopback, and a user keeps, removes,
reads, searches and clears. One call fails in each run (failing.c), as in the torture tests of curl. Allocations also
fail in each request of a running daemon. The daemon must not crash, and must not acknowledge what it cannot store. A
daemon without failures then runs on the same files: everything acknowledged is stored, both databases are whole, and no
file was given up.
"""

import collections
import itertools
import json
import mmap
import multiprocessing
import pathlib
import shutil
import signal
import struct
import subprocess
import time

import crashes
import harness
import upgrade

LIBRARIES = ["libsqlite3", "libyaml"]
FACTS, POSTS, GIFS = 8, 4, 3
PROCESSES, CHUNK = 2, 16
READY_GOAL, SETTLED = 1, 5  # seconds
# Exit statuses of sysexits.h with which a start without memory or disk may end: software, OS, file, I/O, temporary.
GIVEN_UP = {70, 71, 73, 74, 75, 78}


def answer(path, headers):
    path = path.split("?")[0]
    kind = "application/json"
    if path == "/jokes/search":
        body = json.dumps({"total": FACTS, "result": [upgrade.fact(number) for number in range(FACTS)]})
    elif path == "/jokes/categories":
        body = '["dev", "food"]'
    elif path.startswith("/v1/gifs/"):
        gifs = [upgrade.gif("kick", number) for number in range(GIFS)]
        body = json.dumps({"data": gifs, "meta": {"status": 200, "msg": "OK", "response_id": "a"},
                           "pagination": {"total_count": GIFS, "count": GIFS, "offset": 0}})
    else:
        kind = "application/rss+xml"
        items = "".join(map(upgrade.entry, range(POSTS)))
        body = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Planet</title>{items}</channel></rss>'
    return 200, {"Content-Type": kind}, body.encode()


def configuration(folder, port):
    url = f"http://127.0.0.1:{port}"
    return (f"facts: {{base_url: '{url}'}}\n"
            f"gifs: {{base_url: '{url}', api_key_file: '{folder}/key', queries: [kick]}}\n"
            f"posts: {{sources: {{planet: {{kind: feed, url: '{url}/planet'}}}}}}\n")


class User:
    """Keeps favorites and marks posts as read; knows what must be stored."""

    def __init__(self):
        self.kept, self.read, self.unsure, self.refused = set(), set(), set(), []

    def write(self, server, method, stored, key, **parameters):
        """Calls a method that adds `key` to a set or removes it; a refusal changes nothing that is known."""
        reply = server.reply(method, **parameters)
        if "result" in reply:
            stored.symmetric_difference_update({key})
        elif "error" in reply:
            self.refused.append(reply["error"]["code"])
        if "result" not in reply:
            # A failed sync after the write: the next start may find the write or not.
            self.unsure.add(key)

    def work(self, server):
        facts = [fact["id"] for fact in server.reply("fact.random", count=4).get("result", {}).get("items", [])]
        for fact in facts:
            self.write(server, "favorite.add", self.kept, ("fact", fact), kind="fact", id=fact)
        server.reply("fact.search", query="chuck")
        server.reply("fact.today")
        settled(server)
        posts = [post["id"] for post in server.reply("post.list").get("result", {}).get("items", [])]
        for post in posts[:2]:
            self.write(server, "post.mark_read", self.read, post, ids=[post])
        gifs = server.reply("gif.search", query="kick", offline=True).get("result", {}).get("items", [])
        for kind, items in [("post", posts[:1]), ("gif", [gif["id"] for gif in gifs[:1]])]:
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
        listed = list(server.pages("post.list", limit=100))
        read = {post["id"] for post in listed if post["read"]}
        known = {post["id"] for post in listed}
        return sorted(map(str, ((self.kept ^ kept) | (self.read & known ^ read)) - self.unsure))


def settled(server):
    """Waits until every source has ended a run, with or without success."""
    end = time.monotonic() + SETTLED
    while time.monotonic() < end:
        sources = server.reply("server.status").get("result", {}).get("sources", [])
        if sources and all("fetched_at" in source["freshness"] or source["freshness"]["error"] for source in sources):
            return
        time.sleep(0.02)


def run(case):
    """Runs the daemon with one failure; returns the number of calls and what went wrong."""
    folder, library, environment, number, setting = case
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    report, home, log = folder / "report", folder / "home", folder / "log"
    report.write_bytes(struct.pack("qq", 0, number))
    variables = {"LD_PRELOAD": library, "FAILING_REPORT": report, "FAILING_FOLDER": home, **environment}
    under = ["sh", "-c", f'exec "$@" 2>>"{log}"', "sh", "env", *(f"{name}={text}" for name, text in variables.items())]
    user, problems, processes = User(), [], []
    start = None
    try:
        with harness.daemon(home, setting, under=under, started=processes.append) as server:
            server.timeout = 10
            start = server.start
            user.work(server)
    except harness.Failure:
        pass
    except (OSError, ValueError) as error:
        problems.append(f"{type(error).__name__}: {error}")
    status = processes[0].poll()
    text = log.read_text(errors="replace") if log.exists() else ""
    if status is None or status < 0 or "Fatal error" in text or "crashed" in text:
        problems.append(f"ended with {status}")
    elif start is None and (status not in GIVEN_UP or not text.strip()):
        problems.append(f"did not start: status {status}, {len(text)} bytes of log")
    elif start is not None and status != 0:
        problems.append(f"status {status} at its end")
    calls = struct.unpack("qq", report.read_bytes())[0]
    try:
        with harness.daemon(home, setting) as server:
            if server.start > READY_GOAL * 1000:
                problems.append(f"READY after {server.start:.0f} ms")
            if lost := user.lost(server):
                problems.append(f"lost: {lost[:3]}")
            status = server.call("server.status")
            if status["database"]["read_only"] or status["state"] == "failed":
                problems.append(f"afterwards: {status['message']}")
    except (harness.Failure, OSError, ValueError, KeyError) as error:
        problems.append(f"afterwards {type(error).__name__}: {error}")
    problems += [f"given up: {path.name}" for path in home.rglob("*.damaged*")]
    problems += crashes.faults_of(home, folder / "copy")
    if problems:
        problems += text.splitlines()[-6:]
    shutil.rmtree(folder, ignore_errors=True)
    return number, calls, start is not None, len(user.refused), problems


def points(folder, name, environment, every):
    """Runs one failure after the other until a whole run passes without it."""
    library = folder / "failing.so"
    tried, failed, unstarted, refused, first = 0, 0, 0, 0, 1
    begin = time.monotonic()
    (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
    with harness.upstream(answer) as port, multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        setting = configuration(folder, port)
        while True:
            numbers = range(first, first + CHUNK * every, every)
            cases = [(folder / f"run{number}", library, environment, number, setting) for number in numbers]
            results = pool.map(run, cases, chunksize=1)
            reached = [result for result in results if result[1] >= result[0]]
            for number, _, started, refusals, problems in reached:
                unstarted += not started
                refused += refusals
                if problems:
                    failed += 1
                    print(f"torture: {name}: {number}: {'; '.join(problems[:3])}", *problems[3:], sep="\n    ",
                          flush=True)
            tried += len(reached)
            first = numbers[-1] + every
            if not reached:
                break
    note = (f"{unstarted} starts given up with a message, {refused} writes refused, "
            f"{time.monotonic() - begin:.0f} s")
    print(f"torture: {name}: {tried} points, {failed} with a defect; {note}", flush=True)
    return harness.Row(name, f"{tried - failed} of {tried}", goal="all survived", met=failed == 0 and tried > 0,
                       note=note)


def prepare(folder):
    source = pathlib.Path(__file__).with_name("failing.c")
    command = ["cc", "-O2", "-Wall", "-shared", "-fPIC", source, "-o", folder / "failing.so"]
    subprocess.run(command, check=True, timeout=60)


# Allocations


class Calls:
    """The counted calls of a running daemon (failing.c), of which one or all later ones may fail."""

    def __init__(self, path):
        path.write_bytes(bytes(16))
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 16)

    @property
    def count(self):
        return struct.unpack_from("q", self.memory)[0]

    def fail(self, number):
        """Lets the n-th call from now on fail; 0 for none. Returns its number in all."""
        failing = self.count + number if number else 0
        struct.pack_into("q", self.memory, 8, failing)
        return failing


# A method with its parameters, and whether a reply is enough or all sources must have ended a run. A run has thousands
# of allocations, of which each STEP-th fails.
READS = [("fact.search", {"query": "chuck norris"}), ("recent.list", {}), ("favorite.list", {}),
         ("post.list", {}), ("post.list", {"unread": True, "limit": 2}), ("gif.trending", {}), ("author.list", {}),
         ("gif.search", {"query": "kick", "offline": True}), ("fact.today", {"date": "2026-01-01"}),
         ("fact.random", {"max_length": 90, "count": 3}), ("fact.categories", {}), ("server.status", {})]
RUNS = [("cache.clear", {})]
STEP = 17
# The errors that a method may answer with while memory is short: an upstream that cannot be asked, and a disk.
SHORT = {-32002, -32005}


def running(folder, library, every):
    """Lets each allocation during each request of a running daemon fail, one request after the other."""
    begin, name = time.monotonic(), f"n-th allocation of {library}, running"
    problems, tried, answers = [], 0, collections.Counter()
    home, log, user, processes = folder / f"running-{library}", folder / f"log-{library}", User(), []
    allocations = Calls(folder / f"report-{library}")
    variables = {"LD_PRELOAD": folder / "failing.so", "FAILING_REPORT": allocations.file.name, "FAILING_KIND": "memory",
                 "FAILING_LIBRARY": library}
    under = ["sh", "-c", f'exec "$@" 2>>"{log}"', "sh", "env", *(f"{key}={text}" for key, text in variables.items())]
    with harness.upstream(answer) as port:
        setting = configuration(folder, port)
        try:
            with harness.daemon(home, setting, under=under, started=processes.append) as server:
                user.work(server)

                def points(what, request, step=1):
                    nonlocal tried
                    number = 1
                    while True:
                        failing = allocations.fail(number)
                        request()
                        reached = allocations.count >= failing
                        allocations.fail(0)
                        if not reached:
                            print(f"torture: {name}: {what}: {number - 1:,} allocations", flush=True)
                            return
                        tried += 1
                        number += step * every

                def asked(method, **parameters):
                    reply = server.reply(method, **parameters)
                    code = reply.get("error", {}).get("code", 0)
                    answers[code] += 1
                    if code and code not in SHORT:
                        problems.append(f"{method}: {reply['error']}")
                    return reply

                def refreshed(method, **parameters):
                    asked(method, **parameters)
                    settled(server)

                def reload():
                    server.process.send_signal(signal.SIGHUP)
                    time.sleep(0.05)

                for method, parameters in READS:
                    points(method, lambda: asked(method, **parameters))
                facts = [item["id"] for item in server.call("fact.random", count=30)["items"]]
                posts = [item["id"] for item in server.call("post.list")["items"]]
                for method, stored, keys, make in [
                    ("favorite.add", user.kept, itertools.cycle(facts), lambda key: {"kind": "fact", "id": key}),
                    ("favorite.remove", user.kept, itertools.cycle(facts), lambda key: {"kind": "fact", "id": key}),
                    ("post.mark_read", user.read, itertools.cycle(posts), lambda key: {"ids": [key]}),
                ]:
                    def written():
                        key = next(keys)
                        reply = asked(method, **make(key))
                        key = ("fact", key) if "favorite" in method else key
                        if "result" in reply:
                            (stored.discard if method == "favorite.remove" else stored.add)(key)
                            user.unsure.discard(key)
                        else:
                            user.unsure.add(key)

                    points(method, written)
                for method, parameters in RUNS:
                    points(method, lambda: refreshed(method, **parameters), step=STEP)
                points("reload", reload)
                if lost := user.lost(server):
                    problems.append(f"lost: {lost[:3]}")
        except (harness.Failure, OSError, ValueError) as error:
            problems.append(f"{type(error).__name__}: {error}")
        text = log.read_text(errors="replace")
        if processes[0].poll() != 0 or "Fatal error" in text:
            problems += [f"ended with {processes[0].poll()}", *text.splitlines()[-6:]]
        with harness.daemon(home, setting) as server:
            if lost := user.lost(server):
                problems.append(f"lost after a restart: {lost[:3]}")
    problems += [f"given up: {path.name}" for path in home.rglob("*.damaged*")]
    problems += crashes.faults_of(home, folder / "copy")
    for problem in problems[:20]:
        print(f"torture: {name}: {problem}", flush=True)
    note = ", ".join(f"{count:,} × {code or 'answered'}" for code, count in sorted(answers.items(), reverse=True))
    return harness.Row(name, f"{tried:,} points", goal="no defect", met=not problems and tried > 0,
                       note=f"{note}; {time.monotonic() - begin:.0f} s")


def disk(folder, options):
    "the n-th write or sync fails with EIO, ENOSPC or after half of its bytes, for every n"
    prepare(folder)
    return [points(folder, title, {"FAILING_KIND": kind}, options.every)
            for title, kind in [("n-th write or sync: EIO", "eio"), ("n-th write: short, then ENOSPC", "short"),
                                ("from the n-th write on: ENOSPC", "full")]]


def memory(folder, options):
    "the n-th allocation of SQLite or libyaml fails, in each request and in each start"
    prepare(folder)
    (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
    rows = [running(folder, library, options.every) for library in LIBRARIES]
    for library in LIBRARIES:
        # A start on empty folders has tens of thousands of allocations of SQLite.
        every = options.every * (STEP if library == "libsqlite3" else 1)
        name = f"n-th allocation of {library}, starts" + (f", each {every}th" if every > 1 else "")
        rows.append(points(folder, name, {"FAILING_KIND": "memory", "FAILING_LIBRARY": library}, every))
    return rows

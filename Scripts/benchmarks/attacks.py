"""What one user notices while another user, or an upstream, attacks norrisd.

Each attack gets a new daemon, and attackers and a victim with separate user ids. During the attack the victim sends one
request after another on two connections: one is answered from memory, one from the disk. A line shows their longest and
99th percentile latency, the daemon's peak memory and the CPU time. The victim has a higher priority than all others, so
that the figures show the daemon and not the scheduler.
"""

import collections
import contextlib
import dataclasses
import errno
import itertools
import json
import math
import selectors
import signal
import socket
import threading
import time
import typing
import zlib

from harness import (FACT_RANDOM, OFFLINE, Client, Row, Upstream, Worker, chosen, content, cpu_seconds, daemon,
                     fact, feed, item, need_root, percentile, replied, request, rss, wait_for)

ATTACKERS, VICTIM = range(60001, 60017), 60100
# ms, ms, MiB, and ms from SIGTERM in the middle of an attack to the end
MEMORY_GOAL, DISK_GOAL, PEAK_GOAL, END_GOAL = 50, 250, 192, 1000
TIMEOUT, AT_A_TIME = 5, 4  # seconds (http.timeout); fetches
HELD_GOAL = 224  # MiB: all memory of the daemon, with the data of its peers
LEAD, LASTING = 1, 5  # seconds of the victim's requests before an attack, and of an attack
IDLE_CPU = 0.6  # seconds of CPU time in 3 s that a daemon without a free descriptor may use
NOTIFICATIONS = 219_000  # bytes

INFO, RANDOM = request("server.info").encode() + b"\n", FACT_RANDOM.encode() + b"\n"
FROM_DISK = [request("fact.search", query="kick"), request("favorite.list")]
POSTS_FROM_DISK = [request("post.list"), request("author.list"), *FROM_DISK]


# The victim and the attackers, in processes of their users


def victim(path, lines, pause):
    """Sends the lines in sequence until SIGTERM; without lines, each connection is new. Returns the begin and the
    milliseconds of each request, and how many failed."""
    # No threading.Event, because the interrupted code may own the lock that the handler would wait for.
    ended, samples, failed = [], [], 0
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    with Client(path) as client:
        for line in itertools.cycle(lines or [FACT_RANDOM]):
            begin = time.monotonic()
            with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
                reply = (client if lines else stack.enter_context(Client(path))).ask(line)
                failed -= b'"result"' in reply
            failed += 1
            samples.append((begin, (time.monotonic() - begin) * 1000))
            if ended:
                return samples, failed
            time.sleep(pause)


def flood(path, count, data, seconds, read=True, replies=1, repeat=False, burst=False, start=0.0):
    """Sends data on `count` connections as fast as norrisd takes it, once or again and again. Ends after `replies`
    lines on each connection, or after some seconds; always after these without reading. A burst connects without
    blocking, and keeps its connections until the end."""
    time.sleep(max(0, start - time.monotonic()))
    end, totals, connections = time.monotonic() + seconds, collections.Counter(), []
    view, selector = memoryview(data), selectors.DefaultSelector()
    for _ in range(count):
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(not burst)
        try:
            connection.connect(str(path))
        except OSError as error:
            totals[errno.errorcode[error.errno]] += 1
            continue
        connection.setblocking(False)
        connections.append(connection)
        # Sent bytes of the data, and received lines.
        selector.register(connection, selectors.EVENT_READ * read | selectors.EVENT_WRITE, [0, 0])
    totals["opened"] = len(connections)
    while selector.get_map() and (left := end - time.monotonic()) > 0:
        for key, events in selector.select(min(left, 0.1)):
            connection, state, sent = key.fileobj, key.data, False
            try:
                if events & selectors.EVENT_READ:
                    chunk = connection.recv(1 << 18)
                    state[1] += chunk.count(b"\n")
                    totals["replies"] += chunk.count(b"\n")
                    totals["errors"] += chunk.count(b'"error":{"code"')
                    if not chunk or state[1] >= replies:
                        selector.unregister(connection)
                        continue
                if events & selectors.EVENT_WRITE:
                    state[0] += connection.send(view[state[0]:])
                    if state[0] == len(data):
                        state[0], sent = 0, not repeat
            except BlockingIOError:
                pass
            except OSError:
                # The daemon has closed the connection; a line with the reason may still be readable.
                sent = True
            if sent and read:
                selector.modify(connection, selectors.EVENT_READ, state)
            elif sent:
                selector.unregister(connection)
    if burst or not read:
        time.sleep(max(0, end - time.monotonic()))
    return totals


def connect_and_close(path, seconds):
    """Connects and closes as fast as possible."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
            connection.setblocking(False)
            connection.connect(str(path))
    return collections.Counter()


# Measuring


class Report:
    """The figures of an attack, and its missed goals. With --structure, goals that depend on time are not missed."""

    def __init__(self, options):
        self.structure, self.figures, self.notes, self.missed = options.structure, [], [], []

    def miss(self, condition, text, timed=False):
        if condition and not (timed and self.structure):
            self.missed.append(text)

    def row(self, name):
        missed = [f"MISSED: {', '.join(self.missed)}"] if self.missed else []
        return Row(name, ", ".join(self.figures), met=not self.missed, note="; ".join([*missed, *self.notes]))


def lasting(options, seconds=LASTING):
    """The seconds of an attack, which --structure limits."""
    return min(seconds, 3) if options.structure else seconds


def measure(options, server, attackers=(), pause=0.003, disk=FROM_DISK, peak=PEAK_GOAL, new=False,
            during=lambda report: None, stop=False):
    """Runs attackers, each a user id, a function and its arguments, beside the victim.

    `new`: whether the victim also opens connections. `stop`: whether the daemon is ended during the attack.
    Returns the report and the sums of what the attackers counted.
    """
    report, totals = Report(options), collections.Counter()
    connections = {"memory": ([FACT_RANDOM], pause), "disk": (disk, pause)} | ({"new": ([], 0.02)} if new else {})
    victims = {name: Worker(VICTIM, victim, server.path, *how, priority=0 if options.structure else -15)
               for name, how in connections.items()}
    time.sleep(LEAD)
    cpu, begin = cpu_seconds(server.process.pid), time.monotonic()
    workers = [Worker(uid, function, server.path, *arguments) for uid, function, *arguments in attackers]
    during(report)
    for worker in [] if stop else workers:
        result = worker.result()
        report.miss(result is None, "an attacker failed")
        totals.update(result or {})
    for name, worker in victims.items():
        samples, failed = worker.stop() or ([], 1)
        times = [taken for moment, taken in samples if moment >= begin]
        longest, percentile99 = max(times, default=math.nan), percentile(times)
        report.figures.append(f"{name} {longest:.1f}/{percentile99:.1f} ms")
        goal = {"memory": MEMORY_GOAL, "disk": DISK_GOAL}.get(name, math.inf)
        report.miss(not longest < goal, name, timed=True)
        report.miss(failed, f"{failed} of the victim's requests ({name}) failed")
    mebibytes = server.memory("VmHWM") / (1 << 20)
    report.miss(not mebibytes < peak, f"VmHWM over {peak} MiB")
    report.figures += [f"{mebibytes:.1f} MiB", f"CPU {cpu_seconds(server.process.pid) - cpu:.1f} s"]
    report.notes += [f"{totals[name]} {name}" for name in ["opened", "EAGAIN", "replies", "errors"] if totals[name]]
    report.miss("items" not in server.reply("fact.random").get("result", {}), "answers no more")
    if stop:
        end = server.end()
        report.figures.append(f"end {end:.0f} ms")
        report.miss(not end < END_GOAL, "end", timed=True)
        for worker in workers:
            worker.kill()
    report.miss(server.process.poll(), f"ended with {server.process.poll()}")
    return report, totals


# Attacks of a user


@dataclasses.dataclass
class Attack:
    """Data that users send, each on some connections, and what is stored before, with a number of disabled sources."""
    data: bytes = INFO
    connections: int = 1
    users: int = 1
    seconds: float = 15
    read: bool = True
    repeat: bool = False
    replies: float = 1
    peak: int = PEAK_GOAL
    disk: list = dataclasses.field(default_factory=lambda: FROM_DISK)
    prepare: typing.Callable = lambda server: None
    posts: int = 0
    disabled: int = 0

    def run(self, options, folder):
        document = replied(rss(item(number, more=f"<author>author {number}</author>") for number in range(self.posts)))
        with Upstream(lambda *_: document) as upstream:
            sources = {f"s{number}": feed(upstream.url, refresh="24h") for number in range(5 if self.posts else 0)}
            sources |= {f"d{number}": feed(upstream.url, enabled=False) for number in range(self.disabled)}
            with daemon(folder, {**OFFLINE, "posts": {"sources": sources}}) as server:
                if self.posts:
                    wait_for(server.has_content, "the posts")
                self.prepare(server)
                seconds = lasting(options) if self.repeat or not self.read else self.seconds
                attacker = [flood, self.connections, self.data, seconds, self.read, self.replies, self.repeat]
                report, _ = measure(options, server, [(uid, *attacker) for uid in ATTACKERS[:self.users]],
                                    disk=self.disk, peak=self.peak)
                return report


def endless(data, **others):
    """An attack by five users on 50 connections each, again and again."""
    return Attack(data, **{"connections": 50, "users": 5, "repeat": True, "replies": math.inf, **others})


def held(data, **others):
    """An attack by 16 users on 250 connections each, who do not read."""
    return Attack(data, **{"connections": 250, "users": 16, "read": False, "peak": HELD_GOAL, **others})


def notifications(method, connections):
    """Notifications in a pipeline, which make replies that nobody gets, and one request."""
    line = json.dumps({"jsonrpc": "2.0", "method": method}).encode() + b"\n"
    return Attack(line * (NOTIFICATIONS // len(line)) + INFO, connections)


def lines(*calls):
    """The bytes of several requests."""
    return b"".join(request(method, **parameters).encode() + b"\n" for method, parameters in calls)


def import_favorites(path):
    """Stores 64 posts with texts of 64,000 characters as favorites."""
    with Client(path) as client:
        for number in range(64):
            post = {"id": f"town:{number}", "source": "town", "author": {"id": "town:a", "name": "A"},
                    "text": "x" * 64_000, "tags": [], "images": [], "stats": {}, "read": False}
            item = {"kind": "post", "id": post["id"], "title": "t", "added_at": "2026-01-01T00:00:00Z", "post": post}
            client.reply("favorite.import", items=[item])


def favorites_batch(read):
    """Batches of two pages of 6 MB, by a user with many favorites who reads them or does not."""
    page = request("favorite.list", limit=100).encode()
    return Attack(b"[" + page + b"," + page + b"]\n", 250, read=read,
                  prepare=lambda server: Worker(ATTACKERS[0], import_favorites, server.path).result())


def costly(members):
    """Requests of 64 KB with members that take long to parse."""
    return endless(b'{"jsonrpc":"2.0","id":1,"method":"fact.random",%s}\n' % members)


BATCH = b"[" + b",".join([request("fact.random", count=100).encode()] * 64) + b"]\n"
ESCAPED = b",".join(b'"\\u006b%d":1' % number for number in range(4_000))
QUERIES = [" ".join("abcdefghijklmnop"), '"' * 900, "x" * 1_000, " " * 60_000 + "a", '"' + "a " * 490 + '"',
           "a" + "\u0301" * 900, "x" * 65_000, "a " * 30_000]
FAVORITES = [("favorite." + verb, {"kind": "post", "id": f"a:{number}"}) for number in range(50)
             for verb in ["add", "remove"]]
METHODS = {"metrics": "server.metrics", "discover": "rpc.discover", "status": "server.status"}
SIMPLE = {
    **{f"notifications-{name}{suffix}": notifications(method, count) for name, method in METHODS.items()
       for suffix, count in [("", 1), ("-8", 8)]},
    "favorites-batch-read": favorites_batch(True),
    "favorites-batch-unread": favorites_batch(False),
    "floods-read": endless(RANDOM * 1000, connections=200, users=1),
    "floods-unread": endless(RANDOM * 1000, connections=200, users=1, read=False),
    "batches": endless(BATCH, connections=100, users=1),
    "half-lines": Attack(b"x" * 65_000, 250, read=False),
    "long-line": Attack(b"x" * (200 << 20) + b"\n"),
    "searches": endless(lines(*[("fact.search", {"query": a + b}) for a in "abcdefgh" for b in "aeiou"])),
    "queries": endless(lines(*[("fact.search", {"query": query}) for query in QUERIES])),
    "writes": endless(lines(*FAVORITES), disk=[request("recent.list"), *FROM_DISK]),
    "marks-unknown": endless(lines(*[("post.mark_read", {"ids": [f"s0:{each}" for each in range(first, first + 3000)]})
                                     for first in range(0, 20_000, 3000)]), posts=2_000, disk=POSTS_FROM_DISK),
    "marks-all": endless(lines(("post.mark_read", {"all": True})), posts=2_000, disk=POSTS_FROM_DISK),
    **{f"sources-{name}": endless(lines((METHODS[name], {})), disabled=1_000) for name in ["metrics", "status"]},
    "lists": endless(lines(("author.list", {}), ("post.list", {"unread": True}), ("post.list", {"author": "zzz"})),
                     users=1, posts=2_000, disk=POSTS_FROM_DISK),
    "held-half-lines": held(b"x" * 65_000, peak=PEAK_GOAL),
    "held-half-batches": held(b"[" + INFO[:-1] + b"," + b"x" * 64_000),
    "held-discover": held(lines(("rpc.discover", {})) * 200),
    "held-searches": held(lines(("fact.search", {"query": "norris"})) * 700),
    "held-events": held(lines(("event.subscribe", {})) + INFO * 10 + b"x" * 60_000),
    "held-ids": held(b'{"jsonrpc":"2.0","id":"' + b"i" * 60_000 + b'","method":"server.info"}\n'),
    "held-batches": held(BATCH + b"x" * 60_000),
    "costly-keys": costly(ESCAPED),
    "costly-nested": costly(b'"x":%s{%s}%s' % (b'{"\\u0061":' * 25, ESCAPED, b"}" * 25)),
    "costly-arrays": costly(b'"x":[%s]' % b",".join([b"[[[]]]"] * 9_000)),
    "costly-numbers": costly(b'"x":[%s]' % b",".join([b"1e-300"] * 9_000)),
    "costly-text": costly(b'"x":"%s"' % (b"\\ud83d\\ude00" * 5_000)),
}


def connects(options, folder):
    """1,000 connects of five users at once, while the victim connects too."""
    with daemon(folder) as server:
        each = [flood, 200, INFO, 3, True, 1, False, True, time.monotonic() + LEAD + 0.5]
        report, totals = measure(options, server, [(uid, *each) for uid in ATTACKERS[:5]], new=True)
        served = totals["replies"] - totals["errors"]
        report.miss(served < 1000, f"{1000 - served} of 1000 not served")
        report.miss(totals["EAGAIN"], "the queue of connections was full")
        return report


def connect_close(options, folder):
    """Connections that are closed at once, while the victim connects."""
    with daemon(folder) as server:
        return measure(options, server, [(ATTACKERS[0], connect_and_close, lasting(options))], new=True)[0]


def descriptors(options, folder):
    """More connections than norrisd has descriptors: each gets its line, and the daemon does not spin."""
    def watch(report):
        time.sleep(1)
        used = cpu_seconds(server.process.pid)
        time.sleep(3)
        used = cpu_seconds(server.process.pid) - used
        report.notes.append(f"CPU {used:.2f} s in 3 s")
        report.miss(not used < IDLE_CPU, "spins", timed=True)

    with daemon(folder, under=["prlimit", "--nofile=128:128"]) as server:
        # One process keeps all connections open until each has its line.
        attacker = (ATTACKERS[0], flood, 200, INFO, 20 if options.structure else 5, True, 1, False, True)
        report, totals = measure(options, server, [attacker], pause=0.05, during=watch)
        report.miss(totals["opened"] > totals["replies"], "a connection got no line")
        report.miss(not totals["errors"], "the daemon had descriptors for all")
        return report


SPECIAL = {"connects": connects, "connect-close": connect_close, "descriptors": descriptors}


def attacks(folder, options):
    """latencies of one user, and norrisd's memory, while other users flood it (as root)"""
    need_root()
    runs = {"quiet": Attack(seconds=LASTING).run, **{name: attack.run for name, attack in SIMPLE.items()}, **SPECIAL}
    rows = []
    for name in chosen(runs, options):
        rows.append(runs[name](options, folder / name).row(name))
        print(f"attacks: {name}: {rows[-1].figure} {rows[-1].note}", flush=True)
    return rows


# Attacks of an upstream


def gzip_bomb():
    """512 MiB of spaces in a gzipped feed."""
    compressor = zlib.compressobj(9, wbits=31)
    chunks = [rss("")[:-16].encode(), *[b" " * (1 << 20)] * 512]
    return b"".join([*map(compressor.compress, chunks), compressor.flush()])


def statuses():
    """15 MiB of statuses of Mastodon with 99,000 characters each."""
    status = {"account": {"id": "1", "username": "u"}, "content": "<a href='" * 11_000}
    return json.dumps([{**status, "id": str(number)} for number in range(150)])


def xml_base():
    """An xml:base of 50 KB over 9,000 elements."""
    elements = '<i xml:base="a/"/>' * 9_000
    return (f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h.example/{"x/" * 25_000}">'
            f"<entry><id>1</id><title>t</title>{elements}</entry></feed>")


def latin1():
    """15 MiB of Latin-1, each letter of which takes two bytes in UTF-8."""
    items = (item(number, "é" * 100_000) for number in range(150))
    return rss(items).replace('"1.0"', '"1.0" encoding="iso-8859-1"', 1).encode("latin-1")


# The document, and the number of sources that are fetched at once. The name of one for Mastodon's API is `statuses`.
DOCUMENTS = {
    "xml-base": (xml_base, 2),
    "html-nesting": (lambda: rss([item(1, "&lt;div>" * 300_000)]), 2),
    "gzip-bomb": (gzip_bomb, 8),
    "latin1": (latin1, 8),
    "tiny-items": (lambda: rss(f"<item><guid>{number}</guid></item>" for number in range(99_000)), 8),
    "statuses": (statuses, 2),
}


def endless_tags(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n<rss version='2.0'><channel>")
    while True:
        connection.sendall(b"<item><description>" * 3_000)


def drip(connection):
    """A byte a second."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        connection.sendall(b" ")
        time.sleep(1)


def changed_facts(number):
    """90,000 facts, each with another text at each fetch."""
    return replied({"total": 90_000, "result": [{"id": f"f{each}", "value": f"Fact {each} of fetch {number}."}
                                                for each in range(90_000)]})


def changed_posts(number):
    return replied(rss(item(each, f"Fetch {number}.") for each in range(20_000)))


def invented_categories(number):
    """1,000 facts with 60 categories each that no other fact has."""
    return replied({"total": 1_000, "result": [
        {**fact(each), "categories": [f"c{number}-{each}-{one}" for one in range(60)]} for each in range(1_000)]})


def hostile(options, folder, reply, count=1, kind="feed", path="/hostile", peak=PEAK_GOAL):
    """Measures the victim, the memory of norrisd and a feed beside that is due every second, while an upstream sends a
    reply (a function of the number of the request) to `count` sources each second. The daemon is ended under way."""
    released, numbers = threading.Event(), itertools.count()

    def answer(target, fields):
        if target.startswith("/beside"):
            tag = {"ETag": '"1"'}
            return (304, tag, b"") if fields["If-None-Match"] else replied(rss([item(1)]), **tag)
        if target.startswith(path):
            released.wait(TIMEOUT - 1)
            return reply(next(numbers))
        return content(target)

    # New sources that hang may take all fetches until each has failed once.
    goal = TIMEOUT * math.ceil(count / AT_A_TIME) + 3
    with Upstream(answer) as upstream:
        sources = {f"hostile{number}": feed(f"{upstream.url}/hostile{number}", kind=kind, refresh="1s")
                   for number in range(count if path == "/hostile" else 0)}
        facts = {"enabled": path.startswith("/jokes"), "base_url": upstream.url, "refresh": "1s"}
        setting = {**OFFLINE, "facts": facts, "http": {"timeout": f"{TIMEOUT}s", "host_gap": "0s"},
                   "posts": {"sources": {"beside": feed(upstream.url + "/beside", refresh="1s"), **sources}}}
        with daemon(folder, setting) as server:
            wait_for(lambda: server.items("beside"), "the feed beside")

            def during(report):
                begin = time.monotonic()
                released.set()
                time.sleep(goal + 2)
                pause = upstream.longest_pause("/beside", begin, time.monotonic())
                report.figures.append(f"beside {pause:.1f} s")
                report.miss(pause > goal, "beside", timed=True)
                state = server.sources()["facts" if path != "/hostile" else "hostile0"]
                error = state["freshness"]["error"]
                report.notes.append(error["message"] if error else f"{state['items']:,} items")

            return measure(options, server, during=during, disk=POSTS_FROM_DISK, peak=peak, stop=True)[0]


def sent(make, kind):
    """Returns a function that replies with a document, which is made once."""
    body = make()
    coded = {"Content_Encoding": "gzip"} if body[:2] == b"\x1f\x8b" else {}
    reply = replied(body, "application/json" if kind == "mastodon" else None, **coded)
    return lambda number: reply


def feeds(folder, options):
    """hostile feeds, endless ones, and large imports: memory, delays for users and for another feed (as root)"""
    need_root()
    runs = {"endless-tags": lambda place: hostile(options, place, lambda _: endless_tags, 2),
            "drip": lambda place: hostile(options, place, lambda _: drip, 8),
            "changed-facts": lambda place: hostile(options, place, changed_facts, path="/jokes/search"),
            "categories": lambda place: hostile(options, place, invented_categories, path="/jokes/search"),
            "changed-posts": lambda place: hostile(options, place, changed_posts)}
    for name, (make, count) in DOCUMENTS.items():
        kind = "mastodon" if name == "statuses" else "feed"
        runs[name] = lambda place, make=make, count=count, kind=kind: hostile(
            options, place, sent(make, kind), count, kind)
    rows = []
    for name in chosen(runs, options):
        rows.append(runs[name](folder / name).row(name))
        print(f"feeds: {name}: {rows[-1].figure} {rows[-1].note}", flush=True)
    return rows

#!/usr/bin/env python3
"""Measures what one user notices during attacks on norrisd's stored data and memory, and during failures of its clock and disk.

Usage: Scripts/benchmarks/attacks_store.py [--structure] [--programs DIR] [NAME...]     (as root; as attacks.py)

many-facts and hung run only if named: the second needs bindfs(1).
"""

import functools
import itertools
import json
import math
import multiprocessing
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time

import attacks
from attacks import ATTACKERS, LIFETIME, Daemon, Report, Worker, exchange, lasting, measure, patience, request
from attacks_upstream import RSS, Upstream, answer, ask, configuration, source

USERS = range(61001, 61041)
ATTACK = 6  # seconds
HELD_GOAL = 224  # MiB: all memory of the daemon, including memory for peers
LEFT_GOAL, LEFT_WITHIN = 64, 70  # MiB, seconds after the peers have gone
LIST = [request("post.list") + b"\n", request("favorite.list") + b"\n", *attacks.FROM_DISK]


def endless(uid, count, data, read=True):
    """Returns an attacker that sends data on `count` connections during the whole attack."""
    return (uid, exchange, count, data, math.inf, LIFETIME - 5, read, math.inf)


def under_way(report):
    time.sleep(lasting(ATTACK))


def besieged(daemon, attackers, **options):
    """Measures endless attackers, and ends the daemon during the attack."""
    report, _ = measure(daemon, attackers, during=under_way, stop=True, **options)
    return report


# Read marks


SOURCES, POSTS = 5, 20_000


def items(count, number=0):
    item = "<item><guid>{0}-{1}</guid><title>{1}</title></item>"
    return RSS.format("".join(item.format(number, each) for each in range(count)))


def lines_of(ids, method="post.mark_read"):
    """Returns requests with the ids, as many ids per line as fit."""
    size, per_line = 60_000, []
    while ids:
        count = size // (len(ids[0]) + 4)
        per_line.append(request(method, {"ids": ids[:count]}) + b"\n")
        ids = ids[count:]
    return per_line


def marks(name, programs):
    """Users mark posts as read repeatedly: one id, different ids, or all of 100,000 posts."""
    with Upstream({"/posts": lambda url, number: answer(items(POSTS))}) as upstream:
        names = [f"s{number}" for number in range(SOURCES)]
        sources = "".join(source(each, upstream, "/posts", refresh="24h") for each in names)
        with Daemon(programs, configuration(upstream, sources)) as daemon:
            for each in names:
                daemon.wait_for(each, lambda source: source["items"] == POSTS)
            post = daemon.call("post.list", {"source": names[0]})["items"][0]["id"]
            data = {
                "repeated": lines_of([post] * 10_000)[:1],
                "repeated-short": lines_of(["a"] * 20_000)[:1],
                "unknown": lines_of([f"s0:{number:05}" for number in range(20_000)]),
                "all": [request("post.mark_read", {"all": True}) + b"\n"],
            }[name]
            return besieged(daemon, [endless(uid, 4, b"".join(data)) for uid in ATTACKERS[:2]], disk=LIST)


LISTS = {"authors": ("author.list", {}), "author": ("post.list", {"author": "zzz"}),
         "unread": ("post.list", {"unread": True})}


def lists(name, programs):
    """A user lists the authors of 100,000 read posts, and filters that match none of the posts."""
    item = "<item><guid>{0}</guid><title>{0}</title><author>author {0}</author></item>"
    body = RSS.format("".join(map(item.format, range(POSTS))))
    with Upstream({"/posts": lambda url, number: answer(body)}) as upstream:
        names = [f"s{number}" for number in range(SOURCES)]
        sources = "".join(source(each, upstream, "/posts", refresh="24h") for each in names)
        with Daemon(programs, configuration(upstream, sources)) as daemon:
            for each in names:
                daemon.wait_for(each, lambda source: source["items"] == POSTS)
            Worker(ATTACKERS[0], ask, daemon.path, "post.mark_read", {"all": True}).result()
            return besieged(daemon, [endless(ATTACKERS[0], 4, request(*LISTS[name]) + b"\n")], disk=LIST)


def writes(programs):
    """Users add and remove favorites. Each change is a write to the disk."""
    with Daemon(programs) as daemon:
        facts = [fact["id"] for fact in daemon.call("fact.random", {"count": 100})["items"]]
        kept = [{"kind": "fact", "id": fact} for fact in facts]
        data = [request(method, each) + b"\n" for each in kept for method in ["favorite.add", "favorite.remove"]]
        disk = [*data[:2], request("recent.list") + b"\n", *attacks.FROM_DISK]
        return besieged(daemon, [endless(uid, 50, b"".join(data)) for uid in ATTACKERS], disk=disk)


def expiry(programs):
    """20,000 posts expire that 40 users have marked as read, post by post."""
    changed = multiprocessing.get_context("fork").Event()

    def posts(url, number):
        return answer(items(1, number) if changed.is_set() else items(POSTS))

    with Upstream({"/posts": posts}) as upstream:
        old = source("old", upstream, "/posts").replace("}}", ", keep: 1s}}")
        with Daemon(programs, configuration(upstream, old)) as daemon:
            daemon.wait_for("old", lambda source: source["items"] == POSTS)
            ids, page = [], {}
            while not ids or "next" in page:
                after = {"cursor": page["next"]} if page else {}
                page = daemon.call("post.list", {"source": "old", "limit": 100} | after)
                ids += [post["id"] for post in page["items"]]
            lines = lines_of(ids)
            users = USERS[:4] if attacks.STRUCTURE else USERS
            for four in itertools.zip_longest(*[iter(users)] * 4):
                each = (exchange, daemon.path, 1, b"".join(lines), 1, 30, True, len(lines))
                for worker in [Worker(uid, *each) for uid in four]:
                    worker.result()

            def during(report):
                changed.set()
                time.sleep(lasting(12))

            report, _ = measure(daemon, [], during=during, disk=LIST)
            left = next(each["items"] for each in daemon.call("server.status")["sources"] if each["name"] == "old")
            report.notes.append(f"{left} of {len(ids)} posts left")
            report.miss(left > POSTS / 2 and not attacks.STRUCTURE, "nothing expired")
            return report


# Memory for peers


def held(data, users, peak, programs):
    """Users send data on 250 connections each and do not read."""
    with Daemon(programs) as daemon:
        attackers = [(uid, exchange, 250, data, 1, 8, False) for uid in USERS[:users]]
        report, totals = measure(daemon, attackers, peak=peak)
        end, left = time.monotonic() + lasting(LEFT_WITHIN), math.inf
        while (left := daemon.memory()) > LEFT_GOAL and time.monotonic() < end:
            time.sleep(1)
        report.notes.append(f"{left:.0f} MiB left after {time.monotonic() - end + lasting(LEFT_WITHIN):.0f} s")
        report.miss(left > LEFT_GOAL and not attacks.STRUCTURE, "memory left")
        return report


def held_favorites(programs):
    """Users request pages of favorites of 2 MiB and do not read. Each page waits for the disk."""
    with Daemon(programs) as daemon:
        for uid in USERS[:16]:
            stored = Worker(uid, attacks.import_favorites, daemon.path, 24, 64_000).result()
        data = request("favorite.list", {"limit": 100}) + b"\n"
        attackers = [(uid, exchange, 250, data * 8, 1, 8, False) for uid in USERS[:16]]
        report, _ = measure(daemon, attackers, peak=HELD_GOAL)
        report.miss("failed" in stored, "the favorites were not stored")
        return report


SEARCH = request("fact.search", {"query": "norris"}) + b"\n"
HELD = {
    "half-lines-16": (b"x" * 65_000, 16, attacks.PEAK_GOAL),
    "half-batches-16": (b"[" + attacks.INFO[:-1] + b"," + b"x" * 64_000, 16, HELD_GOAL),
    "held-discover-16": ((request("rpc.discover") + b"\n") * 200, 16, HELD_GOAL),
    "held-searches-16": (SEARCH * 700, 16, HELD_GOAL),
    "held-events-16": (request("event.subscribe") + b"\n" + attacks.INFO * 10 + b"x" * 60_000, 16, HELD_GOAL),
    "held-ids-16": (b'{"jsonrpc":"2.0","id":"' + b"i" * 60_000 + b'","method":"server.info"}\n', 16, HELD_GOAL),
    "held-batches-16": (b"[" + b",".join([request("fact.random", {"count": 100})] * 64) + b"]\n" + b"x" * 60_000, 16,
                        HELD_GOAL),
}


# Expensive lines


def members(count, key):
    return b",".join(b'"%s%d":1' % (key, number) for number in range(count))


def padded(inner):
    return b'{"jsonrpc":"2.0","id":1,"method":"fact.random",%s}\n' % inner


ESCAPED = b"\\u006b"
KEYS = {
    "keys": padded(members(4_000, ESCAPED)),
    "keys-params": padded(b'"params":{%s}' % members(4_000, ESCAPED)),
    "keys-nested": padded(b'"x":%s{%s}%s' % (b'{"\\u0061":' * 25, members(4_000, ESCAPED), b"}" * 25)),
    "keys-batch": b"[" + b",".join([padded(members(70, ESCAPED))[:-1]] * 64)[:64_000].rsplit(b",{", 1)[0] + b"]\n",
    "keys-long": padded(b",".join(b'"%s%d":1' % (b"\\u006b" * 80, number) for number in range(120))),
    "keys-objects": padded(b'"x":[%s]' % b",".join([b'{"\\u0061":1,"\\u0062":2}'] * 2_400)),
    "keys-arrays": padded(b'"x":[%s]' % b",".join([b"[[[]]]"] * 9_000)),
    "keys-numbers": padded(b'"x":[%s]' % b",".join([b"1e-300"] * 9_000)),
    "keys-digits": padded(b'"x":%s' % (b"1" * 60_000)),
    "keys-text": padded(b'"x":"%s"' % (b"\\ud83d\\ude00" * 5_000)),
}
assert all(len(line) <= 65_537 for line in KEYS.values())


def keys(name, programs):
    with Daemon(programs) as daemon:
        return besieged(daemon, [endless(uid, 50, KEYS[name]) for uid in ATTACKERS])


QUERIES = {
    "letters": " ".join("abcdefghijklmnop"), "quotes": '"' * 900, "long": "x" * 1_000, "spaces": " " * 60_000 + "a",
    "phrase": '"' + "a " * 490 + '"', "marks": "a" + "\u0301" * 900, "huge": "x" * 65_000, "words": "a " * 30_000,
}


def queries(programs):
    """Users search facts and GIFs with queries of many forms."""
    data = b"".join(request(method, {"query": query, **options}) + b"\n" for query in QUERIES.values()
                    for method, options in [("fact.search", {}), ("gif.search", {"offline": True})])
    with Daemon(programs) as daemon:
        return besieged(daemon, [endless(uid, 50, data) for uid in ATTACKERS])


# As many facts as fit


def many_facts(programs):
    """One user runs four searches at a time in 199,000 facts."""
    import store  # Imported here, because the other attacks need no compiler.

    size = 20_000 if attacks.STRUCTURE else 199_000
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        store.generate(pathlib.Path(folder, "facts"), size)
        with Daemon(programs, f"facts: {{{{enabled: false, fortunes: ['{folder}/facts']}}}}") as daemon:
            daemon.wait_for("facts", lambda source: source["items"] >= size, seconds=900)
            time.sleep(lasting(5))
            texts = [store.ABSENT, f"{store.COMMON} {store.OTHER_COMMON}", "qx", "an zy qx", "a e i o u b d f g k"]
            data = b"".join(request("fact.search", {"query": text}) + b"\n" for text in texts)
            victims = [request("fact.search", {"query": store.RARE}), request("favorite.list"),
                       request("fact.random", {"source": "all", "count": 10}), request("post.list"),
                       request("fact.search", {"query": store.COMMON, "category": "rare"})]
            return besieged(daemon, [endless(ATTACKERS[0], 4, data)], disk=[line + b"\n" for line in victims])


# The client


def client_replies(programs):
    """A server answers norrisctl with invalid replies."""
    report = Report()
    fact = {"items": [{"id": "a", "text": "SHOWN", "categories": [], "source": "builtin"}],
            "freshness": {"origin": "builtin", "state": "fresh", "error": None}}
    event = {"jsonrpc": "2.0", "method": "event",
             "params": {"topic": "server", "phase": "ok", "at": "2026-01-01T00:00:00Z"}}
    good = lambda id: {"jsonrpc": "2.0", "id": id, "result": fact}
    # The sent lines, and whether norrisctl shows the fact; None if both are correct.
    cases = {
        "another id": (lambda id: [good(id + 1)], False),
        "the id as text": (lambda id: [good(str(id))], False),
        "the id null": (lambda id: [good(None)], False),
        "no id": (lambda id: [{"jsonrpc": "2.0", "result": fact}], False),
        "no version": (lambda id: [{"id": id, "result": fact}], None),
        "result and error": (lambda id: [good(id) | {"error": {"code": -32603, "message": "m"}}], None),
        "an event first": (lambda id: [event, good(id)], None),
        "a thousand events": (lambda id: [event] * 1000 + [good(id)], None),
        "two replies": (lambda id: [good(id), good(id + 1)], True),
        "another id first": (lambda id: [good(id + 1), good(id)], False),
        "a batch": (lambda id: [[good(id)]], False),
    }
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/sock")
        server.listen()
        for name, (make, shown) in cases.items():
            def serve():
                connection, _ = server.accept()
                with connection:
                    id = json.loads(attacks.reply_line(connection))["id"]
                    connection.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in make(id)))

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            command = [programs / "norrisctl", "--socket", f"{folder}/sock", "fact", "--timeout", "2s"]
            result = subprocess.run(command, env={"HOME": folder}, capture_output=True, timeout=patience(20))
            thread.join(patience(5))
            report.notes.append(f"{name}: {result.returncode}")
            printed = b"SHOWN" in result.stdout
            report.miss(shown not in (None, printed), name)
            report.miss((result.returncode == 0) != printed, f"{name}: status {result.returncode}")
            report.miss(result.returncode < 0 or b"Fatal" in result.stderr, f"{name} ends it")
    return report


# The disk


def hung(programs):
    """The cache is on a file system that hangs. The daemon still serves its status and content in memory."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ["below", "mounted"]:
            pathlib.Path(folder, name).mkdir()
        mounted = f"{folder}/mounted"
        process = subprocess.Popen(["bindfs", "-f", f"{folder}/below", mounted])
        try:
            while not os.path.ismount(mounted):
                time.sleep(0.05)
            with Daemon(programs, cache=f"{mounted}/cache") as daemon:
                daemon.call("fact.search", {"query": "kick"})
                lines = [request("server.status") + b"\n", request("server.metrics") + b"\n", attacks.INFO]

                def during(report):
                    # Simulates a network file system without its server.
                    os.kill(process.pid, signal.SIGSTOP)
                    time.sleep(8)
                    os.kill(process.pid, signal.SIGCONT)

                report, _ = measure(daemon, [], disk=lines, during=during)
                os.kill(process.pid, signal.SIGSTOP)
                timer = threading.Timer(20, os.kill, [process.pid, signal.SIGCONT])
                timer.start()
                end = daemon.end()
                timer.cancel()
                report.notes.append(f"end {end:.0f} ms")
                return report
        finally:
            os.kill(process.pid, signal.SIGCONT)
            process.terminate()
            process.wait(10)


ALWAYS = {
    **{f"marks-{name}": functools.partial(marks, name) for name in ["repeated", "repeated-short", "unknown", "all"]},
    "expiry": expiry,
    **{name: functools.partial(held, *how) for name, how in HELD.items()},
    "held-favorites-16": held_favorites,
    **{name: functools.partial(keys, name) for name in KEYS},
    "queries": queries,
    "client-replies": client_replies,
    "writes": writes,
    **{f"lists-{name}": functools.partial(lists, name) for name in LISTS},
}
ATTACKS = ALWAYS | {"many-facts": many_facts, "hung": hung}


if __name__ == "__main__":
    attacks.main(ATTACKS, __doc__, ALWAYS)

"""Memory, many connections, wake-ups, and what many users store."""

import collections
import contextlib
import json
import pathlib
import resource
import socket
import struct
import time

from harness import (FACT_RANDOM, OFFLINE, Client, Row, Upstream, Worker, compared, compiled, daemon, feed,
                     in_turn, item, loaded, need_root, replied, request, rss, value, wait_for)

IDLE, AT_ONCE, SECONDS_IDLE = 4096, 1000, 60
MANY_CONNECTIONS = {**OFFLINE, "limits": {"connections": 8192, "connections_per_user": 8192}}

FIRST_USER = 100_000
STATE_LIMIT = 80  # MiB of state.db: 64 for all users, and free pages of SQLite
LINE = 60_000  # bytes of ids in a request


def memory(folder, options):
    """anonymous memory of norrisd, beside it 4,096 idle connections, and 1,000 connects at once"""
    load = compiled(folder, "load")
    # The daemon inherits the limit of open files.
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        server = stack.enter_context(daemon(folder / "idle", MANY_CONNECTIONS))
        ready = server.memory()
        with server.connect() as client:
            client.repeat(FACT_RANDOM, 1000)
        after = server.memory()
        p99 = {"alone": [loaded(load, server.path)[2] for _ in range(options.runs)]}
        before = server.memory()
        for _ in range(IDLE):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            # Limits the wait of a connect while the backlog is full.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 10, 0))
            connection.connect(str(server.path))
        # The kernel queues connections in order, so all are accepted when the last has a reply.
        connection.settimeout(30)
        connection.sendall(FACT_RANDOM.encode() + b"\n")
        connection.recv(1)
        each = (server.memory() - before) / IDLE
        p99["beside"] = [loaded(load, server.path)[2] for _ in range(options.runs)]
        failures = in_turn(options.runs, {"connects": lambda: refused(folder / "connects")})["connects"]
    return [
        value("norrisd, RssAnon when ready", [ready / 1e6], "MB"),
        value("norrisd, RssAnon after 1,000 requests", [after / 1e6], "MB"),
        value(f"norrisd, RssAnon of each of {IDLE:,} idle connections", [each], "bytes"),
        value(f"p99 beside {IDLE:,} idle connections", p99["beside"], "ms", at_most=50),
        compared(f"p99 beside {IDLE:,} idle connections / alone", p99["beside"], p99["alone"], "ms"),
        value(f"{AT_ONCE:,} connects at once, refused", [max(failures)], "", at_most=0),
    ]


def refused(folder):
    """Returns the number of simultaneous connects that fail or get no result for a request."""
    with daemon(folder, MANY_CONNECTIONS) as server, contextlib.ExitStack() as stack:
        connections = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(AT_ONCE)]
        for connection in connections:
            connection.setblocking(False)
        path, served = str(server.path), 0
        for connection in [each for each in connections if each.connect_ex(path) == 0]:
            connection.settimeout(10)
            with contextlib.suppress(OSError):
                connection.sendall(FACT_RANDOM.encode() + b"\n")
                served += b'"result"' in connection.recv(65_536)
    return AT_ONCE - served


def idle(folder, options):
    """wake-ups of an idle norrisd in 60 seconds, and its threads"""
    with daemon(folder / "norrisd") as server:

        def wake_ups():
            """Returns the voluntary context switches so far, by number and name of the thread."""
            counts = {}
            for task in pathlib.Path(f"/proc/{server.process.pid}/task").iterdir():
                # The thread may have ended.
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    fields = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
                    counts[int(task.name), fields["Name"].strip()] = int(fields["voluntary_ctxt_switches"])
            return counts

        time.sleep(15)
        begin = wake_ups()
        time.sleep(SECONDS_IDLE)
        counts = {thread: count - begin.get(thread, 0) for thread, count in sorted(wake_ups().items())}
    names = ", ".join(f"{name} {count}" for (_, name), count in counts.items())
    return [
        value(f"norrisd idle, wake-ups in {SECONDS_IDLE} s", [sum(counts.values())], "", at_most=6),
        value("norrisd idle, threads", [len(counts)], "", note=f"wake-ups of each: {names}"),
    ]


def users(folder, options):
    """1,000 user ids store all they can, except favorites: the size of state.db"""
    need_root()
    document = replied(rss(item(number) for number in range(2_000)))
    with Upstream(lambda *_: document) as upstream:
        setting = {**OFFLINE, "posts": {"sources": {f"s{number}": feed(upstream.url) for number in range(10)}}}
        with daemon(folder / "home", setting) as server:
            wait_for(server.has_content, "the posts", timeout=60)
            ids = [post["id"] for post in server.pages("post.list", limit=100)]
            results = [Worker(FIRST_USER + number, store_everything, server.path, ids).result()
                       for number in range(options.users)]
    codes = sum((collections.Counter(codes) for _, codes in filter(None, results)), collections.Counter())
    errors = ", ".join(f"{count} × {code}" for code, count in sorted(codes.items()))
    note = f"{len(ids):,} posts, {sum(marked for marked, _ in filter(None, results)):,} marked; errors: {errors or 'none'}"
    # SQLite has written its log back into the file at the end.
    figure = (folder / "home/state/state.db").stat().st_size / (1 << 20)
    return [Row(f"users: state.db after {options.users} users", f"{figure:.1f} MiB", goal=f"<= {STATE_LIMIT} MiB",
                met=figure <= STATE_LIMIT and None not in results, note=note)]


def store_everything(path, ids):
    """Stores all kinds of data of a user: searches, read marks, shuffles, served items. Returns the number of marked posts
    and the codes of errors."""
    per_line = LINE // (len(ids[0]) + 3)
    # If norrisd refuses the first query, the second query has the maximum length.
    calls = [("gif.search", {"query": letter * length, "offline": True}) for letter in "abcdef"
             for length in [65_000, 1_000]]
    calls += [("post.mark_read", {"ids": ids[first:first + per_line]}) for first in range(0, len(ids), per_line)]
    calls += [("post.mark_read", {"all": True}), ("post.get", {"id": ids[0]})]
    calls += [("fact.random", {"max_length": 100 + length, "name": "N" * 64}) for length in range(64)]
    marked, codes = 0, collections.Counter()
    with Client(path) as client:
        for method, parameters in calls:
            reply = json.loads(client.ask(request(method, **parameters)))
            marked += reply.get("result", {}).get("marked", 0)
            if "error" in reply:
                codes[reply["error"]["code"]] += 1
    return marked, dict(codes)

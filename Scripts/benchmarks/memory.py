"""Memory, many connections, and wake-ups."""

import contextlib
import pathlib
import resource
import socket
import struct
import time

from harness import FACT_RANDOM, OFFLINE, compared, compiled, daemon, in_turn, loaded, value

IDLE, AT_ONCE, SECONDS_IDLE = 4096, 1000, 60
MANY_CONNECTIONS = {**OFFLINE, "limits": {"connections": 8192, "connections_per_user": 8192}}


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

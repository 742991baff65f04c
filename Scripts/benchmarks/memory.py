"""Measures norrisd with little or no load: memory, many connections, wake-ups."""

import contextlib
import pathlib
import resource
import socket
import struct
import time

from harness import BUILT_IN_FACTS, FACT_RANDOM, Failure, compared, compiled, daemon, exchange, in_turn, load, value

IDLE = 4096
AT_ONCE = 1000
MANY_CONNECTIONS = BUILT_IN_FACTS + "limits: {connections: 8192, connections_per_user: 8192}\n"
SECONDS_IDLE = 60


def memory(folder, options):
    "anonymous memory of norrisd, beside it 4,096 idle connections, and 1,000 connects at once"
    program = compiled(folder, "load")
    # The daemon inherits the limit.
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    try:
        return connections(folder, options, program)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def connections(folder, options, program):
    with daemon(folder / "idle", MANY_CONNECTIONS) as server, contextlib.ExitStack() as stack:
        ready = server.anonymous_memory()
        with server.connect() as connection:
            exchange(connection, FACT_RANDOM, 1000)
        after = server.anonymous_memory()
        p99 = {"alone": [load(program, server.path)[2] for _ in range(options.runs)]}
        before = server.anonymous_memory()
        for _ in range(IDLE):
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            # Limits the wait of a connect while the backlog is full.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 10, 0))
            connection.connect(str(server.path))
        # The kernel queues connections in order, so all are accepted when the last has a reply.
        connection.settimeout(30)
        exchange(connection, FACT_RANDOM, 1)
        each = (server.anonymous_memory() - before) / IDLE
        p99["beside"] = [load(program, server.path)[2] for _ in range(options.runs)]
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
        path = str(server.path)
        connected = [connection for connection in connections if connection.connect_ex(path) == 0]
        served = 0
        for connection in connected:
            connection.settimeout(10)
            with contextlib.suppress(OSError, Failure):
                exchange(connection, FACT_RANDOM, 1)
                served += 1
    return AT_ONCE - served


def idle(folder, options):
    "wake-ups of an idle norrisd in 60 seconds, and its threads"
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

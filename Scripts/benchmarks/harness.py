"""Shared parts of the benchmarks: daemons and other processes, alternating measurements, and the table of results."""

import argparse
import contextlib
import dataclasses
import http.server
import json
import os
import pathlib
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = pathlib.Path(os.environ.get("NORRIS_PROGRAMS") or HERE.parents[1] / ".build" / "dist").resolve()
FACT_RANDOM = '{"jsonrpc":"2.0","id":1,"method":"fact.random"}'
# The measurements include no upstream.
BUILT_IN_FACTS = "facts: {enabled: false}\n"


class Failure(Exception):
    """An error that ends a benchmark."""


@dataclasses.dataclass
class Row:
    name: str
    figure: str
    peer: str = ""
    ratio: float | None = None
    goal: str = ""
    met: bool | None = None
    note: str = ""


def quantity(value, unit):
    digits = 0 if value >= 1000 or float(value).is_integer() else 1 if value >= 100 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def value(name, figures, unit, at_most=None, note=""):
    """Returns a row for the median of the figures, with a goal for the median."""
    figure = statistics.median(figures)
    goal, met = ("", None) if at_most is None else (f"<= {quantity(at_most, unit)}", figure <= at_most)
    return Row(name, quantity(figure, unit), goal=goal, met=met, note=note)


def compared(name, figures, peers, unit, at_most=None, at_least=None):
    """Returns a row for both medians and the median ratio of the pairs, with a goal for the ratio."""
    ratio = statistics.median(figure / peer for figure, peer in zip(figures, peers, strict=True))
    row = Row(name, *(quantity(statistics.median(values), unit) for values in (figures, peers)), ratio)
    if at_most is not None:
        row.goal, row.met = f"<= {at_most:.2f}", ratio <= at_most
    if at_least is not None:
        row.goal, row.met = f">= {at_least:.2f}", ratio >= at_least
    return row


def table(cells):
    """Prints lines of cells in columns. The first column contains names."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    for line in cells:
        numbers = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join([line[0].ljust(widths[0]), *numbers]).rstrip())


def show(rows):
    """Prints the table and the notes."""
    cells = [["name", "figure", "peer", "ratio", "goal", "met"]]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}" if row.ratio < 0.1 else f"{row.ratio:.2f}"
        cells.append([row.name, row.figure, row.peer, ratio, row.goal, {None: "", True: "yes", False: "NO"}[row.met]])
    table(cells)
    for row in rows:
        if row.note:
            print(f"{row.name}: {row.note}")


def in_turn(runs, measures, warm_up=0):
    """Runs A B B A A B …, so that each follows the other as often as itself; returns figures after the warm-up."""
    figures = {name: [] for name in measures}
    for number in range(warm_up + runs):
        for name, measure in list(measures.items())[::-1 if number % 2 else 1]:
            figure = measure()
            if number >= warm_up:
                figures[name].append(figure)
    return figures


def wall(command, environment, **streams):
    """Returns the wall time of a process in milliseconds. The process must succeed."""
    streams = {"stdout": subprocess.DEVNULL, **streams}
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, **streams)
    # Popen.wait with a timeout sleeps between its checks for longer than the measured time.
    descriptor = os.pidfd_open(process.pid)
    try:
        select.select([descriptor], [], [], 30)
        milliseconds = (time.perf_counter() - begin) * 1000
    finally:
        os.close(descriptor)
        # kill has no effect on a process that has ended.
        process.kill()
        status = process.wait(10)
    if status != 0:
        raise Failure(f"{command[0].name} failed, or took longer than 30 s")
    return milliseconds


def load_command(program, path, request=FACT_RANDOM, connections=1, pipeline=1, seconds=1.5, newlines=1):
    return [program, path, request, *map(str, [connections, pipeline, seconds, newlines])]


def load(*arguments, **options):
    """Runs load.c; returns replies per second, and the 50th and 99th percentile in milliseconds."""
    output = subprocess.run(load_command(*arguments, **options), check=True, timeout=60, stdout=subprocess.PIPE).stdout
    return [float(word) for word in output.split()]


def compiled(folder, name, *flags):
    """Compiles a C program of this directory into `folder`; returns its path."""
    subprocess.run(["cc", "-O2", "-Wall", *flags, HERE / f"{name}.c", "-o", folder / name], check=True, timeout=60)
    return folder / name


@contextlib.contextmanager
def running(command, **options):
    """Starts a process and ends it at the end of the block."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)


def wait_for(condition, what, timeout=30):
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"timed out waiting for {what}")
        time.sleep(0.02)


def accepts(path):
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


@contextlib.contextmanager
def upstream(answer, port=0, context=None):
    """Serves HTTP on loopback, with a context over TLS, and yields the port. `answer` maps a path and headers to a
    status, headers and a body."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = answer(self.path, self.headers)
            self.send_response(status)
            for name, text in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, text)
            # The client may have disconnected.
            with contextlib.suppress(OSError):
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        if context:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


@contextlib.contextmanager
def effective_user(uid):
    """Connects as another user in the block, which needs root. norrisd receives the effective user id."""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(os.getuid())


def resident(pid, kind="RssAnon"):
    """Returns a kind of resident memory of a process in bytes. VmRSS is the sum."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(kind + ":")).split()[1]) * 1024


class Daemon:
    """A running norrisd with its socket, and the milliseconds of its start until ready and of its stop."""

    def __init__(self, process, path, start):
        self.process, self.path, self.start, self.stop = process, path, start, None
        self.timeout = 60  # seconds to wait for a reply

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(self.timeout)
        connection.connect(str(self.path))
        return connection

    def reply(self, method, **parameters):
        """Returns the complete reply, a result or an error."""
        with self.connect() as connection:
            connection.sendall(request(method, **parameters).encode() + b"\n")
            return json.loads(connection.makefile().readline() or "{}")

    def call(self, method, **parameters):
        reply = self.reply(method, **parameters)
        if "result" not in reply:
            raise Failure(f"{method}: {reply}")
        return reply["result"]

    def pages(self, method, **parameters):
        """Yields the items of all pages."""
        page = self.call(method, **parameters)
        yield from page["items"]
        while "next" in page:
            page = self.call(method, **parameters, cursor=page["next"])
            yield from page["items"]

    def anonymous_memory(self):
        return resident(self.process.pid)


def request(method, **parameters):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}, separators=(",", ":"))


def exchange(connection, request, count, pipeline=1):
    """Sends the request `count` times, `pipeline` at once, and reads the replies, which must be results."""
    line = request.encode() + b"\n"
    replies = connection.makefile("rb")
    while count > 0:
        batch = min(count, pipeline)
        connection.sendall(line * batch)
        for _ in range(batch):
            reply = replies.readline()
            if b'"result"' not in reply:
                raise Failure(f"{request}: {reply[:200]!r}")
        count -= batch


@contextlib.contextmanager
def daemon(folder, configuration=BUILT_IN_FACTS, under=(), timeout=30, programs=None, started=None, **environment):
    """Runs norrisd with all files in the folder, under another program if given, and yields it when it is ready.
    `started` is called with the process before that."""
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(configuration)
    (folder / "notify").unlink(missing_ok=True)
    command = [*under, (programs or PROGRAMS) / "norrisd", "--config", folder / "config.yaml",
               "--socket", folder / "sock", "--log-level", "warning"]
    for kind in ["state", "cache", "runtime"]:
        command += [f"--{kind}-dir", folder / kind]
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), **environment,
                 "NOTIFY_SOCKET": str(folder / "notify")}
    with contextlib.ExitStack() as stack:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(variables["NOTIFY_SOCKET"])
            # norrisd may run as another user.
            os.chmod(variables["NOTIFY_SOCKET"], 0o666)
            notify.settimeout(0.2)
            begin, messages = time.perf_counter(), b""
            process = stack.enter_context(running(command, env=variables))
            if started:
                started(process)
            while b"READY=1" not in messages:
                if process.poll() is not None or time.perf_counter() > begin + timeout:
                    raise Failure("norrisd ended early, or is not ready in time")
                with contextlib.suppress(TimeoutError):
                    messages = notify.recv(8192)
            start = (time.perf_counter() - begin) * 1000
        server = Daemon(process, folder / "sock", start)
        yield server
        begin = time.perf_counter()
    server.stop = (time.perf_counter() - begin) * 1000


def killed_start(folder, configuration, seconds, **options):
    """Starts norrisd and sends SIGKILL after `seconds`, whether it is ready or not."""

    def started(process):
        timer = threading.Timer(seconds, process.kill)
        timer.daemon = True
        timer.start()

    with contextlib.suppress(Failure), daemon(folder, configuration, started=started, **options):
        time.sleep(seconds)


def parser(command, described, measures, kind, only_if_named=(), statuses=""):
    """Returns a parser for the names of measures; `options` uses the parser."""
    functions = "\n".join(f"  {name:14}{function.__doc__}" for name, (function, _) in measures.items())
    default = f"all except {', '.join(sorted(only_if_named))}" if only_if_named else "all"
    result = argparse.ArgumentParser(
        prog=command, formatter_class=argparse.RawDescriptionHelpFormatter, description=described,
        epilog=f"{kind}s:\n{functions}\n\nNORRIS_PROGRAMS is the folder with the programs (default: .build/dist).\n"
        f"Exit status: 0 all goals met, 1 a goal missed or a measurement failed{statuses}.")
    result.add_argument("names", metavar="NAME", nargs="*", help=f"names of {kind}s (default: {default})")
    result.add_argument("--packages", action="store_true", help=argparse.SUPPRESS)
    return result


def options(parser, measures, only_if_named=()):
    """Parses the arguments of the process; without names, all measures except some are named."""
    result = parser.parse_args()
    if unknown := set(result.names) - set(measures):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    result.names = result.names or [name for name in measures if name not in only_if_named]
    return result


def main(name, measures, options):
    """Runs the named measures, or prints the Debian packages that they need; returns the exit status."""
    if options.packages:
        print(*sorted({package for each in options.names for package in measures[each][1]}))
        return 0
    if not all((PROGRAMS / program).exists() for program in ["norrisd", "norrisctl"]):
        print(f"{name}: no programs in {PROGRAMS}; run Scripts/build", file=sys.stderr)
        return 1
    # The exception runs every "finally" that ends a child process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows = []
    for each in options.names:
        print(f"{name}: {each}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="norris-") as folder:
            try:
                rows += measures[each][0](pathlib.Path(folder), options)
            except Exception as error:
                # The others continue.
                rows.append(Row(each, "failed", met=False, note=f"{type(error).__name__}: {error}"))
    show(rows)
    return 1 if any(row.met is False for row in rows) else 0

"""The parts of all experiments: norrisd in a temporary folder, upstreams, users, clients, measures, paired runs, and
one table of results.

An experiment is a function with a docstring of what it tries. It gets a temporary folder and the options of the
command, and returns rows of the table. A row with a goal has met or missed it.
"""

import argparse
import collections
import contextlib
import dataclasses
import fnmatch
import http.server
import json
import math
import multiprocessing
import os
import pathlib
import re
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

SCRIPTS = pathlib.Path(__file__).resolve().parent
programs = pathlib.Path(os.environ.get("NORRIS_PROGRAMS") or SCRIPTS.parent / ".build" / "dist").resolve()
FACT_RANDOM = '{"jsonrpc":"2.0","id":1,"method":"fact.random"}'
OFFLINE = {"facts": {"enabled": False}, "gifs": {"enabled": False}}  # a configuration without any upstream
KEY = "0123456789abcdef0123456789abcdef"  # of Giphy
COMPILER = ["gcc", "libc6-dev"]
FORK = multiprocessing.get_context("fork")


class Failure(Exception):
    """An error that ends an experiment."""


def program(name):
    """The path of a release program."""
    return programs / name


# Results


@dataclasses.dataclass
class Row:
    """One line of the table. `met` is None without a goal."""
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


def faultless(name, figure, faults, goal="no fault", note=""):
    """Returns a row that is met without any fault, and prints each fault."""
    for fault in faults:
        print(f"{name}: FAULT: {fault}", flush=True)
    several = "; ".join([*filter(None, [note]), *dict.fromkeys(map(str, faults[:6]))])
    return Row(name, str(figure), goal=goal, met=not faults, note=several)


def table(cells):
    """Prints lines of cells in columns. The first column contains names."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    for line in cells:
        numbers = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join([line[0].ljust(widths[0]), *numbers]).rstrip())


def show(rows):
    """Prints the notes and the table."""
    for row in rows:
        if row.note:
            print(f"{row.name}: {row.note}")
    cells = [["name", "figure", "peer", "ratio", "goal", "met"]]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.3f}" if row.ratio < 0.1 else f"{row.ratio:.2f}"
        cells.append([row.name, row.figure, row.peer, ratio, row.goal, {None: "", True: "yes", False: "NO"}[row.met]])
    table(cells)


# Measures


def in_turn(runs, measures, warm_up=0):
    """Runs A B B A A B …, so that each follows the other as often as itself; returns figures after the warm-up."""
    figures = {name: [] for name in measures}
    for number in range(warm_up + runs):
        for name, measure in list(measures.items())[::-1 if number % 2 else 1]:
            figure = measure()
            if number >= warm_up:
                figures[name].append(figure)
    return figures


def percentile(values, part=0.99):
    """Returns the value that is not exceeded by this part of the values; NaN without values."""
    return sorted(values)[math.ceil(len(values) * part) - 1] if values else math.nan


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


def compiled(folder, name, *flags):
    """Compiles a C program of the experiments into `folder`; returns its path."""
    source = next(SCRIPTS.glob(f"*/{name}.c"))
    subprocess.run(["cc", "-O2", "-Wall", *flags, source, "-o", folder / name], check=True, timeout=60)
    return folder / name


def loaded(load, path, line=FACT_RANDOM, connections=1, pipeline=1, seconds=1.5, newlines=1):
    """Runs load.c; returns replies per second, and the 50th and 99th percentile in milliseconds."""
    command = [load, path, line, *map(str, [connections, pipeline, seconds, newlines])]
    output = subprocess.run(command, check=True, timeout=60, stdout=subprocess.PIPE).stdout
    return [float(word) for word in output.split()]


def faked(speed):
    """Returns the arguments before a program whose clocks, all of them, run `speed` times as fast."""
    # Otherwise the library sets FAKETIME_SHARED, and Swift programs then lose their arguments.
    return ["env", "LD_PRELOAD=/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", "FAKETIME_SHARED=none none",
            f"FAKETIME=+0 x{speed}"]


def resident(pid, kind="RssAnon"):
    """Returns a kind of memory of a process in bytes: RssAnon, VmRSS (the sum), VmHWM (its peak). NaN after its end."""
    found = re.search(rf"^{kind}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else math.nan


def cpu_seconds(pid):
    """Returns the CPU time of a process and of its children that have ended."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def wait_for(condition, what, timeout=30):
    """Waits until the condition is true; returns its value."""
    end = time.monotonic() + timeout
    while not (result := condition()):
        if time.monotonic() > end:
            raise Failure(f"timed out waiting for {what}")
        time.sleep(0.02)
    return result


def accepts(path):
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


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


# Users


def need_root():
    if os.geteuid() != 0:
        raise Failure("root is needed")


class Worker:
    """A function in a process of another user. `result` waits for what it returns; None if it failed."""

    def __init__(self, uid, function, *arguments, priority=0):
        self.pipe, theirs = FORK.Pipe(duplex=False)

        def run():
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setpriority(os.PRIO_PROCESS, 0, priority)
            if uid != os.geteuid():
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            try:
                theirs.send(function(*arguments))
            except BaseException:
                traceback.print_exc()

        self.process = FORK.Process(target=run, daemon=True)
        self.process.start()
        theirs.close()

    def result(self):
        try:
            return self.pipe.recv()
        except EOFError:
            return None
        finally:
            self.process.join()

    def stop(self):
        """Asks the function to end, with SIGTERM; returns its result."""
        self.process.terminate()
        return self.result()

    def kill(self):
        self.process.kill()
        self.process.join()


# Clients


def request(method, **parameters):
    """Returns the line of a request."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}, separators=(",", ":"))


class Client:
    """A connection to norrisd."""

    def __init__(self, path, timeout=60):
        self.socket = socket.socket(socket.AF_UNIX)
        try:
            # Waits while the queue of connections is full; a connect with a timeout would fail.
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.socket.settimeout(timeout)
        self.lines = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.lines.close()
        self.socket.close()

    def ask(self, line):
        """Sends a line, and returns the next whole line. Raises ConnectionError at the end of the connection."""
        self.socket.sendall((line if isinstance(line, bytes) else line.encode()) + b"\n")
        return self.next()

    def next(self):
        line = self.lines.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("the connection has ended")
        return line

    def reply(self, method, **parameters):
        """Returns the whole reply; skips events before it."""
        reply = json.loads(self.ask(request(method, **parameters)))
        while reply.get("method") == "event":
            reply = json.loads(self.next())
        return reply

    def repeat(self, line, count, pipeline=1):
        """Sends a request `count` times, `pipeline` at once, and reads the replies, which must be results."""
        while count > 0:
            batch = min(count, pipeline)
            self.socket.sendall((line.encode() + b"\n") * batch)
            for _ in range(batch):
                if b'"result"' not in (reply := self.next()):
                    raise Failure(f"{line}: {reply[:200]!r}")
            count -= batch


# norrisd


class Daemon:
    """A running norrisd, and the milliseconds of its start until ready and of its stop."""

    def __init__(self, process, home, start):
        self.process, self.home, self.path, self.start, self.stop = process, home, home / "sock", start, None
        self.timeout = 60  # seconds to wait for a reply

    def connect(self):
        return Client(self.path, self.timeout)

    def reply(self, method, **parameters):
        """Returns the whole reply: a result or an error, or {} if the connection ends without one."""
        with contextlib.suppress(ConnectionError), self.connect() as client:
            return client.reply(method, **parameters)
        return {}

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

    def sources(self):
        """Returns the enabled sources of the status by their name."""
        return {each["name"]: each for each in self.call("server.status")["sources"] if each["enabled"]}

    def items(self, source="facts"):
        return next(each["items"] for each in self.call("server.status")["sources"] if each["name"] == source)

    def has_content(self):
        """Whether each enabled source has stored something."""
        return all(source["items"] and "fetched_at" in source["freshness"] for source in self.sources().values())

    def memory(self, kind="RssAnon"):
        return resident(self.process.pid, kind)

    def log(self):
        """The lines of the log, of earlier daemons in the folder too."""
        return (self.home / "log").read_text(errors="replace").splitlines()

    def end(self, timeout=40):
        """Sends SIGTERM; returns the milliseconds until the daemon has ended."""
        begin = time.monotonic()
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout)
            return (time.monotonic() - begin) * 1000
        return math.inf


def key_file(folder):
    """Writes a key of Giphy; returns its path."""
    path = folder / "key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return str(path)


def feed(url, **settings):
    """The configuration of a feed."""
    return {"kind": "feed", "url": url, **settings}


@contextlib.contextmanager
def daemon(home, configuration=OFFLINE, under=(), timeout=30, started=None, level="warning", **environment):
    """Runs norrisd with all files in the folder, under another program if given, and yields it when it is ready.
    `started` is called with the process before that. The log is home/log."""
    home.mkdir(exist_ok=True)
    # JSON is YAML.
    (home / "config.yaml").write_text(json.dumps(configuration))
    (home / "notify").unlink(missing_ok=True)
    command = [*under, program("norrisd"), "--config", home / "config.yaml", "--socket", home / "sock",
               "--log-level", level, *(f"--{kind}-dir={home / kind}" for kind in ["state", "cache", "runtime"])]
    variables = {"PATH": os.environ["PATH"], "HOME": str(home), **environment, "NOTIFY_SOCKET": str(home / "notify")}
    with contextlib.ExitStack() as stack:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(home / "log", "ab") as log:
            notify.bind(variables["NOTIFY_SOCKET"])
            # norrisd may run as another user.
            os.chmod(variables["NOTIFY_SOCKET"], 0o666)
            notify.settimeout(0.2)
            begin, messages = time.perf_counter(), b""
            process = stack.enter_context(running(command, env=variables, stderr=log))
            if started:
                started(process)
            while b"READY=1" not in messages:
                if process.poll() is not None or time.perf_counter() > begin + timeout:
                    raise Failure(f"norrisd ended early, or is not ready in time; {home}/log ends with: "
                                  f"{(home / 'log').read_text(errors='replace')[-300:]}")
                with contextlib.suppress(TimeoutError):
                    messages = notify.recv(8192)
            start = (time.perf_counter() - begin) * 1000
        server = Daemon(process, home, start)
        # Other users connect.
        home.chmod(0o711)
        server.path.chmod(0o666)
        yield server
        begin = time.perf_counter()
    server.stop = (time.perf_counter() - begin) * 1000


# Upstreams, with the recorded shapes of their items


def fact(number):
    return {"categories": [["dev"], ["food"], []][number % 3], "created_at": "2020-01-05 13:42:19.324003",
            "id": f"fact-{number}", "updated_at": "2020-01-05 13:42:19.324003",
            "url": f"https://api.chucknorris.io/jokes/fact-{number}",
            "value": f"Chuck Norris upgrades {number} machines – ohne Netz, “without” a restart."}


def gif(query, number):
    name = "".join(filter(str.isalnum, query)) + str(number)
    renditions = {
        kind: {"url": f"https://media3.giphy.com/media/{name}/{kind}.gif?cid=1&ep=v1&ct=g", "width": str(width),
               "height": "200", "size": "976265", "frames": "20", "mp4": f"https://media3.giphy.com/{name}.mp4?a=b"}
        for kind, width in [("original", 480), ("fixed_width", 200)]}
    return {"type": "gif", "id": name, "url": f"https://giphy.com/gifs/{name}", "rating": "g", "images": renditions,
            "title": f"{query} GIF {number} by Ada", "username": "Ada", "alt_text": "a kick", "is_sticker": 0,
            "import_datetime": "2020-09-22 01:31:35", "trending_datetime": "2022-01-10 04:00:11"}


def status(number):
    return {"id": str(1000 + number), "created_at": f"2026-10-{number % 28 + 1:02}T12:00:00.000Z",
            "visibility": "public", "uri": f"https://town.example/{number}",
            "url": f"https://town.example/@ada/{number}",
            "content": f"<p>Status {number} &amp; more</p>", "sensitive": False, "spoiler_text": "",
            "account": {"id": str(number % 3), "acct": f"ada{number % 3}", "display_name": f"Ada {number % 3} 🌱",
                        "url": "https://town.example/@ada", "avatar": "https://town.example/ada.png"},
            "favourites_count": number, "replies_count": 1, "reblogs_count": 0, "emojis": [], "mentions": [],
            "tags": [{"name": "upgrade", "url": "https://town.example/tags/upgrade"}],
            "media_attachments": [{"id": "7", "type": "image", "url": f"https://town.example/{number}.jpg",
                                   "meta": {"original": {"width": 1600, "height": 1200}}, "description": "soup"}]}


def user_with_posts(number):
    post = {"id": number, "date": "Tue Nov 24 2026 10:00:00 GMT+0100", "pics": ["https://users.example/p.png"]}
    return {"uid": str(number), "name": f"User {number}", "email": f"u{number}@users.example",
            "profile_pic": "https://users.example/u.png", "posts": [post]}


def item(name, text="Chuck Norris reads it.", more=""):
    """An item of RSS."""
    return (f"<item><guid isPermaLink='false'>{name}</guid><title>{name}</title>"
            f"<description>{text}</description>{more}</item>")


def rss(items):
    """Returns the document of a feed with these items."""
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Planet</title>{"".join(items)}</channel></rss>'


def replied(body, kind=None, status=200, **fields):
    """Returns a reply: a status, header fields and a body. Values are encoded as JSON."""
    if not isinstance(body, (str, bytes)):
        body, kind = json.dumps(body), kind or "application/json"
    body = body.encode() if isinstance(body, str) else body
    fields = {name.replace("_", "-"): text for name, text in fields.items()}
    return status, {"Content-Type": kind or "application/rss+xml", **fields}, body


def gif_page(query, items):
    return {"data": [gif(query, number) for number in items], "meta": {"status": 200, "msg": "OK", "response_id": "a"},
            "pagination": {"total_count": len(items), "count": len(items), "offset": 0}}


def content(target, items=range(6)):
    """Returns a good reply for any path that norrisd requests, with these items, in the recorded shape."""
    url = urllib.parse.urlsplit(target)
    query = urllib.parse.parse_qs(url.query)
    match url.path.strip("/").split("/"):
        case ["jokes", "search"]:
            return replied({"total": len(items), "result": [fact(number) for number in items]})
        case ["jokes", "categories"]:
            return replied(["dev", "food"])
        case ["v1", "gifs", "search" | "trending"]:
            return replied(gif_page(query.get("q", ["trending"])[0], items))
        case ["v1", "gifs", name]:
            return replied({**gif_page("one", []), "data": gif(query.get("tag", [name])[0], 0)})
        case ["api", "v1", "timelines", *_]:
            return replied([status(number) for number in items])
        case ["users", "posts"]:
            return replied({"data": [user_with_posts(number) for number in items]})
        case ["json"]:
            return replied({"version": "https://jsonfeed.org/version/1.1", "title": "JSON", "items": [
                {"id": str(number), "title": f"Entry {number}", "content_text": "text"} for number in items]})
    return replied(rss(item(f"post {number}") for number in items))


class Upstream:
    """An HTTP server on loopback that records the times of its requests.

    `answer` maps a target and header fields to a reply (replied), or to a function that gets the connection instead.
    `handshake` gets the connection before TLS.
    """

    def __init__(self, answer=lambda target, fields: content(target), context=None, address="127.0.0.1", port=0):
        self.answer, self.context, self.handshake = answer, context, None
        self.times = collections.defaultdict(list)
        self.address, self.port, self.server = address, port, None

    @property
    def url(self):
        return f"{'https' if self.context else 'http'}://{self.address}:{self.port}"

    def longest_pause(self, path, begin, end):
        """Returns the longest time without a request for a path, in seconds."""
        times = [begin, *(moment for moment in list(self.times[path]) if begin < moment < end), end]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def start(self):
        """Listens, after a stop on the same port."""
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                upstream.times[urllib.parse.urlsplit(self.path).path].append(time.monotonic())
                reply = upstream.answer(self.path, self.headers)
                self.close_connection = True
                if callable(reply):
                    return reply(self.connection)
                status, fields, body = reply
                self.send_response_only(status)
                for name, text in {"Content-Length": str(len(body)), "Connection": "close", **fields}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 512

            def finish_request(self, connection, address):
                if upstream.handshake:
                    return upstream.handshake(connection)
                if upstream.context:
                    connection = upstream.context.wrap_socket(connection, server_side=True)
                with connection:
                    super().finish_request(connection, address)

            def handle_error(self, *_):
                # The client may have disconnected.
                if not isinstance(sys.exc_info()[1], OSError):
                    traceback.print_exc()

        self.server = Server((self.address, self.port), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        """Refuses connections from now on."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


# Commands


def chosen(names, options):
    """Returns those parts of an experiment that --only names."""
    found = [name for name in names if not options.only or any(fnmatch.fnmatch(name, each) for each in options.only)]
    if not found:
        raise Failure(f"--only names no part: {', '.join(names)}")
    return found


def parser(command, described, experiments, only_if_named=()):
    """Returns a parser for the names of experiments, to which a command adds its options."""
    functions = "\n".join(f"  {name:14}{run.__doc__.splitlines()[0]}" for name, (run, _) in experiments.items())
    default = f"all except {', '.join(sorted(only_if_named))}" if only_if_named else "all"
    result = argparse.ArgumentParser(
        prog=command, formatter_class=argparse.RawDescriptionHelpFormatter, description=described,
        epilog=f"names:\n{functions}\n\n"
        "Exit status: 0 all goals met, 1 a goal missed or an experiment failed, 77 not possible here.")
    result.add_argument("names", metavar="NAME", nargs="*", help=f"what is run (default: {default})")
    result.add_argument("--only", metavar="PART", action="append",
                        help="only this part of an experiment with a table of its own; may contain *")
    result.add_argument("--programs", type=pathlib.Path, metavar="FOLDER",
                        help="the programs (default: $NORRIS_PROGRAMS, or .build/dist)")
    result.add_argument("--packages", action="store_true", help=argparse.SUPPRESS)
    return result


def main(parser, experiments, only_if_named=()):
    """Runs the named experiments, or prints the Debian packages that they need; returns the exit status."""
    global programs
    options = parser.parse_args()
    if unknown := set(options.names) - set(experiments):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    options.names = options.names or [name for name in experiments if name not in only_if_named]
    if options.packages:
        print(*sorted({package for each in options.names for package in experiments[each][1]}))
        return 0
    programs = options.programs.resolve() if options.programs else programs
    if not all(program(name).exists() for name in ["norrisd", "norrisctl", "norris-fetch"]):
        print(f"{parser.prog}: no programs in {programs}; run Scripts/build", file=sys.stderr)
        return 1
    # The exception runs every "finally" that ends a child process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows = []
    for each in options.names:
        print(f"{parser.prog}: {each}", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="norris-") as folder:
            os.chmod(folder, 0o711)
            try:
                rows += experiments[each][0](pathlib.Path(folder), options)
            except Exception as error:
                # The others continue.
                if not isinstance(error, Failure):
                    traceback.print_exc()
                rows.append(Row(each, "failed", met=False, note=f"{type(error).__name__}: {error}"))
    show(rows)
    return 1 if any(row.met is False for row in rows) else 0

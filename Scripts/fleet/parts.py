"""The parts of a simulated fleet: an upstream that counts, nginx with norris.conf.template, and daemons."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import datetime
import http.server
import json
import os
import pathlib
import socket
import subprocess
import threading
import time

import harness
from feeds import ITEM, RSS
from harness import Failure, running, wait_for

HERE = pathlib.Path(__file__).resolve().parent
FEEDS = ["planet", "news", "town", "team"]
HOST = "planet.example"
SEARCH = "/jokes/search?query="
FACTS = [SEARCH + "chuck", SEARCH + "norris", "/jokes/categories"]
STARTS_AT_ONCE = 24


# The upstream


class Upstream:
    """An upstream of facts and feeds. Counts the requests for each document, and fails on demand."""

    def __init__(self, facts=9_000, items=40, lifetime=None, clock=time.time):
        self.facts, self.items, self.clock = facts, items, clock
        self.has_validators = True
        self.lifetime_of = lambda path: lifetime  # seconds that the upstream states, or None
        self.fault = None  # a status, or a function of the path and the headers that returns a response
        self.version = lambda path: 0  # of a document
        self.requests, self.bytes = collections.Counter(), 0
        self.sizes, self.unchanged_size = {}, 0  # bytes of the last response with a document, and without
        self.answered = {}  # the time of the last good response for each path
        self.documents = {}

    def document(self, path):
        version = self.version(path)
        if (path, version) not in self.documents:
            self.documents[path, version] = self.created(path, version)
        return version, *self.documents[path, version]

    def created(self, path, version):
        if path.startswith(SEARCH):
            facts = [{"id": f"fleet-{each}", "value": f"Chuck Norris has counted {each + version} machines.",
                      "categories": []} for each in range(self.facts)]
            return "application/json", json.dumps({"total": len(facts), "result": facts}).encode()
        if path == "/jokes/categories":
            return "application/json", b'["dev"]'
        items = [ITEM.format(f"{path}-{version + each}", "Chuck Norris reads it. " * 20) for each in range(self.items)]
        return "application/rss+xml", RSS.format("".join(items)).encode()

    def answer(self, path, headers):
        self.requests[path] += 1
        if callable(self.fault):
            return self.fault(path, headers)
        if self.fault:
            return self.fault, {}, b""
        version, kind, body = self.document(path)
        tag = f'"{version}-{len(body)}"'
        fields = {"Content-Type": kind, **({"ETag": tag} if self.has_validators else {})}
        if (lifetime := self.lifetime_of(path)) is not None:
            fields["Cache-Control"] = f"max-age={lifetime}"
        self.answered[path] = self.clock()
        if headers.get("If-None-Match") == tag:
            return 304, fields, b""
        return 200, fields, body

    @contextlib.contextmanager
    def listening(self, port=0):
        """Serves HTTP on loopback, and yields the port."""
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self):
                status, headers, body = upstream.answer(self.path, self.headers)
                self.send_response_only(status)
                headers = {"Date": self.date_time_string(), **headers}
                if status != 304:
                    headers = {"Content-Length": str(len(body)), **headers}
                for name, text in headers.items():
                    self.send_header(name, text)
                size = sum(map(len, self._headers_buffer)) + 2 + len(body)
                upstream.bytes += size
                if status == 200:
                    upstream.sizes[self.path] = size
                elif status == 304:
                    upstream.unchanged_size = size
                # A wrong length makes a truncated response.
                self.close_connection = headers.get("Content-Length") != str(len(body)) and status != 304
                with contextlib.suppress(OSError):
                    self.end_headers()
                    self.wfile.write(body)

            def date_time_string(self, timestamp=None):
                return super().date_time_string(upstream.clock() if timestamp is None else timestamp)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 512
            daemon_threads = True

        with Server(("127.0.0.1", port), Handler) as server:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            try:
                yield server.server_port
            finally:
                server.shutdown()


# nginx


@dataclasses.dataclass
class Line:
    """One response of the cache."""
    time: float
    status: int
    cache: str
    sent: int
    received: int
    path: str


class Cache:
    """nginx with the template, between machines and an upstream."""

    def __init__(self, folder, port, under=lambda: []):
        self.folder, self.upstream_port, self.under = folder, port, under
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "norris.log"
        self.read = 0
        folder.mkdir()
        self.process = contextlib.ExitStack()

    def start(self):
        for name in ["copies", "logs"]:
            (self.folder / name).mkdir(exist_ok=True)
        variables = {"NORRIS_LISTEN": f"127.0.0.1:{self.port}", "NORRIS_CACHE": str(self.folder / "copies"),
                     "NORRIS_ORIGIN_FACTS": f"http://127.0.0.1:{self.upstream_port}"}
        text = subprocess.run(
            ["envsubst", " ".join("$" + name for name in variables)], input=(HERE / "norris.conf.template").read_text(),
            env={**os.environ, **variables}, check=True, capture_output=True, text=True).stdout
        (self.folder / "norris.conf").write_text(text.replace("/var/log/nginx/", f"{self.folder}/"))
        (self.folder / "norris-feeds.conf").write_text(
            f"location /feeds/{HOST}/ {{ proxy_pass http://127.0.0.1:{self.upstream_port}/; }}\n")
        (self.folder / "nginx.conf").write_text(
            f"user root; daemon off; worker_processes 1; error_log {self.folder}/error.log; pid {self.folder}/pid;\n"
            "worker_rlimit_nofile 8192; events { worker_connections 4096; }\n"
            f"http {{ access_log off; include {self.folder}/norris.conf; }}\n")
        command = [*self.under(), "nginx", "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", "stderr"]
        self.process.enter_context(running(command))
        wait_for(lambda: listens(self.port), "nginx")

    def stop(self):
        self.process.close()
        wait_for(lambda: not listens(self.port), "the end of nginx")

    def lines(self):
        """Returns the lines of the log since the last call."""
        with self.log.open() as log:
            log.seek(self.read)
            text = log.read()
            self.read = log.tell()
        return [Line(datetime.datetime.fromisoformat(words[0]).timestamp(), int(words[2]), words[3], int(words[4]),
                     int(words[5]), words[7]) for words in map(str.split, text.splitlines())]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.process.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# Machines


def configuration(url, facts="1d", feeds=None, timeout=30):
    """Returns the configuration of a machine. `feeds` maps names to refresh intervals."""
    feeds = {name: "30m" for name in FEEDS} if feeds is None else feeds
    sources = ", ".join(f"{name}: {{kind: feed, url: '{url}/feeds/{HOST}/{name}', refresh: {refresh}}}"
                        for name, refresh in feeds.items())
    return (f"http: {{timeout: {timeout}s}}\n"
            f"facts: {{base_url: '{url}', refresh: {facts}}}\ngifs: {{enabled: false}}\n"
            f"posts: {{sources: {{{sources}}}}}\n")


def identified(folder, name):
    """Returns the arguments that start a program with another identifier of the machine (machine-id(5))."""
    (folder / "machine-id").write_text(name + "\n")
    return ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/machine-id && exec "$@"', folder / "machine-id"]


def machine_name(number):
    return f"{number:032x}"


@contextlib.contextmanager
def machines(folder, count, setting, under=lambda folder: [], **environment):
    """Starts daemons, each with an identifier of its own, all at once, and yields them."""
    stacks = []

    def start(number):
        home = folder / f"machine-{number}"
        home.mkdir()
        stack = contextlib.ExitStack()
        stacks.append(stack)
        command = [*identified(home, machine_name(number)), *under(home)]
        server = stack.enter_context(harness.daemon(home, setting, under=command, timeout=120, **environment))
        server.started = time.time()
        return server

    with concurrent.futures.ThreadPoolExecutor(STARTS_AT_ONCE) as pool:
        try:
            yield list(pool.map(start, range(count)))
        finally:
            list(pool.map(lambda stack: stack.close(), stacks))


def sources(server):
    return {each["name"]: each for each in server.call("server.status")["sources"] if each["enabled"]}


def has_everything(server):
    return all(each["items"] and "fetched_at" in each["freshness"] for each in sources(server).values())


def wait_for_content(servers, timeout=300):
    """Waits until each machine has the content of all sources."""
    missing = list(servers)
    end = time.monotonic() + timeout
    while missing:
        if time.monotonic() > end:
            raise Failure(f"{len(missing)} machines without content after {timeout} s")
        missing = [server for server in missing if not has_everything(server)]
        if missing:
            time.sleep(0.5)


def runs(server):
    """Returns the number of finished runs of each source."""
    counts = collections.Counter()
    for line in server.call("server.metrics")["text"].splitlines():
        if line.startswith("norrisd_source_runs_total{"):
            labels, count = line.rsplit(" ", 1)
            counts[labels.split('source="')[1].split('"')[0]] += int(float(count))
    return counts

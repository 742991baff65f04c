"""The parts of a simulated fleet: documents with validators, nginx with norris.conf.template, and machines."""

import collections
import concurrent.futures
import contextlib
import dataclasses
import email.utils
import os
import pathlib
import socket
import subprocess
import time

from harness import Failure, Upstream, daemon, fact, feed, item, replied, rss, running, wait_for

HERE = pathlib.Path(__file__).resolve().parent
FEEDS = ["planet", "news", "town", "team"]
HOST = "planet.example"
SEARCH = "/jokes/search?query="
FACTS = [SEARCH + "chuck", SEARCH + "norris", "/jokes/categories"]
STARTS_AT_ONCE = 24


class Documents(Upstream):
    """An upstream of facts and feeds with validators. Counts the requests and bytes of each document, and fails on
    demand."""

    def __init__(self, facts=500, items=20, lifetime=None):
        super().__init__(self.validated)
        self.fault = None
        self.lifetime = {} if lifetime is None else {"Cache_Control": f"max-age={lifetime}"}
        self.requests, self.bytes = collections.Counter(), 0
        self.facts = {"total": facts, "result": [fact(number) for number in range(facts)]}
        self.feed = rss(item(number, "Chuck Norris reads it. " * 20) for number in range(items))

    def validated(self, path, fields):
        """Returns a document, or 304 to a request with its validator. `fault` returns a reply instead, or None."""
        path = path.removeprefix(f"/feeds/{HOST}")
        self.requests[path] += 1
        if self.fault and (reply := self.fault(path)):
            return reply
        body = self.facts if path.startswith(SEARCH) else ["dev"] if path == FACTS[2] else self.feed
        date = email.utils.formatdate(usegmt=True)
        status, sent, body = replied(body, Date=date, ETag='"1"', **self.lifetime)
        if fields["If-None-Match"] == '"1"':
            status, body = 304, b""
        self.bytes += len(body)
        return status, sent, body

    def each_once(self):
        """Returns a text that names the documents that were requested more than once."""
        repeated = {path: count for path, count in self.requests.items() if count > 1}
        return f"more than once: {repeated}" if repeated else ""


@dataclasses.dataclass
class Line:
    """One response of the cache, from its log."""
    status: int
    sent: int
    received: int
    path: str


class Cache:
    """nginx with the template, between machines and an upstream."""

    def __init__(self, folder, upstream):
        self.folder, self.read, self.process = folder, 0, contextlib.ExitStack()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder.mkdir()
        variables = {"NORRIS_LISTEN": f"127.0.0.1:{self.port}", "NORRIS_CACHE": str(folder / "copies"),
                     "NORRIS_ORIGIN_FACTS": upstream.url}
        text = subprocess.run(
            ["envsubst", " ".join("$" + name for name in variables)], input=(HERE / "norris.conf.template").read_text(),
            env={**os.environ, **variables}, check=True, capture_output=True, text=True).stdout
        (folder / "norris.conf").write_text(text.replace("/var/log/nginx/", f"{folder}/"))
        (folder / "norris-feeds.conf").write_text(f"location /feeds/{HOST}/ {{ proxy_pass {upstream.url}/; }}\n")
        (folder / "nginx.conf").write_text(
            f"user root; daemon off; worker_processes 1; error_log {folder}/error.log; pid {folder}/pid;\n"
            "worker_rlimit_nofile 8192; events { worker_connections 4096; }\n"
            f"http {{ access_log off; include {folder}/norris.conf; }}\n")

    def start(self):
        for name in ["copies", "logs"]:
            (self.folder / name).mkdir(exist_ok=True)
        self.process.enter_context(running(
            ["nginx", "-p", self.folder, "-c", self.folder / "nginx.conf", "-e", "stderr"]))
        wait_for(lambda: listens(self.port), "nginx")

    def stop(self):
        self.process.close()
        wait_for(lambda: not listens(self.port), "the end of nginx")

    def lines(self):
        """Returns the lines of the log since the last call."""
        with (self.folder / "norris.log").open() as log:
            log.seek(self.read)
            words = [line.split() for line in log.read().splitlines()]
            self.read = log.tell()
        return [Line(int(each[2]), int(each[4]), int(each[5]), each[7]) for each in words]

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


def configuration(url):
    """Returns the configuration of a machine. All share the processors of this one, so that their fetches take long."""
    return {"http": {"timeout": "5m", "host_gap": "0s"}, "facts": {"base_url": url}, "gifs": {"enabled": False},
            "posts": {"sources": {name: feed(f"{url}/feeds/{HOST}/{name}") for name in FEEDS}}}


@contextlib.contextmanager
def machines(folder, count, setting):
    """Starts daemons all at once, each with an identifier of its own (machine-id(5)), and yields them."""
    stacks = []

    def start(number):
        home = folder / f"machine-{number}"
        home.mkdir()
        (home / "machine-id").write_text(f"{number:032x}\n")
        command = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/machine-id && exec "$@"',
                   home / "machine-id"]
        stacks.append(contextlib.ExitStack())
        return stacks[-1].enter_context(daemon(home, setting, under=command, timeout=120))

    with concurrent.futures.ThreadPoolExecutor(STARTS_AT_ONCE) as pool:
        try:
            yield list(pool.map(start, range(count)))
        finally:
            list(pool.map(lambda stack: stack.close(), stacks))


def wait_for_all(servers, condition, what, timeout=300):
    """Waits until the condition is true of each machine."""
    missing, end = list(servers), time.monotonic() + timeout
    while missing := [server for server in missing if not condition(server)]:
        if time.monotonic() > end:
            raise Failure(f"{len(missing)} machines without {what} after {timeout} s")
        time.sleep(0.2)


def wait_for_content(servers):
    wait_for_all(servers, lambda server: server.has_content(), "content")


def runs(server):
    """Returns the number of finished runs of each source."""
    counts = collections.Counter()
    for line in server.call("server.metrics")["text"].splitlines():
        if line.startswith("norrisd_source_runs_total{"):
            labels, count = line.rsplit(" ", 1)
            counts[labels.split('source="')[1].split('"')[0]] += int(float(count))
    return counts


def refresh(servers, timeout=120):
    """Refreshes all sources on all machines, and waits until the runs have ended."""
    names, before = list(servers[0].sources()), {server: runs(server) for server in servers}
    for server in servers:
        for name in names:
            server.call("source.refresh", source=name)
    wait_for_all(servers, lambda server: all(runs(server)[name] > before[server][name] for name in names),
                 "a refresh", timeout)


def stored(server):
    """Returns the content of a machine: the number of facts, and the ids of posts."""
    return server.call("fact.search", query="machines")["total"], [post["id"] for post in server.pages("post.list")]

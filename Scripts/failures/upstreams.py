"""Lets upstreams of every kind of source fail in each known way.

One daemon has a source of each kind, all from one server, which first answers well, then fails, and then answers well
again. During the failure the content of the last good fetch is served in time and unchanged, memory stays flat, the log
has one line for each source, and the status has the right kind of error. Afterwards each source recovers without help.
"""

import concurrent.futures
import itertools
import json
import math
import os
import socket
import ssl
import struct
import subprocess
import time
import urllib.parse
import zlib

from harness import (FORK, KEY, Client, Failure, Row, Upstream, Worker, chosen, compiled, content, daemon, faultless,
                     feed, key_file, loaded, percentile, request, table, wait_for)

LATENCY_GOAL, RECOVERY_GOAL, MEMORY_GOAL = 50, 60, 8 << 20  # ms, s, bytes
SECONDS, TIMEOUT = 3, 2  # of the requests while the upstream fails; http.timeout
MAXIMUM = 256 * 1024  # http.max_body
PROCESSES = 2
KINDS = ["facts", "gifs", "rss", "json", "mastodon", "users-posts"]


# Actions in place of an answer, which get the connection


def sending(*parts):
    """Sends bytes, iterables of bytes, or what a function returns of these, and closes."""
    def act(connection):
        for part in parts:
            part = part() if callable(part) else part
            for piece in [part] if isinstance(part, bytes) else part:
                connection.sendall(piece)
    return act


def head(status, *fields, length=0):
    """The head of a reply, with the length that it states."""
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {length}", *fields, "", ""]).encode()


def answer(status, *fields):
    return sending(head(status, *fields))


def body(content, *fields):
    content = content if isinstance(content, bytes) else content.encode()
    return sending(head("200 OK", *fields, length=len(content)), content)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # A shutdown before the close would end the connection cleanly.
    os.close(connection.detach())


def hang(connection):
    while connection.recv(4096):
        pass


def drip():
    while True:
        yield b" "
        time.sleep(0.2)


def handshake_cut(connection):
    connection.recv(4096)
    connection.sendall(bytes.fromhex("160303007a020000760303"))


# The faults: a name, the kind of error, and the fault. A dict has the kinds of error by the kind of source, under ""
# for all others.

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
KEYLESS = {"": "http", "gifs": "credentials"}
ANSWERS = {
    "connection: reset": ("offline", reset),
    "connection: closed": ("offline", lambda connection: None),
    "connection: cut off in the head": ("offline", sending(b"HTTP/1.1 200 OK\r\nContent-Ty")),
    "connection: cut off in the body": ("offline", sending(head("200 OK", length=1000), b"half")),
    "connection: cut off in a chunk": ("offline", sending(CHUNKED + b"1000\r\nhalf")),
    "connection: hanging": ("timeout", hang),
    "connection: dripping": ("timeout", sending(head("200 OK", length=10_000), drip)),
    "HTTP: 400": ("http", answer("400 No")),
    "HTTP: 401": (KEYLESS, answer("401 No")),
    "HTTP: 403": (KEYLESS, answer("403 No")),
    "HTTP: 404": ("http", answer("404 No")),
    "HTTP: 410": ("http", answer("410 Gone")),
    "HTTP: 429 with Retry-After": ({"": "http", "gifs": "quota"}, answer("429 No", "Retry-After: 2")),
    "HTTP: 500": ("http", answer("500 No")),
    "HTTP: 503 with Retry-After": ("http", answer("503 No", "Retry-After: 1")),
    "HTTP: 204": ("http", answer("204 None")),
    "HTTP: redirect loop": ("http", answer("302 Go", "Location: ?again")),
    "HTTP: redirect to a file": ("http", answer("302 Go", "Location: file:///etc/passwd")),
    "HTTP: redirect without an address": ("http", answer("302 Go")),
    "HTTP: garbage": ("decode", sending(b"\1\2\3 this is not HTTP\r\n\r\n")),
    "head: 100 fields of 64 KiB": ("decode", answer("200 OK", *[f"X-Long: {'x' * 65_536}"] * 100)),
    "head: 60,000 fields": ("decode", answer("200 OK", *["a:"] * 60_000)),
    "head: endless": ("decode", sending(b"HTTP/1.1 200 OK\r\n", itertools.repeat(b"a:\r\n" * 20_000))),
    "head: endless 103": ("decode", sending(itertools.repeat(b"HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n" * 2_000))),
    "head: endless chunk extension": ("timeout", sending(CHUNKED + b"1;", itertools.repeat(b"a" * 100_000))),
    "body: endless": ("decode", sending(CHUNKED, itertools.repeat(b"4000\r\n" + b" " * 0x4000 + b"\r\n"))),
    "body: gzip bomb": ("decode", body(zlib.compress(b" " * (16 << 20), 9, 31), "Content-Encoding: gzip")),
    "body: no gzip, but said so": ("decode", body("plain", "Content-Encoding: gzip")),
    "body: an unknown encoding": ("decode", body("plain", "Content-Encoding: br")),
    "body: too large by its length": ("decode", sending(head("200 OK", length=MAXIMUM * 4), b"x")),
    "body: empty": ("decode", body("")),
    "body: a web page": ("decode", body("<!DOCTYPE html><html><body>Log in</body></html>")),
    "body: half a document": ("decode", body('{"version":"https://jsonfeed.org/version/1","it')),
    "body: an array in an array": ("decode", body("[[]]")),
    "body: a number": ("decode", body("1e999999")),
    "body: deep JSON": ("decode", body("[" * 100_000)),
    "body: deep XML": ("decode", body("<a>" * 20_000)),
    "body: invalid UTF-8": ("decode", body(b'{"result":"\xff\xfe\xc3\x28"}')),
}
HANDSHAKES = {"cut in the handshake": ("offline", handshake_cut), "no handshake": ("timeout", hang),
              "plain bytes": ("offline", answer("400 No"))}
CERTIFICATES = {"expired": "expired", "wrong name": "elsewhere", "self-signed": "unknown"}
THROUGH = "http://upstream.example"  # an address that only the proxy knows
FAULTS = {
    "connection: refused": ("offline", {"refuses": True}),
    **{name: (kind, {"fault": fault}) for name, (kind, fault) in ANSWERS.items()},
    **{f"TLS: {name}": (kind, {"tls": "good", "handshake": fault}) for name, (kind, fault) in HANDSHAKES.items()},
    **{f"TLS: {name}": ("offline", {"tls": bad}) for name, bad in CERTIFICATES.items()},
    "proxy: refuses connections": ("offline", {"refuses": True, "proxied": True}),
    "proxy: asks for credentials": ("http", {"fault": answer("407 No"), "proxied": True}),
    "proxy: hangs": ("timeout", {"fault": hang, "proxied": True}),
    "name: does not exist": ("offline", {"url": "http://norrisd.invalid"}),
}


def make_certificates(folder):
    """Writes NAME.pem with key and certificate for each kind, and trusted.pem; returns the folder."""
    folder.mkdir()
    for name, host, days in [("good", "IP:127.0.0.1", 2), ("expired", "IP:127.0.0.1", -1),
                             ("elsewhere", "DNS:elsewhere.example", 2), ("unknown", "IP:127.0.0.1", 2)]:
        key, signing, certificate = (folder / f"{name}.{kind}" for kind in ["key", "csr", "crt"])
        for command in [
            ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             "/CN=norrisd", "-addext", f"subjectAltName={host}", "-keyout", key, "-out", signing],
            # Only this command accepts a negative number of days.
            ["x509", "-req", "-in", signing, "-signkey", key, "-copy_extensions", "copyall", "-days", str(days), "-out",
             certificate],
        ]:
            subprocess.run(["openssl", *command], check=True, stderr=subprocess.DEVNULL)
        (folder / f"{name}.pem").write_text(key.read_text() + certificate.read_text())
    trusted = [folder / f"{name}.crt" for name in ["good", "expired", "elsewhere"]]
    (folder / "trusted.pem").write_text("".join(path.read_text() for path in trusted))
    return folder


# One fault

# A method that lists the content of each kind of source, and a method that reads it.
POSTS = {name: ("post.list", {"source": name}) for name in KINDS[2:]}
LISTS = {"facts": ("fact.search", {"query": "machines"}), "gifs": ("gif.trending", {}), **POSTS}
READS = {**LISTS, "facts": ("fact.random", {"count": 5})}


def errors(server):
    return {name: source["freshness"]["error"] for name, source in server.sources().items()}


def addable(server):
    """Returns the kinds of sources that clients can add."""
    methods = {method["name"]: method for method in server.reply("rpc.discover")["result"]["methods"]}
    return next(each["schema"]["enum"] for each in methods["source.add"]["params"] if each["name"] == "kind")


def stored(server):
    """Returns the ids of the content of each source. Without any content the reply is an error."""
    return {name: sorted(item["id"] for item in server.reply(method, **parameters).get("result", {}).get("items", []))
            for name, (method, parameters) in LISTS.items()}


def latencies(path):
    """Returns the 99th percentile of the reading method of each kind, in milliseconds."""
    times, end = {name: [] for name in KINDS}, time.monotonic() + SECONDS
    with Client(path) as client:
        while time.monotonic() < end:
            for name, (method, parameters) in READS.items():
                begin = time.perf_counter()
                client.ask(request(method, **parameters))
                times[name].append((time.perf_counter() - begin) * 1000)
                time.sleep(0.002)
    return {name: percentile(each) for name, each in times.items()}


def lines_about(server, event, name):
    return sum(f" {event} " in line and f"source={name}" in line for line in server.log())


class Case:
    """One fault with each kind of source: the kinds of error, the figures of the daemon, and what is wrong."""

    def __init__(self, name, folder, certificates, load):
        self.name, self.kinds, self.latency, self.memory, self.recovery = name, {}, {}, 0, None
        self.wrong = {kind: [] for kind in ["", *KINDS]}
        try:
            self.run(folder, certificates, load, FAULTS[name][0], **FAULTS[name][1])
        except (Failure, OSError, ValueError, KeyError) as error:
            self.expect("", False, f"{type(error).__name__}: {error}")

    def expect(self, kind, condition, problem):
        self.wrong[kind] += [] if condition else [problem]

    def run(self, folder, certificates, load, expected, fault=None, refuses=False, tls=None, handshake=None,
            proxied=False, url=None):
        contexts = {}
        for kind in ["good", tls] if tls else []:
            contexts[kind] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            contexts[kind].load_cert_chain(certificates / f"{kind}.pem")
        fetches = itertools.count()

        def good(target, _):
            # The content changes with each fetch, so that a fetch can be recognized. A proxy gets whole addresses.
            first = next(fetches) % 3
            target = urllib.parse.urlsplit(target)._replace(scheme="", netloc="").geturl()
            return content(target, range(first, first + 6))

        with Upstream(good, contexts.get("good")) as upstream:
            base = url or (THROUGH if proxied else upstream.url)
            setting = {
                "http": {"timeout": f"{TIMEOUT}s", "host_gap": "0s", "max_body": f"{MAXIMUM // 1024}KiB",
                         **({"proxy": upstream.url} if proxied else {})},
                "facts": {"base_url": base, "refresh": "1s"},
                "gifs": {"base_url": base, "api_key_file": key_file(folder), "queries": ["kick"], "refresh": "1s",
                         "hourly_quota": 10000},
                "posts": {"sources": {name: feed(f"{base}/{name}" if name in ["rss", "json"] else base, refresh="1s",
                                                 kind="feed" if name in ["rss", "json"] else name)
                                      for name in KINDS[2:]}}}
            # The log has the failures and the recoveries.
            with daemon(folder / "home", setting, level="notice",
                        SSL_CERT_FILE=str(certificates / "trusted.pem")) as server:
                missing = set(addable(server)) - {"feed", *KINDS}
                self.expect("", not missing, f"KINDS of upstreams.py lacks {missing}")
                if not url:
                    wait_for(lambda: all(stored(server).values()), "content")
                if refuses:
                    upstream.stop()
                upstream.answer = (lambda *_: fault) if fault else good
                upstream.handshake, upstream.context = handshake, contexts.get(tls)
                wait_for(lambda: all(errors(server).values()), "the fault", timeout=6 * TIMEOUT + 20)
                self.observe(server, load, expected)
                if not url:
                    upstream.answer, upstream.handshake, upstream.context = good, None, contexts.get("good")
                    if refuses:
                        upstream.start()
                    self.recover(server)
            self.expect("", not server.process.returncode, f"status {server.process.returncode}")

    def observe(self, server, load, expected):
        """Reads content during the fault, and compares it with the content of before."""
        before, memory = stored(server), server.memory()
        reader = Worker(os.geteuid(), latencies, server.path)
        self.latency = {"fact.random": loaded(load, server.path, seconds=SECONDS)[2], **(reader.result() or {})}
        self.memory = server.memory() - memory
        self.expect("", self.memory <= MEMORY_GOAL, f"memory grew by {self.memory / 1e6:.1f} MB")
        self.expect("", self.latency["fact.random"] <= LATENCY_GOAL, "p99 of fact.random")
        after, now = stored(server), errors(server)
        for kind in KINDS:
            error = now[kind] or {"kind": "none", "message": ""}
            self.kinds[kind] = error["kind"]
            wanted = expected.get(kind, expected[""]) if isinstance(expected, dict) else expected
            self.expect(kind, error["kind"] == wanted, f"{error['kind']}, not {wanted}: {error['message']}")
            self.expect(kind, KEY not in error["message"], "the message has the key")
            self.expect(kind, after[kind] == before[kind], "the content changed")
            self.expect(kind, lines_about(server, "source.failed", kind) == 1, "not one line of the log")
            self.expect(kind, self.latency.get(kind, math.nan) <= LATENCY_GOAL, f"p99 {self.latency.get(kind)} ms")

    def recover(self, server):
        begin = time.monotonic()
        wait_for(lambda: not any(errors(server).values()), "the recovery", 2 * RECOVERY_GOAL)
        self.recovery = time.monotonic() - begin
        self.expect("", self.recovery <= RECOVERY_GOAL, f"recovered after {self.recovery:.0f} s")
        for kind in KINDS:
            self.expect(kind, lines_about(server, "source.recovered", kind) == 1, "not one line of a recovery")

    def cells(self):
        kinds = [f"{self.kinds.get(kind, '-')}{' FAIL' * bool(self.wrong[kind])}" for kind in KINDS]
        return [self.name, *kinds, f"{self.latency.get('fact.random', math.nan):.2f}", f"{self.memory / 1e6:.1f}",
                "-" if self.recovery is None else f"{self.recovery:.1f}", "WRONG" if any(self.wrong.values()) else "ok"]


def tried(arguments):
    name, folder, *others = arguments
    folder.mkdir()
    return Case(name, folder, *others)


def upstreams(folder, options):
    """each fault of an upstream with each kind of source: errors, latency, memory, log, recovery"""
    load, certificates = compiled(folder, "load"), make_certificates(folder / "certificates")
    cells = [["fault", *KINDS, "p99 ms", "MB", "recovered s", "verdict"]]
    cases, faults = [], []
    work = [(name, folder / str(number), certificates, load) for number, name in enumerate(chosen(FAULTS, options))]
    with concurrent.futures.ProcessPoolExecutor(PROCESSES, FORK) as pool:
        for case in pool.map(tried, work):
            cases.append(case)
            cells.append(case.cells())
            print("upstreams:", json.dumps(cells[-1]), flush=True)
            faults += [f"{case.name}: {kind} {problem}" for kind, texts in case.wrong.items() for problem in texts]
    table(cells)
    worst = {kind: max(case.latency.get(kind, 0) for case in cases) for kind in ["fact.random", *KINDS]}
    grown = max(case.memory for case in cases)
    return [faultless("cells that are told, survived and mended", len(cases) * len(KINDS), faults),
            *(Row(f"worst p99, {kind}", f"{figure:.2f} ms", goal=f"<= {LATENCY_GOAL} ms", met=figure <= LATENCY_GOAL)
              for kind, figure in worst.items()),
            Row("largest growth of memory", f"{grown / 1e6:.1f} MB", goal=f"<= {MEMORY_GOAL / 1e6:.1f} MB",
                met=grown <= MEMORY_GOAL)]

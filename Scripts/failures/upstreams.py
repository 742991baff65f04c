"""Lets upstreams of every kind of source fail in each known way.

One daemon has a source of each kind, all from one server, which first answers well, then fails, and then answers well
again. During the failure the content of the last good fetch is served to other users in time and unchanged, memory
stays flat, the log has one line for each source, and the status has the right kind of error. Afterwards each source
recovers without help.
"""

import concurrent.futures
import contextlib
import itertools
import json
import math
import multiprocessing
import socket
import ssl
import statistics
import struct
import subprocess
import threading
import time
import urllib.parse

import harness
import upgrade
from attacks_upstream import HTTP2, OK, converse_http2, frame, head
from feeds import RSS, compressed

LATENCY_GOAL, RECOVERY_GOAL, MEMORY_GOAL = 50, 60, 8 << 20  # ms, s, bytes
SECONDS = 3  # duration of the requests while the upstream fails
TIMEOUT = 2  # http.timeout, s
MAXIMUM = 256 * 1024  # http.max_body
PROCESSES = 2
KINDS = ["facts", "gifs", "rss", "json", "mastodon", "users-posts"]


def answer(status, body=b"", *fields, length=None):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", "Connection: close"]
    return "\r\n".join([*lines, *fields, "", ""]).encode() + body


def sending(data):
    return lambda connection: connection.sendall(data)


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # A TLS or buffered close would end the connection cleanly.
    connection.close()


def hang(connection):
    while connection.recv(4096):
        pass


def drip(connection):
    connection.sendall(answer("200 OK", length=10_000))
    while True:
        connection.sendall(b" ")
        time.sleep(0.2)


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"4000\r\n" + b" " * 0x4000 + b"\r\n")


def handshake_cut(connection):
    connection.recv(4096)
    connection.sendall(bytes.fromhex("160303007a020000760303"))


BOMB = compressed(itertools.repeat(b" " * (1 << 20), 16))
CHUNK = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\nhalf"
LONG = [f"X-Long: {'x' * 65_536}"] * 100
ENTITIES = "".join(f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, 10))
BILLION = (f'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY e0 "ha">{ENTITIES}]>'
           '<rss><channel><title>&e9;</title></channel></rss>')
EXTERNAL = ('<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
            '<rss><channel><item><title>&a;</title></item></channel></rss>')


def body(text, *fields):
    return sending(answer("200 OK", text if isinstance(text, bytes) else text.encode(), *fields))


# Faults after the request: the name, the kind of error, and the action instead of an answer. A dict has the kinds of
# error by the kind of source, under "" for all others.
CONNECTIONS = {
    "reset": ("offline", reset),
    "closed": ("offline", lambda connection: None),
    "cut off in the head": ("offline", sending(b"HTTP/1.1 200 OK\r\nContent-Ty")),
    "cut off in the body": ("offline", sending(answer("200 OK", b"half", length=1000))),
    "cut off in a chunk": ("offline", sending(CHUNK)),
    "hanging": ("timeout", hang),
    "dripping": ("timeout", drip),
}
STATUSES = {
    "400": ("http", sending(answer("400 No"))),
    "401": ({"": "http", "gifs": "credentials"}, sending(answer("401 No"))),
    "403": ({"": "http", "gifs": "credentials"}, sending(answer("403 No"))),
    "404": ("http", sending(answer("404 No"))),
    "410": ("http", sending(answer("410 Gone"))),
    "429 with Retry-After": ("quota", sending(answer("429 No", b"", "Retry-After: 2"))),
    "500": ("http", sending(answer("500 No"))),
    "503 with Retry-After": ("http", sending(answer("503 No", b"", "Retry-After: 1"))),
    "204": ("http", sending(answer("204 None"))),
    "redirect loop": ("http", sending(answer("302 Go", b"", "Location: ?again"))),
    "redirect to a file": ("http", sending(answer("302 Go", b"", "Location: file:///etc/passwd"))),
    "redirect without an address": ("http", sending(answer("302 Go"))),
    "garbage in place of HTTP": ("decode", sending(b"\1\2\3 this is not HTTP\r\n\r\n")),
    "100 header lines of 64 KiB": ("decode", sending(answer("200 OK", b"", *LONG))),
}
BODIES = {
    "endless": ("decode", endless),
    "gzip bomb": ("decode", body(BOMB, "Content-Encoding: gzip")),
    "no gzip, but said so": ("decode", body("plain", "Content-Encoding: gzip")),
    "an unknown encoding": ("decode", body("plain", "Content-Encoding: br")),
    "too large by its length": ("decode", sending(answer("200 OK", b"x", length=MAXIMUM * 4))),
    "empty": ("decode", body("")),
    "a web page": ("decode", body("<!DOCTYPE html><html><body>Log in</body></html>")),
    "half a document": ("decode", body('{"version":"https://jsonfeed.org/version/1","it')),
    "an array in an array": ("decode", body("[[]]")),
    "a number": ("decode", body("1e999999")),
    "deep JSON": ("decode", body("[" * 100_000)),
    "deep XML": ("decode", body("<a>" * 20_000)),
    "invalid UTF-8": ("decode", body(b'{"result":"\xff\xfe\xc3\x28"}')),
    "an entity bomb": ("decode", body(BILLION)),
    "an external entity": ("decode", body(EXTERNAL)),
}
# Faults of a TLS server before or instead of the handshake.
HANDSHAKES = {"cut in the handshake": ("offline", handshake_cut), "no handshake": ("timeout", hang),
              "plain bytes": ("offline", sending(answer("400 No")))}
CERTIFICATES = {"expired": "expired", "wrong name": "elsewhere", "self-signed": "unknown"}
PROXIES = {"asks for credentials": ("http", sending(answer("407 No"))), "hangs": ("timeout", hang)}
GOAWAY, RST_STREAM, DATA = 7, 3, 0
STREAMS = {
    "goaway": ("offline", lambda stream: [frame(GOAWAY, 0, 0, bytes(4) + (2).to_bytes(4, "big")), None]),
    "reset stream": ("offline", lambda stream: [frame(RST_STREAM, 0, stream, (2).to_bytes(4, "big"))]),
    "cut in a frame": ("offline", lambda stream: [
        *head(stream, OK, 0), frame(DATA, 0, stream, bytes(500))[:100], None]),
    # Many small heads pass the limit of norris-fetch before one of nghttp2.
    **{f"head: {name}": ("decode" if name == "informational" else "offline", make) for name, make in HTTP2.items()},
}


def make_certificates(folder):
    """Writes NAME.pem with key and certificate for each kind, and trusted.pem; returns the folder."""
    folder.mkdir()
    for name, host, days in [("good", "IP:127.0.0.1", 2), ("expired", "IP:127.0.0.1", -1),
                             ("elsewhere", "DNS:elsewhere.example", 2), ("unknown", "IP:127.0.0.1", 2)]:
        key, request, certificate = (folder / f"{name}.{kind}" for kind in ["key", "csr", "crt"])
        for command in [
            ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
             "/CN=norrisd", "-addext", f"subjectAltName={host}", "-keyout", key, "-out", request],
            # Only this command accepts a negative number of days.
            ["x509", "-req", "-in", request, "-signkey", key, "-copy_extensions", "copyall", "-days", str(days), "-out",
             certificate],
        ]:
            subprocess.run(["openssl", *command], check=True, stderr=subprocess.DEVNULL)
        (folder / f"{name}.pem").write_text(key.read_text() + certificate.read_text())
    trusted = [folder / f"{name}.crt" for name in ["good", "expired", "elsewhere"]]
    (folder / "trusted.pem").write_text("".join(path.read_text() for path in trusted))
    return folder


# The upstream


def content(path, number):
    """Returns a good answer of any kind. The document changes with each fetch, so that a fetch can be recognized."""
    # A proxy is asked for whole addresses.
    path = urllib.parse.urlsplit(path).path
    kind, items = "application/json", range(number % 3, number % 3 + 6)
    if path == "/jokes/search":
        text = json.dumps({"total": 6, "result": [upgrade.fact(each) for each in items]})
    elif path == "/jokes/categories":
        text = '["dev", "food"]'
    elif path.startswith("/v1/gifs/"):
        data = [upgrade.gif("kick", each) for each in items]
        text = json.dumps({"data": data, "meta": {"status": 200, "msg": "OK", "response_id": "a"},
                           "pagination": {"total_count": 6, "count": 6, "offset": 0}})
    elif path.startswith("/api/v1/timelines"):
        text = json.dumps([upgrade.status(each) for each in items])
    elif path == "/users/posts":
        text = json.dumps({"data": [{
            "uid": str(each), "name": f"User {each}", "email": f"u{each}@users.example",
            "profile_pic": "https://users.example/u.png", "posts": [{
                "id": each, "date": "Tue Nov 24 2026 10:00:00 GMT+0100", "pics": ["https://users.example/p.png"]}],
        } for each in items]})
    elif path == "/json":
        text = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "JSON", "items": [
            {"id": str(each), "title": f"Entry {each}", "content_text": "text"} for each in items]})
    else:
        kind, text = "application/rss+xml", RSS.format("".join(map(upgrade.entry, items)))
    return answer("200 OK", text.encode(), f"Content-Type: {kind}")


class Upstream:
    """A server of all kinds of content in a separate process, which fails on demand."""

    def __init__(self, fault=None, handshake=None, certificates=None, bad="good", refuses=False, streams=None):
        self.fault, self.handshake, self.refuses, self.streams = fault, handshake, refuses, streams
        self.contexts = {}
        for failing, name in [(False, "good"), (True, bad)] if certificates else []:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates / f"{name}.pem")
            if failing and streams:
                context.set_alpn_protocols(["h2"])
            self.contexts[failing] = context
        self.failing = multiprocessing.get_context("fork").Event()
        # This socket does not listen, but reserves the port while connections are refused.
        self.reservation = self.bound(0)
        self.port = self.reservation.getsockname()[1]
        self.url = f"{'https' if certificates else 'http'}://127.0.0.1:{self.port}"
        listener = self.listener()
        self.process = multiprocessing.get_context("fork").Process(target=self.serve, args=(listener,))
        self.process.start()
        listener.close()

    def bound(self, port):
        result = socket.socket()
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind(("127.0.0.1", port))
        return result

    def listener(self):
        result = self.bound(self.port)
        result.listen(64)
        result.settimeout(0.02)
        return result

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()
        self.reservation.close()

    def serve(self, listener):
        fetched = itertools.count()
        while True:
            if self.refuses and self.failing.is_set():
                listener.close()
                while self.failing.is_set():
                    time.sleep(0.02)
                listener = self.listener()
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                threading.Thread(target=self.answer, args=(connection, fetched), daemon=True).start()

    def answer(self, connection, fetched):
        with contextlib.suppress(OSError, IndexError), connection:
            failing = self.failing.is_set()
            if failing and self.handshake:
                return self.handshake(connection)
            if self.contexts:
                connection = self.contexts[failing].wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as lines:
                if failing and self.streams:
                    return converse_http2(connection, lines, self.streams)
                first = lines.readline()
                while lines.readline() not in (b"\r\n", b""):
                    pass
                if failing and self.fault:
                    return self.fault(connection)
                connection.sendall(content(first.split()[1].decode(), next(fetched)))


# One fault


def configuration(folder, upstream, url, proxy):
    setting = f", proxy: 'http://127.0.0.1:{upstream.port}'" if proxy else ""
    return (f"http: {{timeout: {TIMEOUT}s, max_body: {MAXIMUM // 1024}KiB{setting}}}\n"
            f"facts: {{base_url: '{url}', refresh: 1s}}\n"
            f"gifs: {{base_url: '{url}', api_key_file: '{folder}/key', queries: [kick], refresh: 1s,\n"
            "  hourly_quota: 10000}\n"
            "posts:\n  sources:\n"
            f"    rss: {{kind: feed, url: '{url}/rss', refresh: 1s}}\n"
            f"    json: {{kind: feed, url: '{url}/json', refresh: 1s}}\n"
            f"    mastodon: {{kind: mastodon, url: '{url}', refresh: 1s}}\n"
            f"    users-posts: {{kind: users-posts, url: '{url}', refresh: 1s}}\n")


# A method that lists the content of each kind of source, and a method that reads it. A search is stored, so a search
# takes the time of a disk.
POSTS = {name: ("post.list", {"source": name}) for name in KINDS[2:]}
LISTS = {"facts": ("fact.search", {"query": "machines"}), "gifs": ("gif.trending", {}), **POSTS}
READS = {**LISTS, "facts": ("fact.random", {"count": 5})}


def sources(server):
    return {source["name"]: source for source in server.call("server.status")["sources"]}


def errors(server):
    return {name: source["freshness"]["error"] for name, source in sources(server).items()}


def stored(server):
    """Returns the ids of the content of each source."""
    # Without any content the reply is an error.
    return {name: sorted(item["id"] for item in server.reply(method, **parameters).get("result", {}).get("items", []))
            for name, (method, parameters) in LISTS.items()}


class Latencies:
    """Times of the reading method of each kind, measured while the block runs."""

    def __init__(self, server):
        self.server, self.times, self.ends = server, {name: [] for name in KINDS}, False
        self.thread = threading.Thread(target=self.measure)

    def measure(self):
        with self.server.connect() as connection, connection.makefile("rb") as replies:
            while not self.ends:
                for name, (method, parameters) in READS.items():
                    begin = time.perf_counter()
                    connection.sendall(harness.request(method, **parameters).encode() + b"\n")
                    replies.readline()
                    self.times[name].append((time.perf_counter() - begin) * 1000)
                    time.sleep(0.002)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()

    def percentiles(self):
        return {name: statistics.quantiles(times, n=100)[98] for name, times in self.times.items()}


def logged(log, event, name):
    """Returns the number of lines about a source."""
    lines = log.read_text(errors="replace").splitlines()
    return sum(f" {event} " in line and f"source={name}" in line for line in lines)


def run(case):
    """Runs one fault; returns a cell for each kind of source, and the figures of the daemon."""
    name, expected, how, url, proxy, folder, certificates, program = case
    folder.mkdir()
    (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
    log, wrong = folder / "log", {kind: [] for kind in KINDS}
    result = {"name": name, "cells": {}, "latency": {}, "load": math.nan, "memory": 0, "recovery": None, "problems": []}
    try:
        with Upstream(**how) as upstream:
            # Log level notice has the failures and the recoveries.
            under = ["sh", "-c", f'exec "$@" --log-level notice 2>>"{log}"', "sh"]
            setting = configuration(folder, upstream, url or upstream.url, proxy)
            with harness.daemon(folder / "home", setting, under=under,
                                SSL_CERT_FILE=str(certificates / "trusted.pem")) as server:
                lasts = url is not None and not proxy
                if not lasts:
                    harness.wait_for(lambda: all(each["items"] for each in sources(server).values()), "content")
                    for kind in KINDS:
                        harness.wait_for(lambda: stored(server)[kind], f"content of {kind}")
                upstream.failing.set()
                harness.wait_for(lambda: all(errors(server).values()), "the fault", timeout=6 * TIMEOUT + 20)
                before, memory = stored(server), server.anonymous_memory()
                command = harness.load_command(program, server.path, seconds=SECONDS)
                with Latencies(server) as latencies, harness.running(command, stdout=subprocess.PIPE) as load:
                    result["load"] = float(load.stdout.read().split()[2])
                result["latency"] = latencies.percentiles()
                result["memory"] = server.anonymous_memory() - memory
                after, now = stored(server), errors(server)
                for kind in KINDS:
                    error = now[kind] or {"kind": "none", "message": ""}
                    result["cells"][kind] = error["kind"]
                    wanted = expected.get(kind, expected[""]) if isinstance(expected, dict) else expected
                    if error["kind"] != wanted:
                        wrong[kind].append(f"{error['kind']}, not {wanted}: {error['message']}")
                    if "0123456789abcdef" in error["message"]:
                        wrong[kind].append("the message has the key")
                    if after[kind] != before[kind]:
                        wrong[kind].append("the content changed")
                    if (lines := logged(log, "source.failed", kind)) != 1:
                        wrong[kind].append(f"{lines} lines of the log")
                    if result["latency"][kind] > LATENCY_GOAL:
                        wrong[kind].append(f"p99 {result['latency'][kind]:.0f} ms")
                if not lasts:
                    begin = time.monotonic()
                    upstream.failing.clear()
                    harness.wait_for(lambda: not any(errors(server).values()), "the recovery", 2 * RECOVERY_GOAL)
                    result["recovery"] = time.monotonic() - begin
                    for kind in KINDS:
                        if (lines := logged(log, "source.recovered", kind)) != 1:
                            wrong[kind].append(f"{lines} lines of a recovery")
            if server.process.returncode:
                result["problems"].append(f"status {server.process.returncode}")
    except (harness.Failure, OSError, ValueError, KeyError) as error:
        result["problems"].append(f"{type(error).__name__}: {error}")
    if result["load"] > LATENCY_GOAL:
        result["problems"].append(f"fact.random p99 {result['load']:.0f} ms")
    if result["memory"] > MEMORY_GOAL:
        result["problems"].append(f"memory grew by {result['memory'] / 1e6:.1f} MB")
    if (result["recovery"] or 0) > RECOVERY_GOAL:
        result["problems"].append(f"recovered after {result['recovery']:.0f} s")
    result["wrong"] = {kind: texts for kind, texts in wrong.items() if texts}
    result["log"] = log.read_text(errors="replace").splitlines()[-8:] if result["wrong"] or result["problems"] else []
    return result


def forked(case):
    """Runs one fault in a process of its own, whose servers inherit no socket of another fault."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=lambda: theirs.send(run(case)))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join()


def cases(folder, program):
    certificates = make_certificates(folder / "certificates")
    faults = [("connection", "refused", "offline", {"refuses": True}, None, False)]
    for group, table in [("connection", CONNECTIONS), ("HTTP", STATUSES), ("body", BODIES)]:
        faults += [(group, name, kind, {"fault": fault}, None, False) for name, (kind, fault) in table.items()]
    faults += [("TLS", name, kind, {"handshake": fault, "certificates": certificates}, None, False)
               for name, (kind, fault) in HANDSHAKES.items()]
    faults += [("TLS", name, "offline", {"certificates": certificates, "bad": bad}, None, False)
               for name, bad in CERTIFICATES.items()]
    faults += [("HTTP/2", name, kind, {"streams": streams, "certificates": certificates}, None, False)
               for name, (kind, streams) in STREAMS.items()]
    through = "http://upstream.example"
    faults += [("proxy", "refuses connections", "offline", {"refuses": True}, through, True)]
    faults += [("proxy", name, kind, {"fault": fault}, through, True) for name, (kind, fault) in PROXIES.items()]
    faults += [("name", "does not exist", "offline", {}, "http://norrisd.invalid", False)]
    return [(f"{group}: {name}", *rest, folder / str(number), certificates, program)
            for number, (group, name, *rest) in enumerate(faults)]


def upstreams(folder, options):
    "each fault of an upstream with each kind of source: errors, latency, memory, log, recovery"
    program = harness.compiled(folder, "load")
    cells = [["fault", *KINDS, "p99 ms", "MB", "recovered s", "verdict"]]
    green, count, worst, grown, bad = 0, 0, {"fact.random": 0}, 0, []
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        for result in pool.map(forked, cases(folder, program)):
            shown = [f"{result['cells'].get(kind, '-')}{' FAIL' * (kind in result['wrong'])}" for kind in KINDS]
            problems = result["problems"] + [
                f"{kind}: {text}" for kind, texts in result["wrong"].items() for text in texts]
            figures = [f"{result['load']:.2f}", f"{result['memory'] / 1e6:.1f}",
                       "-" if result["recovery"] is None else f"{result['recovery']:.1f}"]
            cells.append([result["name"], *shown, *figures, "WRONG" if problems else "ok"])
            print("upstreams:", *cells[-1], sep="\t", flush=True)
            for line in [*problems, *result["log"]]:
                print(f"    {line[:220]}", flush=True)
            count += len(KINDS)
            green += 0 if result["problems"] else sum(kind not in result["wrong"] for kind in KINDS)
            grown = max(grown, result["memory"])
            for kind, figure in [*result["latency"].items(), ("fact.random", result["load"])]:
                worst[kind] = max(worst.get(kind, 0), figure)
            bad += [f"{result['name']}: {problem}" for problem in problems]
    harness.table(cells)
    rows = [harness.Row("cells that are told, survived and mended", str(green), goal=str(count), met=green == count,
                        note="; ".join(bad[:6]))]
    rows += [harness.Row(f"worst p99, {kind}", f"{figure:.2f} ms", goal=f"<= {LATENCY_GOAL} ms",
                         met=figure <= LATENCY_GOAL) for kind, figure in worst.items()]
    return [*rows, harness.Row("largest growth of memory", f"{grown / 1e6:.1f} MB",
                               goal=f"<= {MEMORY_GOAL / 1e6:.1f} MB", met=grown <= MEMORY_GOAL)]

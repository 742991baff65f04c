#!/usr/bin/env python3
"""Measures what others notice while an upstream attacks norrisd: hostile heads, many hostile feeds, changed facts.

Usage: Scripts/benchmarks/attacks_upstream.py [--structure] [--programs DIR] [NAME...]     (as root; as attacks.py)

Upstreams run in separate processes. Beside the hostile source the daemon fetches a small feed every second;
how long it went without a request is `beside`. The daemon is ended in the middle of each attack.
"""

import collections
import functools
import itertools
import json
import math
import multiprocessing
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.parse
import zlib

import attacks
from attacks import ATTACKERS, Daemon, Report, Worker, lasting, measure, request

BESIDE_GOAL = 4  # seconds without a request for the feed that is due every second
RSS = '<?xml version="1.0"?>\n<rss version="2.0"><channel><title>t</title>{}</channel></rss>\n'
ITEM = "<item><guid>{0}</guid><title>{0}</title></item>"
FIELDS = b"a:\r\n" * 60_000
ATTACK = 8  # seconds
CHANGED = 90_000  # facts
QUOTA = 100


# The upstream


def answer(body=b"", status="200 OK", kind="application/rss+xml", fields=b""):
    """Returns the bytes of a complete reply."""
    body = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + fields + b"\r\n" + body


def gifs(url):
    """Returns Giphy's reply to a search: one GIF with an id from the query."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).get("q", ["none"])[0]
    name = "g" + "".join(letter for letter in query if letter.isalnum())
    original = {"url": f"https://media0.giphy.com/media/{name}/giphy.gif", "width": "480", "height": "229"}
    gif = {"type": "gif", "id": name, "url": f"https://giphy.com/gifs/{name}", "title": query, "rating": "g",
           "images": {"original": original}}
    pagination = {"total_count": 1, "count": 1, "offset": 0}
    return answer(json.dumps({"data": [gif], "pagination": pagination, "meta": {"status": 200, "response_id": "a"}}),
                  kind="application/json")


class Upstream:
    """An HTTP server in a separate process that records the times of requests. A route maps the start of a path to a
    function of the path and the request number, which returns the reply as bytes or as parts."""

    def __init__(self, routes):
        self.routes = {"/v1/gifs/": lambda url, number: gifs(url), "/beside": beside} | routes
        self.log = tempfile.NamedTemporaryFile()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.process = multiprocessing.get_context("fork").Process(target=self.serve, daemon=True)
        self.process.start()
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()

    def serve(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        counters = collections.defaultdict(lambda: itertools.count(1))
        log = open(self.log.name, "ab", buffering=0)

        def converse(connection):
            with connection, connection.makefile("rb") as lines:
                while line := lines.readline():
                    url = line.split()[1].decode()
                    while lines.readline() not in (b"\r\n", b""):
                        pass
                    route = next((route for route in self.routes if url.startswith(route)), None)
                    log.write(f"{time.monotonic()} {route}\n".encode())
                    reply = self.routes[route](url, next(counters[route])) if route else answer(status="404 No")
                    for part in [reply] if isinstance(reply, bytes) else reply:
                        connection.sendall(part)
                    # Other replies end with the connection.
                    if not isinstance(reply, bytes) or b"Content-Length" not in reply[:4096]:
                        return

        def guarded(connection):
            try:
                converse(connection)
            except OSError:
                pass

        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()

    def times(self, route):
        """Returns the times of the requests for a route."""
        lines = pathlib.Path(self.log.name).read_text().splitlines()
        return [float(line.split()[0]) for line in lines if line.split()[1] == route]

    def gap(self, route, begin, end):
        """Returns the longest time without a request for a route, in seconds."""
        times = [begin, *(moment for moment in self.times(route) if begin < moment < end), end]
        return max(after - before for before, after in itertools.pairwise(times))


def beside(url, number):
    """Returns the feed beside the attack, with status 304 for later requests."""
    if number > 1:
        return answer(status="304 Not Modified", fields=b'ETag: "1"\r\n')
    return answer(RSS.format("".join(map(ITEM.format, range(20)))), fields=b'ETag: "1"\r\n')


# Configuration and requests


def configuration(upstream, sources="", facts="{{enabled: false}}", quota=100_000):
    return (f"http: {{{{timeout: 60s}}}}\nfacts: {facts}\n"
            f"gifs: {{{{base_url: '{upstream.url}', api_key_file: '{{folder}}/key', queries: [], refresh: 1h, "
            f"hourly_quota: {quota}}}}}\n"
            f"posts:\n  refresh: 24h\n  sources:\n"
            f"    beside: {{{{kind: feed, url: '{upstream.url}/beside', refresh: 1s}}}}\n{sources}")


def source(name, upstream, path, kind="feed", refresh="1s"):
    return f"    {name}: {{{{kind: {kind}, url: '{upstream.url}{path}', refresh: {refresh}}}}}\n"


def searches(word):
    """Returns 2,000 different GIF searches."""
    return [request("gif.search", {"query": f"{word} {number}"}) + b"\n" for number in range(2000)]


def run(programs, upstream, configuration, attackers=(), seconds=ATTACK, begin=lambda daemon: None, under=(),
        network=True, **options):
    """Measures a continuous attack of an upstream."""
    with Daemon(programs, configuration, files={"key": "key"}, under=under) as daemon:
        daemon.wait_for("beside", lambda source: source["items"])

        def during(report):
            begin(daemon)
            since = time.monotonic()
            time.sleep(lasting(seconds))
            gap = upstream.gap("/beside", since, time.monotonic())
            report.notes.append(f"beside {gap:.1f} s")
            report.miss(gap > BESIDE_GOAL, "beside", timed=True)

        report, _ = measure(daemon, attackers, during=during, network=searches("new") if network else None,
                            stop=True, **options)
        return report


# Heads of replies


def cookies(number):
    return b"".join(b"Set-Cookie: name%d=value; Path=/\r\n" % each for each in range(number))


def trailers(url, number):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nTransfer-Encoding: chunked\r\n\r\n"
    body = RSS.format(ITEM.format(1)).encode()
    return head + b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, FIELDS)


def chunks(url, number):
    """Returns a body of 2 MiB in chunks of one byte."""
    body = RSS.format(ITEM.format(1)).encode().ljust(1 << 21)
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    return [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", pieces, b"0\r\n\r\n"]


def drip(url, number):
    """Sends a byte per second."""
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
    while True:
        time.sleep(1)
        yield b"<"


HEADS = {
    "200": lambda url, number: answer(RSS.format(ITEM.format(1)), fields=FIELDS),
    "302": lambda url, number: answer(status="302 Found", fields=FIELDS + b"Location: /hostile/%d\r\n" % number),
    "304": lambda url, number: answer(status="304 Not Modified", fields=FIELDS),
    "404": lambda url, number: answer(status="404 Not Found", fields=FIELDS),
    "early": lambda url, number: b"HTTP/1.1 103 Early Hints\r\n" + FIELDS + b"\r\n" + answer(RSS.format("")),
    "cookies": lambda url, number: answer(RSS.format(ITEM.format(1)), fields=cookies(6_000)),
    "links": lambda url, number: answer(RSS.format(""), fields=b"Link: <https://a.example/>; rel=next\r\n" * 7_000),
    "folded": lambda url, number: answer(RSS.format(""), fields=b"ETag: a\r\n" + b" b\r\n" * 60_000),
    "etag": lambda url, number: answer(RSS.format(""), fields=b'ETag: "%s"\r\n' % (b"x" * 90_000)),
    "trailers": trailers,
    # An endless sequence.
    "informational": lambda url, number: itertools.repeat(b"HTTP/1.1 103 Early Hints\r\na: b\r\n\r\n" * 2_000),
    "endless": lambda url, number: itertools.chain([b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"a:\r\n" * 20_000)),
    "chunk-extension": lambda url, number: itertools.chain(
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"], itertools.repeat(b"a" * 100_000)),
    "chunks": chunks,
}


def headers(name, kind="feed", programs=None):
    """A source whose replies have a head of 240 KB, fetched every second."""
    with Upstream({"/hostile": HEADS[name]}) as upstream:
        return run(programs, upstream, configuration(upstream, source("hostile", upstream, "/hostile", kind)))


def giphy_headers(programs):
    """Giphy sends such heads to another user. Only the feed and stored content have goals."""
    def reply(url, number):
        return answer("{}", kind="application/json", fields=FIELDS) if "bad" in url else gifs(url)

    with Upstream({"/v1/gifs/": reply}) as upstream:
        attacker = (ATTACKERS[0], attacks.exchange, 4, b"".join(searches("bad")[:200]), 1, attacks.LIFETIME - 5)
        return run(programs, upstream, configuration(upstream), [attacker], network=False)


# HTTP/2 (RFC 9113), whose heads are compressed (RFC 7541)

HEADERS, SETTINGS, CONTINUATION, END_STREAM, END_HEADERS, ACK = 1, 4, 9, 1, 4, 1
OK, EARLY = b"\x88", b"\x08\x03103"  # ":status"
EMPTY = b"\x00\x01a\x00"
# A field of 3,900 bytes that the client stores, and the byte that repeats the field.
LONG, AGAIN = b"\x40\x01a\x7f" + bytes([3_900 - 127 & 127 | 128, 3_900 - 127 >> 7]) + b"x" * 3_900, b"\xbe"


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def head(stream, block, flags=END_STREAM):
    """Returns a head of any length as frames."""
    parts = [block[start:start + 16_000] for start in range(0, len(block), 16_000)]
    for number, part in enumerate(parts):
        end = END_HEADERS if number == len(parts) - 1 else 0
        yield frame(CONTINUATION if number else HEADERS, end | (0 if number else flags), stream, part)


HTTP2 = {
    "fields": lambda stream: head(stream, OK + EMPTY * 60_000),
    "repeated": lambda stream: head(stream, OK + LONG + AGAIN * 60_000),
    "endless": lambda stream: itertools.chain(
        [frame(HEADERS, 0, stream, OK)], itertools.repeat(frame(CONTINUATION, 0, stream, EMPTY * 4_000))),
    "informational": lambda stream: itertools.repeat(frame(HEADERS, END_HEADERS, stream, EARLY) * 1_000),
    "trailers": lambda stream: itertools.chain(head(stream, OK, 0), head(stream, EMPTY * 60_000)),
}


def converse_http2(connection, frames, reply):
    """Answers each request with frames, and ends the connection after None."""
    frames.read(24)
    connection.sendall(frame(SETTINGS, 0, 0))
    while header := frames.read(9):
        kind, flags, stream = header[3], header[4], int.from_bytes(header[5:], "big")
        frames.read(int.from_bytes(header[:3], "big"))
        if kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        for part in reply(stream) if kind == HEADERS else ():
            if part is None:
                return
            connection.sendall(part)


def serve_http2(listener, context, reply):
    """Answers each request with frames. Runs in a separate process."""
    def guarded(connection):
        try:
            with context.wrap_socket(connection, server_side=True) as connection, connection.makefile("rb") as frames:
                converse_http2(connection, frames, reply)
        except OSError:
            pass

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=guarded, args=(connection,), daemon=True).start()


def http2_headers(name, programs):
    """A source that answers over HTTP/2, fetched every second."""
    with tempfile.TemporaryDirectory() as folder, Upstream({}) as upstream:
        pair = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-addext",
                        "subjectAltName=IP:127.0.0.1", *pair], check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")
        context.set_alpn_protocols(["h2"])
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"https://127.0.0.1:{listener.getsockname()[1]}/hostile"
            server = multiprocessing.get_context("fork").Process(
                target=serve_http2, args=(listener, context, HTTP2[name]), daemon=True)
            server.start()
            try:
                hostile = f"    hostile: {{{{kind: feed, url: '{url}', refresh: 1s}}}}\n"
                return run(programs, upstream, configuration(upstream, hostile),
                           under=["env", f"SSL_CERT_FILE={folder}/certificate.pem"])
            finally:
                server.kill()
                server.join()


CUTS = {
    "status line": b"HTTP/1.1 200 O", "field": b"HTTP/1.1 200 OK\r\nContent-Ty",
    "fields": b"HTTP/1.1 200 OK\r\nA: b\r\n",
    "nothing": b"", "second head": b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 O",
}


def cut_heads(programs):
    """A reply that ends inside its head is a transport error, which the daemon retries within seconds."""
    report = Report()
    routes = {f"/cut{number}": lambda url, _, cut=cut: cut for number, cut in enumerate(CUTS.values())}
    with Upstream(routes) as upstream:
        sources = "".join(source(path[1:], upstream, path, refresh="1h") for path in routes)
        with Daemon(programs, configuration(upstream, sources)) as daemon:
            for name, path in zip(CUTS, routes):
                error = daemon.wait_for(path[1:], lambda source: source["freshness"]["error"])["freshness"]["error"]
                report.notes.append(f"{name}: {error['kind']}: {error['message']}")
                report.miss(error["kind"] != "offline", f"{name} is not a transport error")
            time.sleep(lasting(12))
            tried = {name: len(upstream.times(path)) for name, path in zip(CUTS, routes)}
            report.miss(min(tried.values()) < 2 and not attacks.STRUCTURE, f"not tried again: {tried}")
            report.peak = daemon.peak()
    return report


# Bodies


def latin1():
    """Returns 15 MiB of Latin-1, which needs twice the size in UTF-8."""
    item = f"<item><guid>{{}}</guid><description>{'é' * 9_000}</description></item>"
    text = RSS.format("".join(map(item.format, range(1_700))))
    return text.replace('"1.0"', '"1.0" encoding="ISO-8859-1"').encode("latin-1")


def tiny_items():
    """Returns 4.4 MiB of 99,000 items."""
    items = "".join(f"<item><guid>{number}</guid></item>" for number in range(99_000))
    return RSS.format(items).encode() + b" " * 900_000


def tiny_json():
    """Returns 99,000 items as a JSON feed."""
    items = [{"id": str(number), "content_text": "a"} for number in range(99_000)]
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": items}).encode()


def statuses():
    """Returns 16 MB of Mastodon statuses with many tags each."""
    tags = [{"name": f"tag{number}"} for number in range(500)]
    status = {"created_at": "2026-01-01T00:00:00Z", "content": "<p>a</p>" * 200, "tags": tags, "media_attachments": [],
              "account": {"id": "1", "username": "a", "acct": "a", "display_name": "A", "url": "https://a.example/"}}
    return json.dumps([status | {"id": str(number), "uri": f"u{number}"} for number in range(1_200)]).encode()


def zipped():
    """Returns 11 MiB of items that compress well."""
    item = f"<item><guid>{{}}</guid><title>{'a' * 25}</title></item>"
    return RSS.format("".join(map(item.format, range(95_000)))).encode() + b" " * (1 << 22)


BODIES = {"latin1": latin1, "tiny": tiny_items, "json": tiny_json, "zipped": zipped, "mastodon": statuses}


def feeds(name, count, peak, programs):
    """Hostile feeds are all due at once, repeatedly."""
    body = BODIES[name]()
    kind = "mastodon" if name == "mastodon" else "feed"
    coding = b""
    if name == "zipped":
        body, coding = zlib.compress(body, 9, wbits=31), b"Content-Encoding: gzip\r\n"
    released = multiprocessing.get_context("fork").Event()

    def reply(url, number):
        released.wait()
        return answer(body, kind="application/json" if body[:1] in b"{[" else "application/rss+xml", fields=coding)

    with Upstream({"/hostile": reply}) as upstream:
        sources = "".join(source(f"hostile{number}", upstream, f"/hostile{number}", kind) for number in range(count))
        return run(programs, upstream, configuration(upstream, sources), begin=lambda daemon: released.set(),
                   seconds=12, peak=peak)


def gif_page():
    """Returns 14 MiB as Giphy's reply: GIFs with long titles and many renditions."""
    rendition = {"url": "https://media0.giphy.com/media/a/giphy.gif", "width": "480", "height": "229"}
    gif = {"type": "gif", "url": "https://giphy.com/gifs/a", "title": "a" * 20_000, "rating": "g",
           "images": {"original": rendition} | {f"r{number}": rendition for number in range(200)}}
    data = [gif | {"id": f"g{number}"} for number in range(350)]
    return {"data": data, "pagination": {"total_count": 350, "count": 350, "offset": 0},
            "meta": {"status": 200, "response_id": "a"}}


def giphy_bodies(programs):
    """Giphy sends such bodies to another user."""
    body = answer(json.dumps(gif_page()), kind="application/json")
    with Upstream({"/v1/gifs/": lambda url, number: body if "bad" in url else gifs(url)}) as upstream:
        attacker = (ATTACKERS[0], attacks.exchange, 4, b"".join(searches("bad")[:200]), 1, attacks.LIFETIME - 5)
        return run(programs, upstream, configuration(upstream), [attacker], seconds=12, network=False, peak=160)


def changed_facts(url, number):
    """Returns 90,000 facts, each with another text than in the last reply."""
    facts = ",".join(f'{{"id":"f{each}","value":"Chuck Norris has counted to {each} in reply {number}."}}'
                     for each in range(CHANGED))
    return answer(f'{{"total":{CHANGED},"result":[{facts}]}}', kind="application/json")


def large_import(kind, programs):
    """All facts or posts change with each fetch, beside a feed with status 304, while users read and write."""
    def posts(url, number):
        return answer(RSS.format("".join(
            f"<item><guid>{each}</guid><title>{each} {number}</title></item>" for each in range(20_000))))

    categories = answer('["dev"]', kind="application/json")
    routes = {"/jokes/search": changed_facts, "/jokes/categories": lambda *_: categories, "/posts": posts}
    with Upstream(routes) as upstream:
        facts = f"{{{{base_url: '{upstream.url}', queries: [chuck], refresh: 1s}}}}" if kind == "facts" else \
            "{{enabled: false}}"
        sources = source("posts", upstream, "/posts") if kind == "posts" else ""
        with Daemon(programs, configuration(upstream, sources, facts), files={"key": "key"}) as daemon:
            daemon.wait_for("beside", lambda source: source["items"])
            post = daemon.call("post.list", {"source": "beside"})["items"][0]["id"]
            stored = 20_000 if kind == "facts" else 2_000  # a run stores the 2,000 newest posts
            daemon.wait_for(kind, lambda source: source["items"] >= stored, seconds=120)
            daemon.call("gif.search", {"query": "stored"})
            kept = {"kind": "post", "id": post}
            disk = [("favorite.list", None), ("post.list", None), ("post.mark_read", {"ids": [post]}),
                    ("favorite.add", kept), ("fact.search", {"query": "kick"}), ("recent.list", None),
                    ("gif.search", {"query": "stored"}), ("author.list", None), ("favorite.remove", kept),
                    ("post.list", {"unread": True}), ("fact.today", {"date": "2026-01-01"}), ("post.get", {"id": post})]

            def during(report):
                since = time.monotonic()
                time.sleep(lasting(15))
                gap = upstream.gap("/beside", since, time.monotonic())
                report.notes.append(f"beside {gap:.1f} s")
                report.miss(gap > BESIDE_GOAL, "beside", timed=True)

            lines = [request(*each) + b"\n" for each in disk]
            report, _ = measure(daemon, [], disk=lines, network=searches("new"), during=during, stop=True)
            return report


# The quota


ASKING = {"search": ("gif.search", "query"), "random": ("gif.random", "tag"), "get": ("gif.get", "id")}


def quota(name, programs):
    """One user exhausts the remaining Giphy requests. A search of another user still succeeds."""
    method, parameter = ASKING[name]
    lines = [request(method, {parameter: f"much{number}"}) + b"\n" for number in range(2 * QUOTA)]
    with Upstream({}) as upstream, \
            Daemon(programs, configuration(upstream, quota=QUOTA), files={"key": "key"}) as daemon:
        Worker(ATTACKERS[0], attacks.exchange, daemon.path, 4, b"".join(lines), 1, 20, True, len(lines)).result()
        used = len(upstream.times("/v1/gifs/"))
        reply = Worker(attacks.VICTIM, ask, daemon.path, "gif.search", {"query": "mine"}).result()
        report = Report()
        report.notes.append(f"{used} requests of {QUOTA} by one user")
        report.miss(not reply.get("items"), f"another user gets {reply}")
        report.peak = daemon.peak()
        return report


def slow(programs):
    """Eight sources send a byte per second."""
    with Upstream({"/hostile": drip}) as upstream:
        sources = "".join(source(f"hostile{number}", upstream, "/hostile") for number in range(8))
        return run(programs, upstream, configuration(upstream, sources), seconds=15)


REFRESHED_GOAL = 10  # upstream requests that a user without rights may cause in an attack


def refreshes(programs):
    """A user without rights requests many refreshes of a source."""
    with Upstream({"/rare": beside}) as upstream:
        refresh = request("source.refresh", {"source": "rare"}) + b"\n"
        attacker = (ATTACKERS[0], attacks.exchange, 4, refresh, math.inf, attacks.LIFETIME - 5, True, math.inf)
        rare = source("rare", upstream, "/rare", refresh="24h")
        report = run(programs, upstream, configuration(upstream, rare), [attacker])
        count = len(upstream.times("/rare"))
        report.notes.append(f"{count} requests to the source")
        report.miss(count > REFRESHED_GOAL, "requests")
        return report


def ask(path, method, params):
    with attacks.connected(path) as connection:
        connection.sendall(request(method, params) + b"\n")
        reply = json.loads(attacks.reply_line(connection))
        return reply.get("result", reply.get("error"))


ATTACKS = {
    **{f"headers-{name}": functools.partial(headers, name) for name in HEADS},
    "headers-mastodon": functools.partial(headers, "200", "mastodon"),
    "headers-giphy": giphy_headers,
    **{f"headers-http2-{name}": functools.partial(http2_headers, name) for name in HTTP2},
    "headers-cut": cut_heads,
    "import-facts": functools.partial(large_import, "facts"),
    "import-posts": functools.partial(large_import, "posts"),
    **{f"feeds-{name}-{count}": functools.partial(feeds, name, count, peak)
       for name in BODIES for count, peak in [(2, 160), (8, 256)]},
    "feeds-giphy": giphy_bodies,
    **{f"quota-{name}": functools.partial(quota, name) for name in ASKING},
    "slow": slow,
    "refreshes": refreshes,
}


if __name__ == "__main__":
    attacks.main(ATTACKS, __doc__)

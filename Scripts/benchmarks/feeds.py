"""Measures the effects of a hostile upstream: memory, CPU time, another source, another user's latency, the stop.

An upstream in a separate process delays the hostile answer until the measurements before it are complete. The daemon
also fetches a small feed every second, and another user requests facts, which needs root.
"""

import itertools
import json
import math
import multiprocessing
import os
import pathlib
import resource
import signal
import socket
import subprocess
import threading
import time
import zlib

import attacks
import harness

CPU_GOAL, LATENCY_GOAL, END_GOAL = 3, 50, 1000  # s per source, ms, ms
PEAK_GOALS = {1: 96, 2: 160, 8: 256}  # MiB, by the number of hostile sources
BESIDE_GOAL = 5  # seconds without a fetch of the small feed, which is due every second
OBSERVED, SETTLED = 20, 2  # seconds: the maximum of an attack, and the idle time after which it has ended
IDLE = 0.15  # seconds of CPU time in a second below which the daemon is idle
UNDER_WAY = 0.5  # seconds from the answer until SIGTERM
MEBIBYTE = 1 << 20
REPLIES, FACTS, INVENTED = 8, 1000, 60

RSS = '<?xml version="1.0"?>\n<rss version="2.0"><channel><title>t</title>{}</channel></rss>\n'
BASED = '<i xml:base="a/"/>'
ITEM = "<item><guid>{0}</guid><title>{0}</title><description>{1}</description></item>"


def compressed(chunks):
    compressor = zlib.compressobj(9, wbits=31)
    return b"".join([*map(compressor.compress, chunks), compressor.flush()])


def dtd_attribute():
    "87 KB of RSS whose DTD declares a default attribute of 50 KB"
    doctype = f'<!DOCTYPE rss [<!ATTLIST i a CDATA "{"x" * 50_000}">]>'
    return RSS.format(f"<item><guid>1</guid>{'<i/>' * 9_000}</item>").replace("<rss", doctype + "<rss", 1)


def xml_base():
    "an xml:base of 50 KB over 9,000 elements"
    entry = f"<entry><id>1</id><title>t</title>{BASED * 9_000}</entry>"
    return f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h.example/{"x/" * 25_000}">{entry}</feed>'


def namespace():
    "a namespace URI of 1 MB over 20,000 elements"
    return RSS.format("<n:i/>" * 20_000).replace("<rss", f'<rss xmlns:n="http://h.example/{"x" * 1_000_000}"', 1)


def html_nesting():
    "300,000 nested elements of HTML in one description"
    return RSS.format(ITEM.format(1, "&lt;div>" * 300_000))


def html_tags():
    "a description of 8 MB of tags that are never closed"
    return RSS.format(ITEM.format(1, "&lt;a href=&quot;" * 500_000))


def json_nesting():
    "8 MB of brackets in a JSON feed"
    return '{"version":"https://jsonfeed.org/version/1.1","items":' + "[" * 8_000_000


def gzip_bomb():
    "512 MiB of spaces in a gzipped feed"
    head, tail = RSS.split("{}")
    return compressed(itertools.chain([head.encode()], itertools.repeat(b" " * MEBIBYTE, 512), [tail.encode()]))


def gzipped_dtd():
    "a default attribute of 600 KB in ten items of 9,000 elements, 3 KB gzipped"
    doctype = f'<!DOCTYPE rss [<!ATTLIST i a CDATA "{"x" * 600_000}">]>'
    items = f"<item><guid>1</guid>{'<i/>' * 9_000}</item>" * 10
    document = RSS.format(items).replace("<rss", doctype + "<rss", 1)
    return compressed([document.encode()])


def endless_tags():
    "opening tags of XML without end"
    return itertools.chain([RSS.split("{}")[0].encode()], itertools.repeat(b"<item><description>" * 3_000))


def latin1():
    "15 MiB of Latin-1, each letter of which takes two bytes in UTF-8"
    item = "<item><guid>{0}</guid><description>{1}</description></item>"
    items = "".join(item.format(number, "é" * 100_000) for number in range(150))
    return RSS.format(items).replace('"1.0"', '"1.0" encoding="iso-8859-1"', 1).encode("latin-1")


def tiny_items():
    "4.4 MiB of 99,000 tiny items"
    return RSS.format("".join(f"<item><guid>{number}</guid><title>t</title></item>" for number in range(99_000)))


def json_items():
    "the same as a JSON feed"
    items = ",".join(f'{{"id":"{number}","title":"t"}}' for number in range(99_000))
    return f'{{"version":"https://jsonfeed.org/version/1.1","items":[{items}]}}'


def statuses():
    "15 MiB of statuses of Mastodon with 99,000 characters each"
    status = {"account": {"id": "1", "username": "u"}, "content": "<a href='" * 11_000}
    return json.dumps([status | {"id": str(number)} for number in range(150)])


def rss_author():
    "0.9 MiB of RSS in one <author>, whose text is in parts between elements"
    text = "<b/>".join(["a" * 200 + "@ " * 20_000] * 24)
    return RSS.format(f"<item><guid>1</guid><title>t</title><author>{text}</author></item>")


def rss_authors():
    "14 MiB of RSS in 16 <author>s"
    return RSS.format("".join(
        f"<item><guid>{number}</guid><author>{'a@ ' * 300_000}</author></item>" for number in range(16)))


def atom_names():
    "14 MiB of Atom in names and email addresses"
    entry = "<entry><id>{0}</id><author><name>{1}</name><email>{1}</email></author></entry>"
    entries = "".join(entry.format(number, "a@b( " * 90_000) for number in range(16))
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'


def gzipped_latin1():
    "the 15 MiB of Latin-1 in gzip"
    return compressed([latin1()])


def fields():
    "60,000 header fields before an empty feed"
    return Head(b"a:\r\n" * 60_000, RSS.format("").encode())


class Head:
    """A reply with additional header fields."""

    def __init__(self, fields, body):
        self.fields, self.body = fields, body


# Bodies with their number of sources. Names that begin with `statuses` belong to Mastodon.
CROWDS = {
    "latin1": (latin1, 2), "tiny-items": (tiny_items, 2), "json-items": (json_items, 2), "statuses": (statuses, 2),
    "rss-author-4": (rss_author, 4), "rss-authors-4": (rss_authors, 4), "atom-names": (atom_names, 2),
    "gzip-bomb-8": (gzip_bomb, 8), "latin1-8": (latin1, 8), "latin1-gzip-8": (gzipped_latin1, 8),
    "tiny-items-8": (tiny_items, 8), "header-fields": (fields, 2),
}

FEEDS = {
    "dtd-attribute": dtd_attribute, "dtd-attribute-gzip": gzipped_dtd, "xml-base": xml_base, "namespace": namespace,
    "html-nesting": html_nesting, "html-tags": html_tags, "json-nesting": json_nesting, "gzip-bomb": gzip_bomb,
    "endless-tags": endless_tags,
}


# The upstream


def invented_facts(reply):
    """Returns a reply of a search whose facts all have different categories."""
    facts = [{"id": f"{reply}-{number}", "value": f"Chuck Norris has fact {number} of reply {reply}.", "created_at": "",
              "categories": [f"invented-{reply}-{number}-{category}-{'x' * 20}" for category in range(INVENTED)]}
             for number in range(FACTS)]
    return json.dumps({"total": FACTS, "result": facts})


class Upstream:
    """An HTTP server in a separate process: hostile at /hostile and /jokes/search, a growing feed at /beside."""

    def __init__(self, body=None):
        self.body = body.encode() if isinstance(body, str) else body
        context = multiprocessing.get_context("fork")
        self.go, self.sent = context.Event(), context.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.process = context.Process(target=self.serve, daemon=True)
        self.process.start()
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()

    def serve(self):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        fetched, replies = itertools.count(1), itertools.count(1)

        def answer(connection):
            with connection, connection.makefile("rb") as lines:
                while line := lines.readline():
                    path = line.split()[1].decode().partition("?")[0]
                    while lines.readline() not in (b"\r\n", b""):
                        pass
                    if path == "/beside":
                        feed = RSS.format("".join(ITEM.format(n, "d") for n in range(next(fetched))))
                        reply(connection, "200 OK", "application/rss+xml", feed.encode())
                    elif path.startswith("/hostile"):
                        self.go.wait()
                        # norrisd recognizes a feed by its first byte, but Mastodon's API needs a JSON content type.
                        kind = "application/rss+xml" if path == "/hostile" else "application/json"
                        reply(connection, "200 OK", kind, self.body)
                        self.sent.set()
                    elif path == "/jokes/search":
                        self.go.wait()
                        number = next(replies)
                        if number > REPLIES:
                            reply(connection, "503 Later", "text/plain", b"", "Retry-After: 3600\r\n")
                        else:
                            reply(connection, "200 OK", "application/json", invented_facts(number).encode())
                            self.sent.set()
                    else:
                        reply(connection, "200 OK", "application/json", b'["dev"]')

        def reply(connection, status, kind, body, fields=""):
            if isinstance(body, Head):
                connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body.body)}\r\n".encode())
                connection.sendall(body.fields + b"\r\n" + body.body)
            elif isinstance(body, bytes):
                coding = "Content-Encoding: gzip\r\n" if body[:2] == b"\x1f\x8b" else ""
                connection.sendall(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                                   f"{coding}{fields}\r\n".encode() + body)
            else:
                stream(connection, status, kind, body)

        def stream(connection, status, kind, body):
            head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
            connection.sendall(head.encode())
            self.sent.set()
            for chunk in body:
                connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))

        def guarded(connection):
            try:
                answer(connection)
            except OSError:
                pass

        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()


# Measuring


def call(path, method):
    with attacks.connected(path) as connection:
        connection.sendall(attacks.request(method) + b"\n")
        return json.loads(attacks.reply_line(connection))


def sources(path):
    return {source["name"]: source for source in call(path, "server.status")["result"]["sources"]}


class Figures:
    """One line of the table."""

    def __init__(self, hostile=1):
        self.hostile = hostile
        self.peak = self.cpu = self.beside = self.worst = self.percentile = self.end = math.nan
        self.notes = []

    def missed(self):
        figures = {"peak": (self.peak, min(goal for count, goal in PEAK_GOALS.items() if count >= self.hostile)),
                   "CPU": (self.cpu, self.hostile * CPU_GOAL + 1), "beside": (self.beside, BESIDE_GOAL),
                   "p99": (self.percentile, LATENCY_GOAL), "end": (self.end, END_GOAL)}
        return [name for name, (figure, goal) in figures.items() if figure > goal]

    def cells(self, name):
        values = [self.peak, self.cpu, self.beside, self.percentile, self.worst, self.end]
        texts = ["-" if math.isnan(value) else f"{value:.1f}" for value in values]
        missed = ", ".join(self.missed())
        return [name, *texts, f"MISSED: {missed}" if missed else "ok"]


def end(daemon):
    """Sends SIGTERM; returns the milliseconds until the daemon has ended."""
    begin = time.monotonic()
    daemon.process.terminate()
    try:
        daemon.process.wait(60)
    except subprocess.TimeoutExpired:
        return math.inf
    return (time.monotonic() - begin) * 1000


def observe(daemon, upstream, figures):
    """Releases the hostile answer, and measures until the daemon has been idle for a while."""
    user = attacks.Worker(attacks.VICTIM, attacks.victim, daemon.path, [attacks.RANDOM], 0.003, priority=-15)
    time.sleep(attacks.LEAD)
    used, begin = daemon.cpu(), time.monotonic()
    upstream.go.set()
    items, changed, gap = None, begin, 0.0
    last, idle_since = used, None
    while (now := time.monotonic()) < begin + OBSERVED:
        current = sources(daemon.path)["beside"]["items"]
        gap = max(gap, now - changed)
        if current != items:
            items, changed = current, now
        time.sleep(1)
        cpu = daemon.cpu()
        busy, last = cpu - last, cpu
        if busy > IDLE or not upstream.sent.is_set():
            idle_since = None
        elif idle_since is None:
            idle_since = now
        elif now - idle_since >= SETTLED and gap:
            break
    else:
        figures.notes.append(f"not done after {OBSERVED} s")
    figures.cpu, figures.peak, figures.beside = daemon.cpu() - used, daemon.peak(), gap
    os.kill(user.pid, signal.SIGTERM)
    samples = user.result().get("samples", [])
    figures.worst, figures.percentile = attacks.spread([sample for sample in samples if sample[0] >= begin])


def configuration(upstream, hostile, facts="{{enabled: false}}", kind="feed"):
    beside = f"beside: {{{{kind: feed, url: '{upstream.url}/beside', refresh: 1s}}}}"
    return (f"http: {{{{timeout: 2m}}}}\nfacts: {facts}\nposts:\n  refresh: 24h\n  sources:\n    {beside}\n"
            + "".join(f"    hostile{number or ''}: {{{{kind: {kind}, url: '{upstream.url}/hostile'}}}}\n"
                      for number in range(hostile)))


def wait_for_beside(daemon):
    harness.wait_for(lambda: sources(daemon.path)["beside"]["items"] > 0, "the source beside")


def ended_under_way(daemon, upstream, figures):
    """Measures a stop while the daemon decodes the hostile answer."""
    wait_for_beside(daemon)
    upstream.go.set()
    upstream.sent.wait(60)
    time.sleep(UNDER_WAY)
    figures.end = end(daemon)


def feed(body, hostile=1, kind="feed"):
    figures = Figures(hostile)
    with Upstream(body) as upstream, attacks.Daemon(
            harness.PROGRAMS, configuration(upstream, hostile, kind=kind)) as daemon:
        wait_for_beside(daemon)
        observe(daemon, upstream, figures)
        source = sources(daemon.path)["hostile"]
        error = source["freshness"].get("error")
        figures.notes.append(f"{error['kind']}: {error['message']}" if error else f"{source['items']} items stored")
        daemon.process.kill()
    with Upstream(body) as upstream, attacks.Daemon(
            harness.PROGRAMS, configuration(upstream, hostile, kind=kind)) as daemon:
        ended_under_way(daemon, upstream, figures)
    return figures


def categories():
    "eight replies of 1,000 facts with 60 invented categories each"
    figures = Figures()
    with Upstream() as upstream:
        facts = f"{{{{base_url: '{upstream.url}', refresh: 1s}}}}"
        with attacks.Daemon(harness.PROGRAMS, configuration(upstream, 0, facts)) as daemon:
            wait_for_beside(daemon)
            observe(daemon, upstream, figures)
            reply = call(daemon.path, "fact.categories")
            error = reply.get("error", {}).get("code")
            count = error or len(reply["result"].get("categories", reply["result"].get("items", [])))
            facts = sources(daemon.path)["facts"]
            figures.notes.append(f"{facts['items']} facts")
            figures.notes.append(f"fact.categories: {f'error {error}' if error else f'{count} names'}")
            figures.end = end(daemon)
            # Each start reads the stored categories.
            daemon.process = subprocess.Popen(
                daemon.process.args, env={"HOME": daemon.temporary.name}, stderr=subprocess.DEVNULL)
            harness.wait_for(lambda: harness.accepts(daemon.path), "the next start")
            call(daemon.path, "fact.categories")
            figures.notes.append(f"VmHWM after the next start: {daemon.peak():.1f} MiB")
            figures.peak = max(figures.peak, daemon.peak())
            folder = pathlib.Path(daemon.temporary.name)
            size = sum(file.stat().st_size for file in folder.glob("state/*")) / MEBIBYTE
            figures.notes.append(f"{size:.0f} MiB in the state directory")
    return figures


def blank_lines():
    "a fortune file of a million blank lines"
    figures, before = Figures(), resource.getrusage(resource.RUSAGE_CHILDREN)
    files = {"many": "\n" * 1_000_000}
    setting = "facts: {{enabled: false, fortunes: ['{folder}/many']}}"
    begin = time.monotonic()
    try:
        with attacks.Daemon(harness.PROGRAMS, setting, files=files) as daemon:
            figures.notes.append(f"READY=1 after {time.monotonic() - begin:.1f} s")
            while True:
                cpu = daemon.cpu()
                time.sleep(1)
                if daemon.cpu() - cpu <= IDLE or time.monotonic() > begin + OBSERVED:
                    break
            figures.peak, figures.cpu, figures.end = daemon.peak(), daemon.cpu(), end(daemon)
    except TimeoutError:
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        figures.notes.append(f"no READY=1 within {time.monotonic() - begin:.0f} s")
    return figures


def feeds(folder, options):
    "the cost of hostile feeds, facts and fortune files (as root)"
    if os.geteuid() != 0:
        raise harness.Failure("root is needed to ask as another user")
    cells = [["attack", "VmHWM MiB", "CPU s", "beside s", "p99 ms", "max ms", "end ms", "verdict"]]
    notes, missed = [], 0
    runs = {name: lambda make=make: feed(make()) for name, make in FEEDS.items()}
    for name, (make, count) in CROWDS.items():
        kind = "mastodon" if name.startswith("statuses") else "feed"
        runs[name] = lambda make=make, count=count, kind=kind: feed(make(), count, kind)
    for name, run in (runs | {"categories": categories, "blank-lines": blank_lines}).items():
        figures = run()
        missed += bool(figures.missed())
        cells.append(figures.cells(name))
        notes.append(f"{name}: {', '.join(figures.notes)}")
        print("feeds:", *cells[-1], sep="\t", flush=True)
    harness.table(cells)
    print(*notes, sep="\n")
    count = len(cells) - 1
    return [harness.Row("hostile upstreams within the goals", str(count - missed), goal=str(count), met=not missed)]

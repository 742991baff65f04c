"""Measures for each fault of an upstream: norrisd's report, the latency of other users, and the time to recovery."""

import contextlib
import itertools
import multiprocessing
import socket
import ssl
import struct
import subprocess
import threading
import time

import harness
from feeds import ITEM, RSS, compressed

LATENCY_GOAL, RECOVERY_GOAL = 50, 60  # ms, s
SECONDS = 3  # duration of the requests while the upstream fails
TIMEOUT = 2  # http.timeout, s
MAXIMUM = 256 * 1024  # http.max_body


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
# Faults after the request: the name, the kind of error, and the action instead of an answer.
ANSWERS = {
    "reset": ("offline", reset),
    "closed": ("offline", lambda connection: None),
    "cut off": ("offline", sending(answer("200 OK", b"half", length=1000))),
    "cut off in a chunk": ("offline", sending(CHUNK)),
    "hanging": ("timeout", hang),
    "dripping": ("timeout", drip),
    "endless": ("decode", endless),
    "gzip bomb": ("decode", sending(answer("200 OK", BOMB, "Content-Encoding: gzip"))),
    "100 header lines of 64 KiB": ("decode", sending(answer("200 OK", b"", *LONG))),
    "bad request": ("http", sending(answer("400 No"))),
    "not found": ("http", sending(answer("404 No"))),
    "too many requests": ("quota", sending(answer("429 No", b"", "Retry-After: 2"))),
    "broken": ("http", sending(answer("500 No"))),
    "unavailable": ("http", sending(answer("503 No", b"", "Retry-After: 1"))),
    "HTML": ("decode", sending(answer("200 OK", b"<!DOCTYPE html><html><body>Log in</body></html>"))),
    "garbage": ("decode", sending(b"\1\2\3 this is not HTTP\r\n\r\n")),
    "half a document": ("decode", sending(answer("200 OK", b'{"version":"https://jsonfeed.org/version/1","it'))),
    "redirect loop": ("http", sending(answer("302 Go", b"", "Location: ?again"))),
}
# Faults of a TLS server before or instead of the handshake.
HANDSHAKES = {"TLS: cut in the handshake": handshake_cut, "TLS: no handshake": hang,
              "TLS: plain bytes": sending(answer("400 No"))}
CERTIFICATES = {"TLS: expired": "expired", "TLS: wrong name": "elsewhere", "TLS: self-signed": "unknown"}
PROXIES = {"proxy: asks for credentials": ("http", sending(answer("407 No"))), "proxy: hangs": ("timeout", hang)}


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


class Upstream:
    """A server of a growing feed in a separate process, which fails on demand."""

    def __init__(self, fault=None, handshake=None, certificates=None, bad="good", refuses=False):
        self.fault, self.handshake, self.refuses = fault, handshake, refuses
        self.contexts = {}
        for name in {"good", bad} if certificates else {}:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificates / f"{name}.pem")
            self.contexts[name == bad and bad != "good"] = context
        self.failing = multiprocessing.get_context("fork").Event()
        # This socket does not listen, but reserves the port while connections are refused.
        self.reservation = self.bound(0)
        self.port = self.reservation.getsockname()[1]
        self.url = f"{'https' if certificates else 'http'}://127.0.0.1:{self.port}/feed"
        listener = self.listener()
        self.process = multiprocessing.get_context("fork").Process(target=self.serve, args=(listener,), daemon=True)
        self.process.start()
        listener.close()

    def bound(self, port):
        result = socket.socket()
        result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        result.bind(("127.0.0.1", port))
        return result

    def listener(self):
        result = self.bound(self.port)
        result.listen()
        result.settimeout(0.02)
        return result

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()
        self.reservation.close()

    def serve(self, listener):
        fetched = itertools.count(1)
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
        with contextlib.suppress(OSError), connection:
            failing = self.failing.is_set()
            if failing and self.handshake:
                return self.handshake(connection)
            if self.contexts:
                context = self.contexts.get(failing) or self.contexts[False]
                connection = context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as lines:
                while lines.readline() not in (b"\r\n", b""):
                    pass
                if failing and self.fault:
                    return self.fault(connection)
                feed = RSS.format("".join(ITEM.format(number, "d") for number in range(next(fetched))))
                connection.sendall(answer("200 OK", feed.encode(), "Content-Type: application/rss+xml"))


def source(server):
    return next(source for source in server.call("server.status")["sources"] if source["name"] == "feed")


def measure(folder, program, upstream, certificates, url=None, proxy=False):
    """Returns the kind of error, the 99th percentile in ms, and the seconds until the source recovered."""
    setting = f", proxy: 'http://127.0.0.1:{upstream.port}'" if proxy else ""
    configuration = (
        f"http: {{timeout: {TIMEOUT}s, max_body: {MAXIMUM // 1024}KiB{setting}}}\nfacts: {{enabled: false}}\n"
        f"posts: {{sources: {{feed: {{kind: feed, url: '{url or upstream.url}', refresh: 1s}}}}}}\n")
    lasts = url is not None and not proxy
    with harness.daemon(folder, configuration, SSL_CERT_FILE=str(certificates / "trusted.pem")) as server:
        if not lasts:
            harness.wait_for(lambda: source(server)["items"], "the first fetch")
        upstream.failing.set()
        command = harness.load_command(program, server.path, seconds=SECONDS)
        with harness.running(command, stdout=subprocess.PIPE) as load:
            harness.wait_for(lambda: source(server)["freshness"]["error"], "the fault")
            percentile = float(load.stdout.read().split()[2])
        kind, items = source(server)["freshness"]["error"]["kind"], source(server)["items"]
        if lasts:
            return kind, percentile, None
        begin = time.monotonic()
        upstream.failing.clear()

        def recovered():
            now = source(server)
            return not now["freshness"]["error"] and now["items"] > items

        harness.wait_for(recovered, "the recovery", timeout=2 * RECOVERY_GOAL)
        return kind, percentile, time.monotonic() - begin


def faults(folder, options):
    "report, latency of other users and recovery for each fault of an upstream"
    program = harness.compiled(folder, "load")
    certificates = make_certificates(folder / "certificates")
    runs = {"refused": ("offline", {"refuses": True}, {})}
    runs |= {name: (kind, {"fault": fault}, {}) for name, (kind, fault) in ANSWERS.items()}
    for name, handshake in HANDSHAKES.items():
        kind = "timeout" if handshake is hang else "offline"
        runs[name] = (kind, {"handshake": handshake, "certificates": certificates}, {})
    for name, bad in CERTIFICATES.items():
        runs[name] = ("offline", {"certificates": certificates, "bad": bad}, {})
    through = {"url": "http://feeds.example/feed", "proxy": True}
    runs["proxy: refuses connections"] = ("offline", {"refuses": True}, through)
    runs |= {name: (kind, {"fault": fault}, through) for name, (kind, fault) in PROXIES.items()}
    runs["a name that does not exist"] = ("offline", {}, {"url": "http://norrisd.invalid/feed"})

    cells = [["fault", "expected", "kind", "p99 ms", "recovered s", "verdict"]]
    for number, (name, (expected, upstream, how)) in enumerate(runs.items()):
        missed = []
        try:
            with Upstream(**upstream) as server:
                kind, percentile, seconds = measure(folder / str(number), program, server, certificates, **how)
            missed += ["kind"] * (kind != expected) + ["p99"] * (percentile > LATENCY_GOAL)
            missed += ["recovery"] * (seconds is not None and seconds > RECOVERY_GOAL)
            figures = [kind, f"{percentile:.2f}", "-" if seconds is None else f"{seconds:.1f}"]
        except harness.Failure as failure:
            missed, figures = [str(failure)], ["-", "-", "-"]
        cells.append([name, expected, *figures, "MISSED: " + ", ".join(missed) if missed else "ok"])
        print("faults:", *cells[-1], sep="\t", flush=True)
    harness.table(cells)
    count, good = len(cells) - 1, sum(line[-1] == "ok" for line in cells)
    return [harness.Row("faults told, survived and mended", str(good), goal=str(count), met=good == count)]

#!/usr/bin/env python3
"""Measures what one user notices while another local user attacks norrisd.

Usage: Scripts/benchmarks/attacks.py [--structure] [--programs DIR] [NAME...]     (as root; after Scripts/build)

Each attack gets a new daemon, run by root, and attackers and a victim with separate user ids. During the attack
the victim sends one request after another on two connections: one is answered from memory, one from the disk. A line
shows their longest and 99th percentile latency, the daemon's peak memory and the CPU time it used. The victim's
processes have a higher priority than all others, so that the figures show the daemon and not the scheduler. Exits
with 1 if a goal is missed. attacks_upstream.py and attacks_store.py beside it have more attacks, with the same options.

With --structure the attacks are short, replies are waited for as long as a busy machine may take, and latencies and
CPU time are shown but have no goals. The remaining goals apply to a machine of any speed: the peak memory, a
result for every request of the victim, no refused connection below the limits, a daemon that still answers, and the
exit statuses of norrisctl.
"""

import argparse
import collections
import contextlib
import errno
import functools
import itertools
import json
import math
import os
import pathlib
import resource
import selectors
import signal
import socket
import string
import subprocess
import sys
import tempfile
import threading
import time
import traceback

DIST = pathlib.Path(__file__).resolve().parents[2] / ".build" / "dist"
ATTACKERS = range(60001, 60006)
VICTIM = 60010
MEMORY_GOAL, DISK_GOAL, NETWORK_GOAL, PEAK_GOAL = 50, 250, 1000, 192  # ms, ms, ms, MiB
END_GOAL = 1000  # ms from SIGTERM in the middle of an attack to the end of the daemon
LEAD = 1  # seconds of the victim's requests before the attack
DEADLINE = 15  # seconds that an attack waits for replies
LIFETIME = 45  # seconds after which a process of an attacker or the victim is killed
STRUCTURE = False  # set by --structure
STRUCTURE_ATTACK, STRUCTURE_PATIENCE = 3, 120  # seconds
NOTIFICATIONS = 219_000  # bytes
CHUNK = 1 << 18
IDLE_CPU = 0.6  # seconds of CPU time in 3 s that a daemon without a free descriptor may use
PROMPT_GOAL, FACT_GOAL = 150, 5000  # ms, for commands with a timeout of 50 ms and 5 s


def lasting(seconds):
    """Returns the duration of an attack in seconds, which --structure limits."""
    return min(seconds, STRUCTURE_ATTACK) if STRUCTURE else seconds


def patience(seconds):
    """Returns the seconds to wait for a result whose time is a goal."""
    return STRUCTURE_PATIENCE if STRUCTURE else seconds


def request(method, params=None, id=1):
    """Returns a request line without LF; a notification if there is no id."""
    message = {"jsonrpc": "2.0", "method": method} | ({"params": params} if params else {})
    return json.dumps(message | ({"id": id} if id else {}), separators=(",", ":")).encode()


INFO = request("server.info") + b"\n"
RANDOM = request("fact.random") + b"\n"
FROM_DISK = [request("fact.search", {"query": "kick"}) + b"\n", request("favorite.list") + b"\n"]


# Processes of other users


class Worker:
    """A function that runs in a separate process as another user and returns its result as JSON."""

    running = set()

    def __init__(self, uid, function, *arguments, priority=0):
        self.read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(self.read)
                signal.alarm(2 * STRUCTURE_PATIENCE if STRUCTURE else LIFETIME)
                if priority:
                    os.setpriority(os.PRIO_PROCESS, 0, priority)
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
                text = json.dumps(function(*arguments))
                with os.fdopen(write, "w") as output:
                    output.write(text)
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        os.close(write)
        Worker.running.add(self.pid)

    def result(self):
        with os.fdopen(self.read) as input:
            text = input.read()
        os.waitpid(self.pid, 0)
        Worker.running.remove(self.pid)
        return json.loads(text) if text else {"failed": 1}

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.result()


def connected(path, seconds=None):
    """Returns a new connection; retries for this number of seconds if the queue of connections is full."""
    seconds = patience(DEADLINE) if seconds is None else seconds
    end = time.monotonic() + seconds
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(seconds)
    while True:
        try:
            connection.connect(path)
            return connection
        except OSError as error:
            if error.errno != errno.EAGAIN or time.monotonic() >= end:
                connection.close()
                raise
        time.sleep(0.002)


def reply_line(connection):
    received = bytearray()
    while not received.endswith(b"\n"):
        chunk = connection.recv(CHUNK)
        if not chunk:
            raise ConnectionResetError
        received += chunk
    return bytes(received)


def ask_once(path):
    """Sends a request on a new connection, and connects again if the queue of connections is full.

    Returns the time in ms, or None without a result in time, and the number of refused connections and requests.
    """
    seconds, begin, refused = patience(10), time.monotonic(), 0
    while (left := begin + seconds - time.monotonic()) > 0:
        try:
            with connected(path, 0) as connection:
                connection.settimeout(left)
                connection.sendall(RANDOM)
                if b'"result"' in reply_line(connection):
                    return (time.monotonic() - begin) * 1000, refused
        except OSError:
            pass
        refused += 1
        time.sleep(0.002)
    return None, refused


def victim(path, requests, pause):
    """Sends requests in sequence until SIGTERM. Without requests, each connection is new."""
    # No threading.Event, because the interrupted code may own the lock that the handler would wait for.
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    samples, failed, refused = [], 0, 0
    with connected(path) as connection:
        connection.settimeout(patience(20))
        for number, line in enumerate(itertools.cycle(requests or [None])):
            begin = time.monotonic()
            if line is None:
                taken, times = ask_once(path)
                refused += times
                failed += taken is None
            else:
                try:
                    connection.sendall(line)
                    failed += b'"result"' not in reply_line(connection)
                except OSError:
                    failed += 1
                    ended.append(True)
            now = time.monotonic()
            samples.append((now, (now - begin) * 1000, number))
            if not ended:
                time.sleep(pause)
            if ended:
                return {"samples": samples, "failed": failed, "refused": refused}


# Attackers


def open_connections(path, count, totals, seconds):
    """Opens connections with connected(), and counts connections and errors."""
    opened = []
    for _ in range(count):
        try:
            opened.append(connected(path, seconds))
        except OSError as error:
            totals[errno.errorcode[error.errno]] += 1
    totals["opened"] += len(opened)
    return opened


def exchange(path, count, data, times=1, seconds=DEADLINE, read=True, replies=1, burst=False, start=0):
    """Opens connections and sends data on each of them, as fast as the daemon accepts it.

    Ends after `replies` replies on each connection or after `seconds`; without reading, always after `seconds`. A burst
    connects without blocking and keeps its connections for `seconds`, with --structure until all replies are there.
    """
    totals = collections.Counter()
    seconds = patience(seconds) if burst else lasting(seconds)
    time.sleep(max(0, start - time.monotonic()))
    end = time.monotonic() + seconds
    connections = open_connections(path, count, totals, 0 if burst else None)
    view = memoryview(data)
    selector = selectors.DefaultSelector()
    for connection in connections:
        connection.setblocking(False)
        # Sent bytes of the data, complete repetitions, and received lines.
        selector.register(connection, selectors.EVENT_READ * read | selectors.EVENT_WRITE, [0, 0, 0])
    while selector.get_map() and (left := end - time.monotonic()) > 0:
        for key, events in selector.select(min(left, 0.1)):
            connection, state = key.fileobj, key.data
            ended = written = False
            try:
                if events & selectors.EVENT_READ:
                    chunk = connection.recv(CHUNK)
                    lines = chunk.count(b"\n")
                    state[2] += lines
                    totals["replies"] += lines
                    totals["errors"] += chunk.count(b'"error":{"code"')
                    ended = not chunk or state[2] >= replies
                if events & selectors.EVENT_WRITE:
                    state[0] += connection.send(view[state[0] :])
                    if state[0] == len(data):
                        state[0], state[1] = 0, state[1] + 1
                        written = state[1] == times
            except BlockingIOError:
                pass
            except OSError:
                # The daemon has closed the connection; a line with the reason may still be readable.
                written, ended = True, not read
            if ended or written and not read:
                selector.unregister(connection)
            elif written:
                selector.modify(connection, selectors.EVENT_READ, state)
    if burst and not STRUCTURE or not read:
        time.sleep(max(0, end - time.monotonic()))
    totals["unanswered"] = totals["opened"] - totals["replies"]
    return totals


def flood(path, count, data, read, replies=math.inf):
    """Sends data repeatedly for 5 s."""
    return exchange(path, count, data, times=math.inf, seconds=5, read=read, replies=replies)


def send_long_line(path, mebibytes):
    with connected(path) as connection:
        for _ in range(mebibytes):
            connection.sendall(b"x" * (1 << 20))
        connection.sendall(b"\n")
        return {"replies": 1, "errors": reply_line(connection).count(b"line_too_long")}


def connect_and_close(path, rate, seconds):
    """Connects and closes, at most `rate` times a second."""
    totals, seconds = collections.Counter(), lasting(seconds)
    begin, made = time.monotonic(), 0
    while (elapsed := time.monotonic() - begin) < seconds:
        while made < min(elapsed, seconds) * rate and time.monotonic() - begin < seconds:
            for connection in open_connections(path, 1, totals, 0):
                connection.close()
            made += 1
        time.sleep(0.001)
    return totals


def import_favorites(path, count, size):
    """Stores posts with texts of `size` characters as favorites."""
    with connected(path) as connection:
        for number in range(count):
            post = {"id": f"town:{number}", "source": "town", "author": {"id": "town:a", "name": "A"},
                    "text": "x" * size, "tags": [], "images": [], "stats": {}, "read": False}
            item = {"kind": "post", "id": post["id"], "title": "t", "added_at": "2026-01-01T00:00:00Z", "post": post}
            connection.sendall(request("favorite.import", {"items": [item]}) + b"\n")
            reply = reply_line(connection)
            if b'"added":1' not in reply:
                raise RuntimeError(reply[:500])
    return {"imported": count}


# The daemon


class Daemon:
    """A norrisd in a separate folder, with a socket for all users.

    under: the arguments before the program on the command line.
    """

    def __init__(self, programs, configuration="", descriptors=None, files={}, under=(), cache=None):
        self.temporary = tempfile.TemporaryDirectory()
        folder = self.temporary.name
        os.chmod(folder, 0o711)
        for name, text in files.items():
            pathlib.Path(folder, name).write_text(text)
        configuration = configuration.format(folder=folder) or "facts: {enabled: false}"
        pathlib.Path(folder, "config.yaml").write_text(configuration + "\n")
        self.path = f"{folder}/sock"
        limit = lambda: descriptors and resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, open(f"{folder}/log", "wb") as log:
            notify.bind(f"{folder}/notify")
            notify.settimeout(0.2)
            end, messages = time.monotonic() + patience(60), b""
            self.process = subprocess.Popen(
                [*under, programs / "norrisd", "--config", f"{folder}/config.yaml", "--socket", self.path,
                 "--state-dir", f"{folder}/state", "--cache-dir", cache or f"{folder}/cache",
                 "--runtime-dir", f"{folder}/run", "--log-level", "error"],
                env={"NOTIFY_SOCKET": f"{folder}/notify", "HOME": folder}, stderr=log, preexec_fn=limit,
            )
            try:
                while b"READY=1" not in messages:
                    if self.process.poll() is not None or time.monotonic() > end:
                        raise TimeoutError("norrisd ended early, or is not ready in time")
                    with contextlib.suppress(TimeoutError):
                        messages = notify.recv(8192)
                os.chmod(self.path, 0o666)
            except BaseException:
                self.process.kill()
                self.process.wait()
                print(pathlib.Path(folder, "log").read_text(), file=sys.stderr)
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in Worker.running:
            os.kill(pid, signal.SIGKILL)
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            print("norrisd did not stop within 15 s", file=sys.stderr)
            self.process.kill()
            self.process.wait()
        self.temporary.cleanup()

    def cpu(self):
        """Returns the CPU time used so far, in seconds."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self, kind="VmRSS"):
        """Returns the memory in use in MiB, or NaN if the daemon has ended."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(kind)), math.nan)

    def peak(self):
        """Returns the peak memory in MiB."""
        return self.memory("VmHWM")

    def end(self):
        """Sends SIGTERM; returns the milliseconds until the daemon has ended."""
        begin = time.monotonic()
        self.process.terminate()
        try:
            self.process.wait(patience(40))
        except subprocess.TimeoutExpired:
            return math.inf
        return (time.monotonic() - begin) * 1000

    def call(self, method, params=None):
        """Returns the result or the error of a request."""
        with connected(self.path) as connection:
            connection.sendall(request(method, params) + b"\n")
            reply = json.loads(reply_line(connection))
            return reply.get("result", reply.get("error"))

    def wait_for(self, source, condition, seconds=60):
        """Waits until a source in server.status fulfils a condition; returns the source."""
        end = time.monotonic() + patience(seconds)
        while time.monotonic() < end:
            state = next(each for each in self.call("server.status")["sources"] if each["name"] == source)
            if condition(state):
                return state
            time.sleep(0.1)
        raise TimeoutError(f"{source} is not ready")


def spread(samples):
    """Returns the longest latency and the 99th percentile."""
    if not samples:
        return math.nan, math.nan
    values = sorted(value for _, value, *_ in samples)
    return values[-1], values[math.ceil(len(values) * 0.99) - 1]


class Report:
    """One line of the table."""

    def __init__(self):
        self.memory = self.disk = (math.nan, math.nan)
        self.peak = self.cpu = math.nan
        self.notes, self.missed = [], []

    def miss(self, condition, text, timed=False):
        """Records a missed goal.

        timed: whether the goal depends on the speed of the machine.
        """
        if condition and not (timed and STRUCTURE):
            self.missed.append(text)

    def line(self, name):
        verdict = "MISSED: " + ", ".join(self.missed) if self.missed else "ok"
        notes = f" ({', '.join(self.notes)})" if self.notes else ""
        figures = "".join(f"{value:9.1f}" for value in (*self.memory, *self.disk, self.peak, self.cpu))
        return f"{name:26}{figures.replace('nan', '  -')}  {verdict}{notes}"


def measure(daemon, attackers, pause=0.003, newcomer=False, during=lambda report: None, disk=FROM_DISK, network=None,
            peak=PEAK_GOAL, stop=False):
    """Runs attackers, each a user id, a function and its arguments, beside the victim. Returns a report and totals.

    network: requests of a further connection of the victim that need an upstream.
    stop: whether the daemon ends during the attack; the attackers are then killed.
    """
    report = Report()
    observed = {"memory": ([RANDOM], pause), "disk": (disk, pause)} | ({"new": (None, 0.02)} if newcomer else {})
    observed |= {"network": (network, 0.2)} if network else {}
    priority = 0 if STRUCTURE else -15
    victims = {name: Worker(VICTIM, victim, daemon.path, *how, priority=priority) for name, how in observed.items()}
    time.sleep(LEAD)
    cpu, begin = daemon.cpu(), time.monotonic()
    workers = [Worker(uid, function, daemon.path, *arguments) for uid, function, *arguments in attackers]
    during(report)
    totals = collections.Counter()
    if not stop:
        for worker in workers:
            totals.update(worker.result())
    time.sleep(0.3)
    for worker in victims.values():
        os.kill(worker.pid, signal.SIGTERM)
    results = {name: worker.result() for name, worker in victims.items()}
    spreads, slowest = {}, {}
    for name, result in results.items():
        samples = [sample for sample in result.get("samples", []) if sample[0] >= begin]
        spreads[name] = spread(samples)
        if samples and (lines := observed[name][0]):
            slowest[name] = json.loads(lines[max(samples, key=lambda sample: sample[1])[2] % len(lines)])["method"]
        report.miss(result["failed"], f"{result['failed']} of the victim's requests ({name}) failed")
    report.cpu, report.peak = daemon.cpu() - cpu, daemon.peak()
    report.memory, report.disk = spreads["memory"], spreads["disk"]
    report.miss(not report.memory[0] < MEMORY_GOAL, "memory", timed=True)
    report.miss(not report.disk[0] < DISK_GOAL, f"disk: {slowest.get('disk')}", timed=True)
    report.miss(not report.peak < peak, "VmHWM")
    report.miss(totals["failed"], "an attacker failed")
    if newcomer:
        worst, percentile = spreads["new"]
        totals["refused"] = results["new"].get("refused", 0)
        report.notes.append(f"new connections {worst:.0f}/{percentile:.0f} ms, {totals['refused']} refused")
    if network:
        report.notes.append(f"network {spreads['network'][0]:.0f} ms")
        report.miss(not spreads["network"][0] < NETWORK_GOAL, f"network: {slowest.get('network')}", timed=True)
    shown = ["opened", "EAGAIN", "ECONNREFUSED", "replies", "errors"]
    report.notes += [f"{totals[name]} {name}" for name in shown if totals[name]]
    report.miss(Worker(VICTIM, ask_once, daemon.path).result()[0] is None, "answers no more")
    report.miss(daemon.process.poll() is not None, f"ended with {daemon.process.poll()}")
    if stop:
        end = daemon.end()
        report.notes.append(f"end {end:.0f} ms")
        report.miss(not end < END_GOAL, "end", timed=True)
        report.miss(daemon.process.poll(), f"ended with {daemon.process.poll()}")
        for worker in workers:
            worker.kill()
    return report, totals


# Attacks


def attack(*attackers, programs, **options):
    """Measures an attack by one user with requests only."""
    with Daemon(programs) as daemon:
        report, totals = measure(daemon, [(ATTACKERS[0], *attacker) for attacker in attackers], **options)
        return report


def quiet(programs):
    return attack((lambda path: time.sleep(lasting(3)) or {},), programs=programs)


def notifications(method, connections, programs):
    line = request(method, id=None) + b"\n"
    return attack((exchange, connections, line * (NOTIFICATIONS // len(line)) + INFO), programs=programs)


def favorites_batch(read, programs):
    line = request("favorite.list", {"limit": 100})
    with Daemon(programs) as daemon:
        stored = Worker(ATTACKERS[0], import_favorites, daemon.path, 64, 64_000).result()
        seconds = DEADLINE if read else 6
        batch = b"[" + line + b"," + line + b"]\n"
        report, _ = measure(daemon, [(ATTACKERS[0], exchange, 250, batch, 1, seconds, read)])
        report.miss("failed" in stored, "the favorites were not stored")
        return report


def connects(programs):
    with Daemon(programs) as daemon:
        start = time.monotonic() + LEAD + 0.5
        each = (exchange, 200, INFO, 1, 3, True, 1, True, start)
        report, totals = measure(daemon, [(uid, *each) for uid in ATTACKERS], newcomer=True)
        served = totals["replies"] - totals["errors"]
        report.miss(served < 1000, f"{1000 - served} of 1000 not served")
        report.miss(totals["EAGAIN"] or totals["refused"], "the queue of connections was full")
        return report


def descriptors(programs):
    def watch(report):
        if STRUCTURE:
            return
        time.sleep(1)
        used = -daemon.cpu()
        time.sleep(3)
        used += daemon.cpu()
        report.notes.append(f"CPU {used:.2f} s in 3 s")
        report.miss(not used < IDLE_CPU, "spins")

    with Daemon(programs, descriptors=128) as daemon:
        # One process keeps all connections open until each has its line, independent of the speed of the machine.
        processes, count = (1, 200) if STRUCTURE else (4, 50)
        each = (exchange, count, INFO, 1, 5, True, 1, True)
        report, totals = measure(daemon, [(uid, *each) for uid in ATTACKERS[:processes]], pause=0.05, during=watch)
        report.miss(totals["unanswered"], f"{totals['unanswered']} got no line")
        report.miss(not totals["errors"], "the daemon had descriptors for all")
        return report


def searches(programs):
    texts = "\n%\n".join(f"Number {number} kicks {number * 7919 % 20_000} twice." for number in range(20_000))
    pairs = itertools.product(string.ascii_lowercase, repeat=2)
    lines = b"".join(
        request("fact.search", {"query": "".join(pair)}) + b"\n" for pair in pairs
    )
    configuration = "facts: {{enabled: false, fortunes: ['{folder}/many']}}"
    with Daemon(programs, configuration, files={"many": texts + "\n"}) as daemon:
        deadline = time.monotonic() + patience(60)
        items = 0
        while items < 20_000 and time.monotonic() < deadline:
            with connected(daemon.path) as connection:
                connection.sendall(request("server.status") + b"\n")
                items = json.loads(reply_line(connection))["result"]["sources"][0]["items"]
            time.sleep(0.1)
        report, _ = measure(daemon, [(ATTACKERS[0], flood, 200, lines, True)])
        report.miss(items < 20_000, f"only {items} facts loaded")
        return report


def client(programs):
    """The attacker is the server: it answers with an error that has 40,000 members."""
    report = Report()
    data = {"reason": "busy"} | {f"key{number}": number for number in range(40_000)}

    def answer():
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.settimeout(patience(5))
                    reply = {"jsonrpc": "2.0", "id": json.loads(reply_line(connection))["id"]}
                    reply["error"] = {"code": -32004, "message": "Busy.", "data": data}
                    connection.sendall(json.dumps(reply).encode() + b"\n")
                except OSError:
                    pass

    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/sock")
        server.listen()
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        environment = {"NORRISD_SOCKET": f"{folder}/sock", "HOME": folder}
        # The reply of 600 KB exceeds norrisctl's limit. norrisctl may stop reading it, or read the error.
        fact = "fact --timeout 5m" if STRUCTURE else "fact"
        for arguments, goal, expected in [("prompt --timeout 50ms", PROMPT_GOAL, [0]), (fact, FACT_GOAL, [70, 75])]:
            name, begin = arguments.split()[0], time.monotonic()
            command, printed, message = [programs / "norrisctl", *arguments.split()], b"", b""
            try:
                result = subprocess.run(command, env=environment, capture_output=True, timeout=patience(20))
                status, printed, message = result.returncode, result.stdout, result.stderr
            except subprocess.TimeoutExpired:
                status = "none"
            taken = (time.monotonic() - begin) * 1000
            report.notes.append(f"{name} {taken:.0f} ms, status {status}")
            report.miss(taken > goal, f"{name} takes over {goal} ms", timed=True)
            report.miss(status not in expected, f"{name} does not exit with {' or '.join(map(str, expected))}")
            report.miss(printed, f"{name} prints something")
            if name == "prompt":
                report.miss(message, "prompt has a message")
            else:
                report.miss(not message, f"{name} has no message")
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    return report


BATCH = b"[" + b",".join([request("fact.random", {"count": 100})] * 64) + b"]\n"
METHODS = {"metrics": "server.metrics", "discover": "rpc.discover", "status": "server.status"}
ATTACKS = {
    "quiet": quiet,
    **{
        f"notifications-{name}" + ("-8" if count == 8 else ""): functools.partial(notifications, method, count)
        for name, method in METHODS.items()
        for count in [1, 8]
    },
    "favorites-batch-read": functools.partial(favorites_batch, True),
    "favorites-batch-unread": functools.partial(favorites_batch, False),
    "connects": connects,
    "connect-close": functools.partial(attack, (connect_and_close, 10_000, 5), newcomer=True),
    "floods-read": functools.partial(attack, (flood, 200, RANDOM * 1000, True)),
    "floods-unread": functools.partial(attack, (flood, 200, RANDOM * 1000, False)),
    "batches": functools.partial(attack, (flood, 100, BATCH, True)),
    "searches": searches,
    "half-lines": functools.partial(attack, (exchange, 250, b"x" * 65_000, 1, 4, False)),
    "long-line": functools.partial(attack, (send_long_line, 200)),
    "descriptors": descriptors,
    "client": client,
}


def main(attacks=ATTACKS, description=__doc__, always=None):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=DIST, help="the folder of norrisd and norrisctl")
    parser.add_argument("--structure", action="store_true", help="only goals that do not depend on time")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(attacks))
    arguments = parser.parse_args()
    global STRUCTURE
    STRUCTURE = arguments.structure
    if unknown := [name for name in arguments.names if name not in attacks]:
        parser.error(f"unknown attack: {unknown[0]}")
    if os.geteuid() != 0:
        sys.exit("root is needed to act as other users")
    # An exception ends the daemon and the processes of other users.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"{'':26}{'memory ms':>18}{'disk ms':>18}{'VmHWM':>9}{'CPU':>9}")
    print(f"{'attack':26}" + "".join(f"{title:>9}" for title in ["max", "p99", "max", "p99", "MiB", "s"]) + "  verdict")
    missed = False
    for name in arguments.names or always or attacks:
        try:
            report = attacks[name](programs=arguments.programs.resolve())
        except Exception as error:
            traceback.print_exc()
            report = Report()
            report.miss(True, f"{type(error).__name__}: {error}")
        print(report.line(name), flush=True)
        missed = missed or bool(report.missed)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()

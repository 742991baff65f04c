"""Wrong and changing clocks: extreme years, a clock that is set back and forward, a suspended machine.

libfaketime replaces the clock of norrisd. norrisctl is linked statically and always has the real clock. Therefore most
parts end at the real time: the clock is first wrong, and then set to the time of the client.
"""

import concurrent.futures
import contextlib
import datetime
import email.utils
import itertools
import os
import re
import signal
import socket
import subprocess
import threading
import time

from harness import (FACT_RANDOM, Row, Upstream, chosen, content, daemon, faultless, feed, item, key_file, program,
                     replied, rss, value, wait_for)

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
YEARS = ["1900-01-01 00:00:00", "1969-12-31 23:59:58", "2038-01-19 03:14:06", "2262-04-11 23:47:14",
         "9999-12-31 23:59:58", "10000-01-01 00:00:00", "99999-01-01 00:00:00"]
LAST = 253_402_300_790  # seconds; at 9999-12-31T23:59:59Z all fetches end
CENTURIES = 146_097 * 86_400  # seconds of 400 years, after which the calendar repeats
MINUTE, HOUR, DAY, DECADE = 60, 3_600, 86_400, 3_652 * 86_400
STEPS = {"a minute": MINUTE, "an hour": HOUR, "a day": DAY, "ten years": DECADE}
START = time.time()
JITTER = 1.1  # the longest interval of a source, relative to its refresh
NOTICED = 60  # seconds after which the daemon reads the clock again, without any other reason
WATCHDOG, STOPPED = 2, 5  # seconds; of the simulated suspension
COMMANDS = ["status", "fact", "fact --today", "feed", "recent", "favorite list", "doctor"]
# Times that norrisctl must not print here: no source has an interval of more than a day, and no search or favorite is
# in the future.
IMPLAUSIBLE = re.compile(r"\b(?:in )?\d+ (?:years?|months?)\b|(?<![\w.:/-])-\d+ \w+")
IN_THE_FUTURE = re.compile(r"\bin -?\d+ (?:second|minute|hour|day|month|year)|(?<![\w.:/-])-\d+ \w+")


def offset(moment):
    """Returns the seconds from now until a moment of any year."""
    year, rest = moment.split("-", 1)
    cycles, year = divmod(int(year), 400)
    then = datetime.datetime.fromisoformat(f"{year + 2000}-{rest}+00:00").timestamp()
    return round(then + (cycles - 5) * CENTURIES - time.time())


def faked(*variables):
    """Returns the arguments before norrisd on the command line that change its clock."""
    # Otherwise the library sets FAKETIME_SHARED, and Swift programs then lose their arguments.
    return ["env", f"LD_PRELOAD={FAKETIME}", "FAKETIME_SHARED=none none", *variables]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Clock:
    """A clock of a daemon that tests set. The monotonic clock stays the real one."""

    def __init__(self, path):
        self.path, self.offset = path, 0
        self.set(0)

    def set(self, seconds):
        """Sets the clock to the real time and so many seconds."""
        self.offset = seconds
        new = self.path.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        # The daemon reads the file at any moment.
        new.replace(self.path)

    def under(self):
        return faked(f"FAKETIME_TIMESTAMP_FILE={self.path}", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1")

    def now(self):
        return time.time() + self.offset


class Machine:
    """A daemon with a clock and an upstream, and the faults that are found."""

    def __init__(self, folder, refresh, **environment):
        folder.mkdir()
        self.clock, self.faults = Clock(folder / "clock"), []
        self.folder, self.refresh, self.environment = folder, refresh, environment
        self.upstream = Upstream(self.answer)

    def answer(self, target, _):
        if target.startswith(("/v1/", "/jokes/")):
            return content(target, range(20))
        # Each post is a day newer than the last one, and the newest are some days old.
        dates = {number: email.utils.formatdate(START - (28 - number) * DAY) for number in range(20)}
        return replied(rss(item(number, more=f"<pubDate>{date}</pubDate>") for number, date in dates.items()))

    @contextlib.contextmanager
    def running(self):
        """Runs the daemon, and yields it."""
        with self.upstream:
            url = self.upstream.url
            setting = {"facts": {"base_url": url, "queries": ["chuck"]},
                       "gifs": {"base_url": url, "api_key_file": key_file(self.folder), "queries": ["norris"]},
                       "posts": {"sources": {name: feed(f"{url}/{name}", refresh=interval)
                                             for name, interval in self.refresh.items()}}}
            with daemon(self.folder / "home", setting, under=self.clock.under(), TZ="UTC",
                        **self.environment) as self.server:
                yield self.server
        self.expect(self.server.process.returncode == 0, f"ended with {self.server.process.returncode}")
        for line in self.server.log():
            fine = line.split(maxsplit=2)[1:2] in (["warning"], ["notice"], ["info"])
            self.expect(fine, f"log: {line[:200]}")

    def expect(self, condition, fault):
        self.faults += [] if condition else [fault]

    def ready(self):
        wait_for(self.server.has_content, "the first fetches")

    def between(self, what, least, most, path, since, when=""):
        count = self.upstream.count(path, since)
        self.expect(least <= count <= most, f"{when}: {count} requests of {what}, expected {least} to {most:.0f}")

    def check_times(self, when):
        """No source has an age or a time that cannot be true."""
        for name, source in self.server.sources().items():
            fresh, now = source["freshness"], self.clock.now()
            self.expect(0 <= fresh.get("age_seconds", 0) <= JITTER * DAY + 5, f"{when}: {name}: {fresh}")
            self.expect(not fresh["error"], f"{when}: {name}: {fresh['error']}")
            for text, latest in [(fresh.get("fetched_at"), 2), (source.get("next_run_at"), 2 * JITTER * DAY)]:
                self.expect(not text or seconds(text) <= now + latest, f"{when}: {name}: {text} is ahead")

    def check_requests(self, when):
        """Every request that depends on times gets a result, and no age is negative."""
        fact = self.server.call("fact.random")["items"][0]["id"]
        for method, parameters in [("fact.today", {}), ("fact.today", {"date": "9999-12-31"}), ("post.list", {}),
                                   ("favorite.add", {"kind": "fact", "id": fact}), ("favorite.list", {}),
                                   ("server.metrics", {}), ("fact.search", {"query": "norris"}), ("recent.list", {})]:
            reply = self.server.reply(method, **parameters)
            self.expect("result" in reply, f"{when}: {method}: {reply}")
        for name, source in self.server.sources().items():
            self.expect(source["freshness"].get("age_seconds", 0) >= 0, f"{when}: {name}: {source['freshness']}")

    def pass_time(self, when, seconds, is_due):
        """Lets some seconds pass: every request is answered, and no source is fetched too often or, if it is due, too
        seldom. Schedules have whole seconds, and a step of the clock adds two."""
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            self.check_requests(when)
            time.sleep(0.1)
        self.between("a source of a second", is_due, time.monotonic() - begin + 2, "/short", begin, when)
        self.between("a source of an hour", 0, 1, "/hourly", begin, when)

    def check_client(self, when):
        """norrisctl prints no implausible time."""
        for words in COMMANDS:
            # script(1) makes a terminal, on which norrisctl prints relative times.
            command = f"{program('norrisctl')} --socket {self.server.path} {words}"
            done = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, timeout=30,
                                  stdin=subprocess.DEVNULL,
                                  env={"HOME": str(self.folder), "PATH": os.environ["PATH"], "TERM": "dumb"})
            self.expect(done.returncode in (0, 1) and "Fatal" not in done.stdout, f"{when}: {words}: {done.returncode}")
            pattern = IN_THE_FUTURE if words in ["recent", "favorite list"] else IMPLAUSIBLE
            found = pattern.search(done.stdout)
            self.expect(not found, f"{when}: norrisctl {words} printed {found and found.group()!r}")


def steps(folder):
    """The clock of a running daemon is set to extreme times, and forward and back by a minute to ten years: requests are
    answered, sources are fetched as often as before, favorites stay, and back at now all times are right."""
    machine, kept = Machine(folder, {"short": "1s", "hourly": "1h"}), set()
    times = [*((year, offset(year)) for year in [*YEARS, *YEARS[::-1]]), ("now", 0)]
    for sign, (name, step) in itertools.product([1, -1], STEPS.items()):
        times += [(f"{'forward' if sign > 0 else 'back'} by {name}", sign * step), ("now", 0)]
    with machine.running() as server:
        # Before the first fetch the daemon reads the clock only once a minute.
        machine.ready()
        for when, ahead in times:
            machine.clock.set(ahead)
            # Before 1970 the library's waits do not end in time. No kernel accepts such a time.
            machine.pass_time(when, 5, 0 <= machine.clock.now() < LAST)
            before, kept = kept, {each["id"] for each in server.pages("favorite.list", limit=100)}
            machine.expect(before <= kept, f"{when}: {len(before - kept)} favorites lost")
            if ahead == 0:
                machine.check_times(when)
                machine.check_client(when)
    return [faultless("clock set to extreme years, forward and back", f"{len(times)} steps", machine.faults)]


@contextlib.contextmanager
def watchdog(path, beats):
    """Receives the messages for the service manager, and records the times of those for its watchdog."""
    path.unlink(missing_ok=True)
    end = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(path))
        notify.settimeout(0.2)

        def receive():
            while not end.is_set():
                with contextlib.suppress(TimeoutError):
                    if b"WATCHDOG=1" in notify.recv(8192):
                        beats.append(time.monotonic())

        thread = threading.Thread(target=receive, daemon=True)
        thread.start()
        yield
        end.set()
        thread.join(5)


def suspended(folder):
    """The process is stopped, and continued with a clock that is hours ahead: connections go on, one fetch of each
    source that is due, watchdog messages in time."""
    refresh, beats = {"hourly": "1h", "six": "6h", "daily": "24h"}, []
    machine = Machine(folder, refresh, WATCHDOG_USEC=str(WATCHDOG * 1_000_000))
    with machine.running() as server, watchdog(folder / "home/notify", beats):
        machine.ready()
        time.sleep(WATCHDOG)
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(server.connect()) for _ in range(5)]
            clients[0].socket.sendall(FACT_RANDOM[:20].encode())
            os.kill(server.process.pid, signal.SIGSTOP)
            for client in clients[1:]:
                client.socket.sendall(FACT_RANDOM.encode() + b"\n")
            time.sleep(STOPPED)
            machine.clock.set(8 * HOUR)
            begin = time.monotonic()
            os.kill(server.process.pid, signal.SIGCONT)
            clients[0].socket.sendall(FACT_RANDOM[20:].encode() + b"\n")
            for client in clients:
                client.socket.settimeout(5)
                machine.expect(b'"result"' in client.next(), "no reply after the suspension")
        for name in ["hourly", "six"]:
            wait_for(lambda: machine.upstream.count(f"/{name}", begin), name, timeout=NOTICED + 10)
        took = time.monotonic() - begin
        time.sleep(3)
        for name, expected in {"hourly": 1, "six": 1, "daily": 0}.items():
            machine.between(name, expected, expected, f"/{name}", begin, "after the suspension")
        machine.check_times("after the suspension")
        machine.expect(server.call("server.status")["state"] == "ok", server.call("server.status")["message"])
        later = [begin, *(beat for beat in beats if beat > begin)]
    gaps = [after - before for before, after in zip(later, later[1:])]
    return [value("after a suspension, all sources that are due fetched", [took], "s", at_most=NOTICED + 5),
            value(f"after a suspension, longest time between watchdog messages of {WATCHDOG} s", [max(gaps)], "s",
                  at_most=WATCHDOG * 0.75),
            faultless("after a suspension: fetches, connections, state", "1 suspension", machine.faults)]


def clocks(folder, options):
    """extreme years, a clock that is set back and forward, a suspended machine"""
    parts = {part.__name__: part for part in [steps, suspended]}
    names, rows = chosen(parts, options), []
    # Almost all time is spent with waits.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = {name: pool.submit(parts[name], folder / name) for name in names}
        for name, future in running.items():
            try:
                rows += future.result(timeout=600)
            except Exception as error:
                rows.append(Row(name, "failed", met=False, note=f"{type(error).__name__}: {error}"))
            print(f"clocks: {name} has ended", flush=True)
    return rows

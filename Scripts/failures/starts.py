"""Starts norrisd on a full disk, on a disk that cannot be written, and on damaged files.

Each start must serve a fact within a second, say what is wrong, and keep all favorites. A disk that becomes read-only under a running daemon must be noticed and, when it can be written again, used again.
"""

import contextlib
import os
import shutil
import subprocess
import time

import harness
import torture

SERVED_GOAL = 1_000  # milliseconds
FAVORITES = 60
PAGE = 4096


@contextlib.contextmanager
def mounted(folder, size):
    """A file system of a size in KiB at the folder. It needs root."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "norris", folder], check=True, timeout=20)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True, timeout=20)


def remount(folder, mode):
    subprocess.run(["mount", "-o", f"remount,{mode}", folder], check=True, timeout=20)


def fill(folder, port):
    """Creates the files of a used daemon; returns its folder and the favorites."""
    home = folder / "used"
    with harness.daemon(home, torture.configuration(folder, port)) as server:
        torture.settled(server)
        kept = set()
        while len(kept) < FAVORITES:
            for fact in server.call("fact.random", count=20)["items"]:
                server.call("favorite.add", kind="fact", id=fact["id"])
                kept.add(fact["id"])
    return home, kept


class Start:
    """One start on files, and what it said."""

    def __init__(self, home, setting, log, then=lambda server: None, variables={}):
        self.problems = []
        assignments = [f"{name}={text}" for name, text in variables.items()]
        under = ["sh", "-c", f'exec "$@" 2>>"{log}"', "sh", "env", *assignments]
        begin = time.perf_counter()
        with harness.daemon(home, setting, under=under) as server:
            fact = server.reply("fact.random")
            self.served = (time.perf_counter() - begin) * 1000
            if not fact.get("result", {}).get("items"):
                self.problems.append(f"no fact: {fact}")
            self.status = server.call("server.status")
            self.favorites = {item["id"] for item in server.pages("favorite.list", limit=100)}
            self.added = "result" in server.reply("favorite.add", kind="fact", id=fact["result"]["items"][0]["id"])
            then(server)
        if server.process.returncode:
            self.problems.append(f"status {server.process.returncode} at its end")
        self.log = [line.split(" ", 1)[1] for line in log.read_text(errors="replace").splitlines()]
        if self.served > SERVED_GOAL:
            self.problems.append(f"served after {self.served:.0f} ms")

    def expect(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def row(self, name, note=""):
        for line in self.log:
            print(f"starts: {name}: {line[:200]}", flush=True)
        for problem in self.problems:
            print(f"starts: {name}: WRONG: {problem}", flush=True)
        note = "; ".join([*self.problems, *filter(None, [note]), self.status["message"]])
        return harness.Row(name, f"{self.served:.0f} ms", goal=f"<= {SERVED_GOAL} ms", met=not self.problems, note=note)


def copied(home, folder, name):
    target = folder / name
    shutil.copytree(home, target, ignore=shutil.ignore_patterns("sock", "notify", "config.yaml"))
    return target


def full_disk(folder, home, setting, kept):
    target = folder / "full"
    with mounted(target, 16_384):
        shutil.copytree(home, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("sock", "notify"))
        # The socket and the configuration need a little room.
        with open(target / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while True:
                ballast.write(bytes(PAGE))
        os.truncate(target / "ballast", max(0, os.path.getsize(target / "ballast") - 3 * PAGE))
        start = Start(target, setting, folder / "full.log")
    start.expect(start.favorites == kept, f"{len(kept - start.favorites)} favorites are missing")
    return start.row("a full disk")


def read_only_disk(folder, home, setting, kept):
    target = folder / "read-only"
    target.mkdir()
    with contextlib.ExitStack() as stack:
        for name in ["state", "cache"]:
            stack.enter_context(mounted(target / name, 8192))
            shutil.copytree(home / name, target / name, dirs_exist_ok=True)
            remount(target / name, "ro")
        start = Start(target, setting, folder / "read-only.log")
    start.expect(start.favorites == kept, f"{len(kept - start.favorites)} favorites are missing")
    start.expect(not start.added, "a favorite was acknowledged")
    start.expect(start.status["state"] == "degraded", f"the state is {start.status['state']}")
    return start.row("a read-only disk")


def stopped_disk(folder, home, setting, kept):
    target, told = copied(home, folder, "stopped"), []
    calls = torture.Calls(folder / "stopped.report")
    variables = {"LD_PRELOAD": folder / "failing.so", "FAILING_REPORT": calls.file.name, "FAILING_FOLDER": target,
                 "FAILING_KIND": "readonly"}

    def then(server):
        calls.fail(1)
        fact = server.call("fact.random", count=30)["items"][-1]["id"]
        told.append(server.reply("favorite.add", kind="fact", id=fact).get("error", {}).get("code"))
        told.append(server.call("server.status")["state"])
        calls.fail(0)
        harness.wait_for(lambda: "result" in server.reply("favorite.add", kind="fact", id=fact), "a write", timeout=10)
        harness.wait_for(lambda: server.call("server.status")["state"] == "ok", "the recovery", timeout=10)

    start = Start(target, setting, folder / "stopped.log", then, variables)
    start.expect(start.favorites == kept, f"{len(kept - start.favorites)} favorites are missing")
    start.expect(told == [-32005, "degraded"], f"favorite.add and status said {told}")
    return start.row("a disk that becomes read-only", "and works again when the disk does")


def damaged_cache(folder, home, setting, kept):
    target = copied(home, folder, "damaged")
    path = target / "cache" / "cache.db"
    path.write_bytes(os.urandom(path.stat().st_size))
    start = Start(target, setting, folder / "damaged.log")
    start.expect(start.favorites == kept, f"{len(kept - start.favorites)} favorites are missing")
    start.expect(start.added, "no favorite can be added")
    return start.row("a damaged cache")


def damaged_states(folder, home, setting, kept):
    """Overwrites each page of state.db in turn."""
    pages = (home / "state" / "state.db").stat().st_size // PAGE
    slowest, problems = 0, []
    for page in range(pages):
        target = copied(home, folder, f"page{page}")
        with open(target / "state" / "state.db", "r+b") as file:
            file.seek(page * PAGE)
            file.write(os.urandom(PAGE))
        start = Start(target, setting, folder / f"page{page}.log")
        start.expect(start.favorites == kept, f"{len(kept - start.favorites)} favorites are missing")
        start.expect("the copy of" in start.status["message"], "the status does not name the copy")
        slowest = max(slowest, start.served)
        problems += [f"page {page}: {problem}" for problem in start.problems]
        shutil.rmtree(target)
    note = f"{pages} pages, {len(kept)} favorites each; {'; '.join(problems[:5])}"
    return harness.Row("a state with a damaged page", f"{slowest:.0f} ms", goal=f"<= {SERVED_GOAL} ms",
                       met=not problems, note=note)


def starts(folder, options):
    "a full disk, a read-only disk, damaged files: served within a second, with all favorites"
    if os.geteuid() != 0:
        raise harness.Failure("root is needed to mount file systems")
    torture.prepare(folder)
    (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
    with harness.upstream(torture.answer) as port:
        setting = torture.configuration(folder, port)
        home, kept = fill(folder, port)
        arguments = folder, home, setting, kept
        rows = [full_disk(*arguments), read_only_disk(*arguments), stopped_disk(*arguments)]
        return [*rows, damaged_cache(*arguments), damaged_states(*arguments)]

"""Runs norrisd on damaged copies of its files, with wrong bytes and with extreme integers.

A daemon fetches facts, GIFs and posts from an upstream on loopback, reads fortune files, and serves two users. Then it
runs without the upstream on damaged copies of its files, and on copies that are damaged while it runs. It must become
ready, answer the first request of each reading method, and show no control character. It must not end.
"""

import collections
import contextlib
import datetime
import itertools
import multiprocessing
import os
import random
import re
import shutil
import sqlite3
import time

import harness
import store
import upgrade

# The damaged files, and the number of wrong bytes in a damaged copy.
FILES = ["cache/cache.db", "state/state.db"]
WRONG_BYTES = 200
EXTREMES = [-(1 << 63), -1, 0, 1 << 31, 1 << 32, 1 << 53, (1 << 63) - 1]
READY_GOAL = 5  # seconds
FACTS = 300  # in fortune files
PROCESSES = 2
# Correct answers without content. -32602 is a cursor of a list that was fetched again.
REFUSALS = {-32001, -32002, -32602}
# Every control character except for line breaks and tabs, and the controls of bidirectional text.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
DAYS = [str(datetime.date(2026, 3, day)) for day in range(1, 6)]


def ask(server):
    """Calls all reading methods; returns the codes of error replies, and the texts with control characters."""
    codes, harmful = collections.Counter(), []

    def check(text):
        if text and CONTROLS.search(text):
            harmful.append(text)

    def items(method, pages=8, **parameters):
        for _ in range(pages):
            reply = server.reply(method, **parameters)
            if "error" in reply:
                codes[reply["error"]["code"]] += 1
                return
            yield from reply["result"].get("items", [reply["result"]])
            if "next" not in reply["result"]:
                return
            parameters["cursor"] = reply["result"]["next"]

    def show(kind, item):
        if kind == "fact":
            check(item["text"])
        elif kind == "gif":
            check(item["title"])
        else:
            for text in [item.get("title"), item.get("text"), item["author"]["name"]]:
                check(text)

    for uid in upgrade.USERS:
        with harness.effective_user(uid):
            for parameters in [{"count": 20}, {"count": 20}, {"max_length": 80, "count": 20}, {"source": "all", "count": 50}]:
                for item in items("fact.random", pages=1, **parameters):
                    show("fact", item)
            for item in items("favorite.list", limit=100):
                # The title of a damaged favorite is its id.
                check(item["title"] if item["title"] != item["id"] else None)
                for kind in ["fact", "gif", "post"]:
                    if kind in item:
                        show(kind, item[kind])
            for item in itertools.chain(items("post.list", limit=100), items("post.list", unread=True)):
                show("post", item)
            for kind in ["fact", "gif", "post"]:
                list(items("recent.served", kind=kind))
            list(items("recent.list"))
    for query in ["chuck", "e", "norris"]:
        for item in items("fact.search", query=query, limit=100):
            show("fact", item)
    for query in [*upgrade.QUERIES, "gif"]:
        for item in items("gif.search", query=query, offline=True, limit=50):
            show("gif", item)
    for item in items("gif.trending", limit=50):
        show("gif", item)
    for day in DAYS:
        for item in items("fact.today", date=day):
            show("fact", item["fact"])
    for item in items("author.list", limit=100):
        check(item["name"])
    for method in ["fact.categories", "server.status", "server.info"]:
        list(items(method))
    # Writes also read the files.
    with harness.effective_user(upgrade.USERS[0]):
        list(items("post.mark_read", all=True))
        list(items("favorite.remove", kind="fact", id="no such fact"))
    return codes, harmful


def fill(folder):
    """Creates the files of a used daemon; returns its folder and its configuration."""
    upstream, home = upgrade.Upstream(), folder / "home"
    home.mkdir()
    store.generate(folder / "facts", FACTS)
    (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
    with harness.upstream(upstream.answer) as port:
        setting = upgrade.configuration(folder, port)
        with harness.daemon(home, setting) as server:
            server.path.chmod(0o666)
            harness.wait_for(lambda: upgrade.fetched(server), "the first fetches", timeout=120)
            upgrade.use(server, DAYS)
            ask(server)
    return home, setting


def run(case):
    """Runs the daemon on a damaged copy; returns the outcome."""
    name, home, setting, damage, is_running, folder = case
    result = {"name": name, "problems": [], "moved": [], "ready": None}
    # Nothing listens on the upstream's port during the run.
    shutil.copytree(home, folder, ignore=shutil.ignore_patterns("sock", "notify", "config.yaml"))
    if not is_running:
        damage(folder)
    log = folder / "log"
    processes = []
    try:
        with harness.daemon(folder, setting, under=["sh", "-c", f'exec "$@" 2>>"{log}"', "sh"],
                            started=processes.append) as server:
            result["ready"] = server.start / 1000
            server.path.chmod(0o666)
            server.timeout = 10
            if is_running:
                damage(folder)
            for _ in range(2):
                codes, harmful = ask(server)
                result["problems"] += [f"control character: {text[:200]!r}" for text in harmful]
                refused = {code: count for code, count in codes.items() if code not in REFUSALS}
                if refused:
                    result["problems"].append(f"errors {refused}")
            if server.process.poll() is not None:
                result["problems"].append("ended by itself")
        if server.process.returncode:
            result["problems"].append(f"exit status {server.process.returncode} at its end")
        if result["ready"] > READY_GOAL:
            result["problems"].append(f"READY after {result['ready']:.1f} s")
    except (harness.Failure, OSError, ValueError, KeyError) as failure:
        status = processes[0].poll() if processes else None
        result["problems"].append(f"{type(failure).__name__}: {failure}; exit status {status}")
    result["moved"] = sorted(path.name for path in folder.rglob("*.damaged") if path.is_file())
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    result["log"] = lines[-5:] if result["problems"] else []
    shutil.rmtree(folder)
    return result


class WrongBytes:
    def __init__(self, file, seed):
        self.file, self.seed = file, seed

    def __call__(self, folder):
        generator = random.Random(self.seed)
        path = folder / self.file
        content = bytearray(path.read_bytes())
        for _ in range(WRONG_BYTES):
            content[generator.randrange(len(content))] = generator.randrange(256)
        path.write_bytes(content)


class Extreme:
    def __init__(self, file, table, column, value):
        self.file, self.table, self.column, self.value = file, table, column, value

    def __call__(self, folder):
        with contextlib.closing(sqlite3.connect(folder / self.file)) as database:
            # Only one row if the values must be unique.
            for statement in ["UPDATE", "UPDATE OR IGNORE"]:
                try:
                    database.execute(f'{statement} "{self.table}" SET "{self.column}" = ?', [self.value])
                    break
                except sqlite3.IntegrityError:
                    database.rollback()
            database.commit()


def integers(path):
    """Returns the integer columns of all tables with rows."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            if not database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone():
                continue
            for column in database.execute(f'SELECT name, type FROM pragma_table_info("{table}")').fetchall():
                if column[1] == "INTEGER" or (table, column[0]) == ("sqlite_sequence", "seq"):
                    yield table, column[0]


def corruption(folder, options):
    """500 damaged copies of each file, every integer column at its extremes"""
    if os.geteuid() != 0:
        raise harness.Failure("root is needed to ask as other users")
    folder.chmod(0o711)
    home, setting = fill(folder)
    sizes = ", ".join(f"{file} {(home / file).stat().st_size:,}" for file in FILES)
    print(f"corruption: bytes: {sizes}", flush=True)
    numbers = itertools.count()

    def cases(group, damages, is_running=False):
        return group, [(name, home, setting, damage, is_running, folder / f"run{next(numbers)}")
                       for name, damage in damages]

    groups = [cases(f"wrong bytes{', while running' if is_running else ''}: {file}",
                    [(f"seed {seed}", WrongBytes(file, seed)) for seed in range(options.copies)], is_running)
              for file in FILES for is_running in [False, True]]
    groups += [cases(f"extremes: {file}", [(f"{table}.{column} = {value}", Extreme(file, table, column, value))
                                           for table, column in integers(home / file) for value in EXTREMES])
               for file in FILES if (home / file).read_bytes()[:6] == b"SQLite"]
    rows = []
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        for group, runs in groups:
            begin = time.monotonic()
            results = list(pool.imap_unordered(run, runs))
            failed = [result for result in results if result["problems"]]
            moved = collections.Counter(name for result in results for name in result["moved"])
            for result in failed[:20]:
                print(f"corruption: {group}: {result['name']}: {'; '.join(result['problems'][:3])}",
                      *result["log"], sep="\n    ", flush=True)
            ready = [result["ready"] for result in results if result["ready"]]
            note = ", ".join([*(f"{count} × {name}" for name, count in sorted(moved.items())),
                              f"READY after at most {max(ready, default=0) * 1000:.0f} ms"])
            rows.append(harness.Row(group, f"{len(results) - len(failed)} of {len(results)}", goal="all served",
                                    met=not failed, note=f"{note}; {time.monotonic() - begin:.0f} s"))
            print(f"corruption: {group}: {rows[-1].figure}; {rows[-1].note}", flush=True)
    return rows

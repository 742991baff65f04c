"""Tries what local users must not do: administrative methods, other users' data, and files in place of norrisd's own.

norrisd runs as a user without privileges. Its peers are root, that user, a member of an administrators' group, and a
user who is neither.
"""

import contextlib
import json
import multiprocessing
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import time

import harness
from harness import Failure, Row, daemon, request
from store import generate

DAEMON, ALICE, BOB, MEMBER = 60_000, 60_001, 60_002, 60_003
GROUP = "games"  # a group of every Debian system
PERMISSION_DENIED = -32003
MARK = "zyqmark"  # in all data of one user
LIMIT = 5  # seconds until a daemon is ready or has ended
# The files that norrisd creates, and the option that names their folder.
FILES = ["state/state.db", "state/state.db-wal", "state/lock", "cache/cache.db",
         "runtime/prompt-facts", "sock"]


def as_user(uid, groups, function, *arguments):
    """Calls the function in a process of another user; returns its result."""
    def call(pipe):
        os.setgroups(groups)
        os.setgid(uid)
        os.setuid(uid)
        pipe.send(function(*arguments))

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=call, args=(theirs,))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join(20)


def replies(path, lines):
    """Sends requests on one connection; returns the replies."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(str(path))
        connection.sendall("".join(line + "\n" for line in lines).encode())
        received = connection.makefile()
        return [json.loads(received.readline()) for _ in lines]


def listened(path, seconds):
    """Subscribes to all events; returns what arrives."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(request("event.subscribe").encode() + b"\n")
        connection.settimeout(seconds)
        text = b""
        with contextlib.suppress(TimeoutError):
            while part := connection.recv(65_536):
                text += part
        return text.decode()


@contextlib.contextmanager
def unprivileged(folder, configuration):
    """Runs norrisd as a user without privileges, on a socket that all users may use."""
    folder.mkdir()
    os.chown(folder, DAEMON, DAEMON)
    under = ["setpriv", "--reuid", str(DAEMON), "--regid", str(DAEMON), "--clear-groups"]
    with daemon(folder, configuration, under=under) as server:
        server.path.chmod(0o666)
        yield server


# Methods


def methods(folder):
    """Calls every method as each kind of user."""
    wrong, tried = [], 0
    with unprivileged(folder / "methods", harness.BUILT_IN_FACTS + f"admin_groups: [{GROUP}]\n") as server:
        described = {each["name"]: each for each in server.call("rpc.discover")["methods"]}
        administrative = {name for name, each in described.items() if each["x-admin"]}
        if not administrative:
            raise Failure("rpc.discover names no administrative method")
        group = subprocess.run(["getent", "group", GROUP], capture_output=True, text=True, check=True, timeout=10)
        gid = int(group.stdout.split(":")[2])
        names = sorted(described)
        lines = [request(name) for name in names]
        for user, uid, groups in [("root", 0, []), ("the daemon's user", DAEMON, []), ("a member", MEMBER, [gid]),
                                  ("neither", BOB, [])]:
            for name, reply in zip(names, as_user(uid, groups, replies, server.path, lines)):
                tried += 1
                refused = reply.get("error", {}).get("code") == PERMISSION_DENIED
                if refused != (user == "neither" and name in administrative):
                    wrong.append(f"{name} as {user}: {str(reply)[:100]}")
    note = f"{', '.join(sorted(administrative))} for administrators; {'; '.join(wrong[:5])}"
    return Row("methods by root, user, group and neither", f"{tried - len(wrong)} of {tried}", goal="as documented",
               met=not wrong and tried > 0, note=note)


# Another user's data


def data(folder):
    """Stores data of Alice with a mark, and lets Bob ask for it in every way."""
    wrong = []
    generate(folder / "facts", 200)
    with unprivileged(folder / "data", f"facts: {{enabled: false, fortunes: ['{folder}/facts']}}\n") as server:
        harness.wait_for(lambda: server.call("fact.search", query="a")["items"], "facts")
        own = {"kind": "fact", "id": f"{MARK}-fact", "title": f"{MARK} title", "added_at": "2026-01-01T00:00:00Z",
               "fact": {"id": f"{MARK}-fact", "text": f"{MARK} text", "categories": [], "source": "builtin"}}
        more = {**own, "id": f"{MARK}-2", "fact": {**own["fact"], "id": f"{MARK}-2"}}
        alice = as_user(ALICE, [], replies, server.path, [
            request("favorite.import", items=[own, more]), request("favorite.list", limit=1, numbered=True),
            request("fact.search", query=f"{MARK} query", numbered=True),
            request("gif.search", query=f"{MARK} gif", offline=True), request("fact.random", name=MARK),
            request("post.mark_read", ids=[f"{MARK}:post"]), request("recent.list")])
        if MARK not in str(alice[1]) or MARK not in str(alice[6]):
            raise Failure(f"Alice has no data: {alice}")
        cursor = alice[1]["result"]["next"]
        described = server.call("rpc.discover")["methods"]
        asked = [request(each["name"]) for each in described if each["name"] != "event.subscribe"]
        asked += [request("favorite.list", cursor=cursor), request("favorite.list", cursor=cursor, limit=1),
                  request("favorite.list", query=MARK[:4]), request("favorite.list", kind="fact", limit=100),
                  request("favorite.remove", kind="fact", id=own["id"]), request("fact.get", id=own["id"]),
                  request("fact.search", query=MARK[:4]), request("post.get", id=f"{MARK}:post"),
                  request("post.list", unread=True), request("gif.get", id=f"{MARK}")]
        asked += [request("recent.served", kind=kind, **index) for kind in ["fact", "gif", "post"]
                  for index in [{}, {"index": 1}]]
        for line, reply in zip(asked, as_user(BOB, [], replies, server.path, asked)):
            # A refusal may repeat what Bob has sent.
            if MARK in str(reply.get("result")):
                wrong.append(f"{line[:120]}: {str(reply)[:200]}")
        text = overheard(server, more)
        if MARK in text:
            wrong.append(f"an event: {text[:200]}")
        kept = as_user(ALICE, [], replies, server.path, [request("favorite.list", limit=100)])[0]["result"]["items"]
        if {item["id"] for item in kept} != {own["id"], more["id"]}:
            wrong.append(f"Alice has {[item['id'] for item in kept]}")
    return Row("another user's data through every method", f"{len(asked) + 1 - len(wrong)} of {len(asked) + 1}",
               goal="nothing", met=not wrong, note="; ".join(wrong[:3]))


def overheard(server, favorite):
    """Returns the events that Bob gets while Alice changes her data."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(
        target=lambda: theirs.send(as_user(BOB, [], listened, server.path, 2)))
    process.start()
    time.sleep(0.5)
    as_user(ALICE, [], replies, server.path, [
        request("favorite.remove", kind="fact", id=favorite["id"]), request("favorite.import", items=[favorite]),
        request("fact.search", query=f"{MARK} heard")])
    try:
        return ours.recv()
    finally:
        process.join(20)


# Files


def place(kind, path, canary):
    """Puts something of another user in place of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in ["a symbolic link", "a dangling link"]:
        path.symlink_to(canary if kind == "a symbolic link" else canary.with_name("missing"))
    elif kind == "a hard link":
        os.link(canary, path)
    elif kind == "a pipe":
        os.mkfifo(path, 0o666)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a socket":
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(path))
    else:
        path.write_text("not norrisd's\n")
        path.chmod(0o666)
    os.chown(path, ALICE, ALICE, follow_symlinks=False)


KINDS = ["a symbolic link", "a dangling link", "a hard link", "a pipe", "a folder", "a socket", "a file"]


def files(folder):
    """Starts norrisd with something else in place of each of its files."""
    wrong, tried = [], 0
    for number, (file, kind) in enumerate((file, kind) for file in FILES for kind in KINDS):
        tried += 1
        home, other = folder / f"files{number}", folder / f"other{number}"
        canary = other / "canary"
        home.mkdir()
        other.mkdir()
        canary.write_text("A file that is not norrisd's.\n")
        canary.chmod(0o640)
        # norrisd may write to the target of a symbolic link. The kernel allows no hard link to a file of another user.
        os.chown(other, DAEMON, DAEMON)
        os.chown(canary, *(ALICE, ALICE) if kind == "a hard link" else (DAEMON, DAEMON))
        before = canary.read_bytes(), canary.stat().st_mode, canary.stat().st_uid
        for name in ["state", "cache", "runtime"]:
            (home / name).mkdir(mode=0o700)
        place(kind, home / file, canary)
        for path in [home, *home.rglob("*")]:
            if path.lstat().st_uid == 0:
                os.chown(path, DAEMON, DAEMON, follow_symlinks=False)
        log, end = home / "log", f"{file} is {kind}"
        under = ["setpriv", "--reuid", str(DAEMON), "--regid", str(DAEMON), "--clear-groups", "sh", "-c",
                 'exec "$@" 2>>"$LOG"', "sh"]
        processes = []
        begin = time.monotonic()
        try:
            with daemon(home, harness.BUILT_IN_FACTS, under=under, timeout=LIMIT, started=processes.append,
                        LOG=str(log)) as server:
                if not server.call("fact.random")["items"]:
                    wrong.append(f"{end}: no fact")
        except Failure:
            if time.monotonic() - begin >= LIMIT:
                wrong.append(f"{end}: neither ready nor ended in {LIMIT} s")
            status = processes[0].poll()
            text = log.read_text(errors="replace") if log.exists() else ""
            if status is None or status < 0 or pathlib.Path(file).name not in text:
                wrong.append(f"{end}: status {status}: {text[-200:]}")
        except (OSError, ValueError) as error:
            wrong.append(f"{end}: {type(error).__name__}: {error}")
        after = canary.read_bytes(), canary.stat().st_mode, canary.stat().st_uid
        if after != before:
            wrong.append(f"{end}: the other file changed: {after}")
        if canary.with_name("missing").exists():
            wrong.append(f"{end}: a file was created behind the link")
            canary.with_name("missing").unlink()
        shutil.rmtree(home)
    for line in wrong:
        print(f"access: {line}", flush=True)
    return Row("files of others in place of norrisd's own", f"{tried - len(wrong)} of {tried}",
               goal="served or refused", met=not wrong, note="; ".join(wrong[:3]))


# Folders and sockets of others


def folders(folder):
    """Starts norrisd on folders that others may write to."""
    wrong = []
    for name in ["state", "cache", "runtime"]:
        home = folder / f"open-{name}"
        for each in ["state", "cache", "runtime"]:
            (home / each).mkdir(mode=0o700, parents=True)
        (home / name).chmod(0o777)
        for path in [home, *home.iterdir()]:
            os.chown(path, DAEMON, DAEMON)
        under = ["setpriv", "--reuid", str(DAEMON), "--regid", str(DAEMON), "--clear-groups"]
        with daemon(home, harness.BUILT_IN_FACTS, under=under) as server:
            server.call("fact.random")
            # A database that another user could read would contain favorites.
            for path in [*home.rglob("*.db*"), *home.rglob("lock")]:
                if stat.S_IMODE(path.stat().st_mode) & 0o077 and path.parent.name != "runtime":
                    wrong.append(f"{path.relative_to(home)} has mode {stat.S_IMODE(path.stat().st_mode):o}")
    return Row("files in folders that all may write to", "private" if not wrong else "open", goal="private",
               met=not wrong, note="; ".join(wrong))


def foreign_socket(folder):
    """Lets norrisctl connect to a program of another user."""
    home = folder / "foreign"
    home.mkdir(mode=0o755)
    os.chown(home, ALICE, ALICE)
    path = home / "sock"

    def serve():
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            path.chmod(0o666)
            listener.listen()
            listener.settimeout(10)
            connection, _ = listener.accept()
            with connection:
                line = json.loads(connection.makefile().readline())
                fact = {"id": "a", "text": "\x1b[2JHOSTILE\x1b]0;title\x07", "categories": [], "source": "builtin"}
                freshness = {"origin": "builtin", "state": "fresh", "error": None}
                connection.sendall(json.dumps({"jsonrpc": "2.0", "id": line["id"],
                                               "result": {"items": [fact], "freshness": freshness}}).encode() + b"\n")

    process = multiprocessing.get_context("fork").Process(target=lambda: as_user(ALICE, [], serve))
    process.start()
    harness.wait_for(path.exists, "the socket")
    result = subprocess.run([harness.PROGRAMS / "norrisctl", "--socket", path, "fact"], capture_output=True, timeout=20,
                            env={"HOME": str(folder)})
    process.join(20)
    clean = b"\x1b" not in result.stdout + result.stderr and b"HOSTILE" in result.stdout
    return Row("a socket of another user, named by --socket", "harmless" if clean else "NOT harmless", goal="harmless",
               met=clean, note=f"status {result.returncode}, {result.stdout!r}")


def access(folder, options):
    "methods by user and group, another user's data, files and folders of others"
    if os.geteuid() != 0:
        raise Failure("root is needed to become other users")
    folder.chmod(0o711)
    rows = []
    for experiment in [methods, data, files, folders, foreign_socket]:
        rows.append(experiment(folder))
        print(f"access: {rows[-1].name}: {rows[-1].figure}", flush=True)
    return rows

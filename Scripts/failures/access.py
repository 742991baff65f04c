"""What local users must not do: administrative methods, other users' data, and files in place of norrisd's own.

norrisd runs as a user without privileges. Its peers are root, that user, a member of an administrators' group, and a
user who is neither.
"""

import contextlib
import grp
import json
import os
import pathlib
import shutil
import socket
import time

from harness import OFFLINE, Client, Failure, Worker, daemon, faultless, need_root, request

DAEMON, ALICE, BOB, MEMBER = 60_000, 60_001, 60_002, 60_003
GROUP = "games"  # a group of every Debian system
PERMISSION_DENIED = -32003
MARK = "zyqmark"  # in all data of one user
LIMIT = 5  # seconds until a daemon is ready or has ended
UNPRIVILEGED = ["setpriv", "--reuid", str(DAEMON), "--regid", str(DAEMON), "--clear-groups"]
FOLDERS = ["state", "cache", "runtime"]
FILES = ["state/state.db", "state/state.db-wal", "state/lock", "cache/cache.db", "runtime/prompt-facts", "sock"]
KINDS = ["a symbolic link", "a dangling link", "a hard link", "a pipe", "a folder", "a socket", "a file"]


def replies(path, lines):
    """Sends requests on one connection; returns the replies."""
    with Client(path, 20) as client:
        return [json.loads(client.ask(line)) for line in lines]


def as_user(uid, path, *lines, groups=()):
    return Worker(uid, replies, path, lines, groups=groups).result()


def home_of(folder, name):
    """A folder of the daemon's user, with its three folders."""
    home = folder / name
    for each in FOLDERS:
        (home / each).mkdir(mode=0o700, parents=True)
    for path in [home, *home.iterdir()]:
        os.chown(path, DAEMON, DAEMON)
    return home


def methods(folder):
    """Every method, called by each kind of user, is refused as its description says."""
    wrong, group = [], grp.getgrnam(GROUP).gr_gid
    with daemon(home_of(folder, "methods"), {**OFFLINE, "admin_groups": [GROUP]}, UNPRIVILEGED) as server:
        described = {each["name"]: each["x-admin"] for each in server.call("rpc.discover")["methods"]}
        lines = [request(name) for name in described]
        for user, uid, groups in [("root", 0, []), ("the daemon's user", DAEMON, []), ("a member", MEMBER, [group]),
                                  ("neither", BOB, [])]:
            for name, reply in zip(described, as_user(uid, server.path, *lines, groups=groups), strict=True):
                refused = reply.get("error", {}).get("code") == PERMISSION_DENIED
                if refused != (user == "neither" and described[name]):
                    wrong.append(f"{name} as {user}: {str(reply)[:100]}")
    administrative = [name for name, admin in described.items() if admin]
    if not administrative:
        raise Failure("rpc.discover names no administrative method")
    return faultless("methods by root, user, group and neither", f"{len(lines)} methods", wrong,
                     note=f"{', '.join(administrative)} for administrators")


def listened(path, seconds):
    """Subscribes to all events; returns what arrives."""
    text = b""
    with Client(path, seconds) as client, contextlib.suppress(TimeoutError):
        text += client.ask(request("event.subscribe"))
        while True:
            text += client.next()
    return text.decode()


def data(folder):
    """Alice's data have a mark, which Bob must not get by any method or event."""
    with daemon(home_of(folder, "data"), OFFLINE, UNPRIVILEGED) as server:
        fact = {"text": f"{MARK} text", "categories": [], "source": "builtin"}
        own, more = ({"kind": "fact", "id": id, "title": f"{MARK} title", "added_at": "2026-01-01T00:00:00Z",
                      "fact": {"id": id, **fact}} for id in [f"{MARK}-fact", f"{MARK}-2"])
        alice = as_user(
            ALICE, server.path, request("favorite.import", items=[own, more]),
            request("favorite.list", limit=1, numbered=True), request("gif.search", query=f"{MARK} gif", offline=True),
            request("fact.search", query=f"{MARK} query", numbered=True), request("fact.random", name=MARK),
            request("post.mark_read", ids=[f"{MARK}:post"]), request("recent.list"))
        if MARK not in str(alice[1]) or MARK not in str(alice[6]):
            raise Failure(f"Alice has no data: {alice}")
        cursor = alice[1]["result"]["next"]
        asked = [request(each["name"]) for each in server.call("rpc.discover")["methods"]
                 if each["name"] != "event.subscribe"]
        asked += [request("favorite.list", cursor=cursor), request("favorite.list", cursor=cursor, limit=1),
                  request("favorite.list", query=MARK[:4]), request("favorite.list", kind="fact", limit=100),
                  request("favorite.remove", kind="fact", id=own["id"]), request("fact.get", id=own["id"]),
                  request("fact.search", query=MARK[:4]), request("post.get", id=f"{MARK}:post"),
                  request("post.list", unread=True), request("gif.get", id=MARK)]
        asked += [request("recent.served", kind=kind, **index) for kind in ["fact", "gif", "post"]
                  for index in [{}, {"index": 1}]]
        # A refusal may repeat what Bob has sent.
        wrong = [f"{line[:120]}: {str(reply)[:200]}" for line, reply in
                 zip(asked, as_user(BOB, server.path, *asked), strict=True) if MARK in str(reply.get("result"))]
        bob = Worker(BOB, listened, server.path, 2)
        time.sleep(0.5)
        as_user(ALICE, server.path, request("favorite.remove", kind="fact", id=more["id"]),
                request("favorite.import", items=[more]), request("fact.search", query=f"{MARK} heard"))
        if MARK in (text := bob.result()) or "topics" not in text:
            wrong.append(f"an event: {text[:200]}")
        kept = as_user(ALICE, server.path, request("favorite.list", limit=100))[0]["result"]["items"]
        if {each["id"] for each in kept} != {own["id"], more["id"]}:
            wrong.append(f"Alice has {[each['id'] for each in kept]}")
    return faultless("another user's data through every method", f"{len(asked)} requests", wrong)


def place(kind, path, canary):
    """Puts something of Alice in place of a file."""
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


def replaced(folder, file, kind):
    """Starts norrisd with something else in place of a file; returns what is wrong."""
    home, canary, wrong, processes = home_of(folder, "files"), folder / "other" / "canary", [], []
    canary.parent.mkdir()
    canary.write_text("A file that is not norrisd's.\n")
    canary.chmod(0o640)
    # norrisd may write to the target of a symbolic link. The kernel allows no hard link to a file of another user.
    os.chown(canary.parent, DAEMON, DAEMON)
    os.chown(canary, *(ALICE, ALICE) if kind == "a hard link" else (DAEMON, DAEMON))
    before = canary.read_bytes(), canary.stat().st_mode, canary.stat().st_uid
    place(kind, home / file, canary)
    begin = time.monotonic()
    try:
        with daemon(home, OFFLINE, UNPRIVILEGED, timeout=LIMIT, started=processes.append) as server:
            server.call("fact.random")
    except Failure:
        status, text = processes[0].poll(), (home / "log").read_text(errors="replace")
        if time.monotonic() - begin >= LIMIT or status is None or status < 0 or pathlib.Path(file).name not in text:
            wrong.append(f"status {status}: {text[-200:]}")
    if (after := (canary.read_bytes(), canary.stat().st_mode, canary.stat().st_uid)) != before:
        wrong.append(f"the other file changed: {after}")
    if canary.with_name("missing").exists():
        wrong.append("a file was created behind the link")
    shutil.rmtree(home)
    shutil.rmtree(canary.parent)
    return wrong


def files(folder):
    """With something of another user in place of each of its files, norrisd serves or names the file and ends."""
    wrong = [f"{file} is {kind}: {fault}" for file in FILES for kind in KINDS for fault in replaced(folder, file, kind)]
    return faultless("files of others in place of norrisd's own", f"{len(FILES) * len(KINDS)} starts", wrong,
                     "served or refused")


def access(folder, options):
    """methods by user and group, another user's data, files of others in place of norrisd's"""
    need_root()
    return [experiment(folder) for experiment in [methods, data, files]]

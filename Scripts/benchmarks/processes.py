"""Measures the times of complete processes."""

import json
import os
import pathlib
import shutil

from harness import PROGRAMS, compared, compiled, daemon, in_turn, upstream, value, wait_for, wall

# The pairs in a run, because processes are short.
PAIRS = 10
WARM_UP = 3

# The goal of each command, as a multiple of the time of norrisctl fact.
COMMANDS = {
    "--help": 1.2, "fact --help": 1.2, "completion bash": 1.2, "---complete norrisctl fact -": 1.2,
    "call server.info": 1.6, "status": 1.6, "categories": 1.6, "favorite list": 1.6,
    "search kick": 1.25, "gif kick": 2, "feed": 2,
}


def processes(folder, options):
    "norrisctl fact beside fortune, prompt beside a static client in C, and other commands beside norrisctl fact"
    floor = compiled(folder, "floor_client", "-static")
    fortune = shutil.which("fortune", path="/usr/games:" + os.environ["PATH"])
    (folder / "key").write_text("benchmark")
    (folder / "key").chmod(0o600)
    (folder / "facts").write_text("\n%\n".join(f"Fact {number}: a round house kick." for number in range(40)))
    with upstream(content) as port, daemon(folder / "norrisd", CONFIGURATION.format(folder=folder, port=port)) as server:
        environment = {"NORRISD_SOCKET": str(server.path), "PATH": os.environ["PATH"], "HOME": str(folder)}
        def pair(ours, peer):
            # Only two processes, because a third process would leave colder caches for one of them.
            times = in_turn(options.runs * PAIRS, {
                "ours": lambda: wall(ours, environment), "peer": lambda: wall(peer, environment)
            }, WARM_UP)
            return times["ours"], times["peer"]
        fact = pair([PROGRAMS / "norrisctl", "fact"], [pathlib.Path(fortune)])
        prompt = pair([PROGRAMS / "norrisctl", "prompt"], [floor, server.path])
        wait_for(lambda: server.call("post.list")["items"], "posts")
        # The upstream answers the first search, and the cache answers later searches.
        wait_for(lambda: server.reply("gif.search", query="kick").get("result", {}).get("items"), "GIFs")
        wait_for(lambda: server.call("fact.search", query="kick")["items"], "facts")
        server.call("favorite.add", kind="fact", id=server.call("fact.random")["items"][0]["id"])
        commands = {name: pair([PROGRAMS / "norrisctl", *name.split()], [PROGRAMS / "norrisctl", "fact"])
                    for name in COMMANDS}
    return [
        compared("norrisctl fact / fortune", *fact, "ms", at_most=0.3),
        compared("norrisctl prompt / floor client", *prompt, "ms", at_most=1.5),
        *(compared(f"norrisctl {name} / fact", *commands[name], "ms", at_most=goal) for name, goal in COMMANDS.items()),
    ]


CONFIGURATION = """\
facts: {{enabled: false, fortunes: ['{folder}/facts']}}
gifs: {{base_url: 'http://127.0.0.1:{port}', api_key_file: '{folder}/key', queries: []}}
posts: {{sources: {{planet: {{kind: feed, url: 'http://127.0.0.1:{port}/feed'}}}}}}
"""


def content(path, _):
    """Returns 20 posts as RSS, or 25 GIFs as Giphy's reply."""
    if path.startswith("/feed"):
        items = "".join(
            f"<item><title>Post {number}</title><guid>https://blog.example/{number}</guid>"
            f"<pubDate>Fri, 20 Nov 2026 10:00:{number:02} +0000</pubDate><description>Words.</description></item>"
            for number in range(20))
        return 200, {"Content-Type": "application/rss+xml"}, (
            f"<rss version='2.0'><channel><title>Planet</title>{items}</channel></rss>".encode())
    original = {"url": "https://media0.giphy.com/media/a/giphy.gif", "width": "480", "height": "229"}
    gifs = [{"type": "gif", "id": f"kick{number}", "url": f"https://giphy.com/gifs/kick{number}", "title": "Kick",
             "rating": "g", "images": {"original": original}} for number in range(25)]
    body = {"data": gifs, "pagination": {"total_count": 25, "count": 25, "offset": 0},
            "meta": {"status": 200, "msg": "OK", "response_id": "r"}}
    return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()


def start(folder, options):
    "norrisd from its start to READY=1, the first time and with its databases there"
    times = {"first": [], "later": []}
    for number in range(options.runs):
        for name in times:
            with daemon(folder / str(number)) as server:
                times[name].append(server.start)
    return [value(f"norrisd, {name} start to READY=1", figures, "ms") for name, figures in times.items()]

"""Compares the replies per second of fact.random with Redis and with a server that parses nothing."""

import socket
import subprocess

from harness import FACT_RANDOM, accepts, compared, compiled, daemon, in_turn, load, running, wait_for

# Connections, pipeline, and the minimum ratio of norrisd to Redis.
LOADS = [(1, 1, 1.0), (50, 1, 1.0), (50, 16, 1.5)]


def rates(folder, options):
    "fact.random beside Redis GET of 300 bytes and a floor server in C: 1 and 50 connections, pipeline of 16"
    program, floor = compiled(folder, "load"), compiled(folder, "floor_server")
    # The package redis-server would start a service. redis-check-rdb of redis-tools is the same program as the server.
    (folder / "redis-server").symlink_to("/usr/bin/redis-check-rdb")
    sockets = {name: folder / f"{name}.sock" for name in ["redis", "floor"]}
    redis = [folder / "redis-server", "--port", "0", "--unixsocket", sockets["redis"], "--save", "",
             "--appendonly", "no", "--dir", folder]
    with (daemon(folder / "norrisd") as server, running(redis, stdout=subprocess.DEVNULL),
          running([floor, sockets["floor"]])):
        for path in sockets.values():
            wait_for(lambda: accepts(path), path.name)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(sockets["redis"]))
            connection.sendall(b"SET k " + b"x" * 300 + b"\n")
            assert connection.recv(100) == b"+OK\r\n"
        server.call("fact.random")
        rows = []
        for connections, pipeline, least in LOADS:
            shape = {"connections": connections, "pipeline": pipeline}
            name = f"fact.random, {connections} conn." + (f", pipeline {pipeline}" if pipeline > 1 else "")
            figures = in_turn(options.runs, {
                "norrisd": lambda: load(program, server.path, FACT_RANDOM, **shape)[0] / 1000,
                "redis": lambda: load(program, sockets["redis"], "GET k", newlines=2, **shape)[0] / 1000,
                "floor": lambda: load(program, sockets["floor"], FACT_RANDOM, **shape)[0] / 1000,
            })
            rows.append(compared(f"{name} / Redis GET", figures["norrisd"], figures["redis"], "k/s", at_least=least))
            rows.append(compared(f"{name} / floor", figures["norrisd"], figures["floor"], "k/s"))
    return rows

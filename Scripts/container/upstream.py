#!/usr/bin/env python3
"""A name server and an upstream for the container: every name is this machine, which prints all requests.

Usage: upstream.py ADDRESS
"""
import pathlib
import socket
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import Upstream, content  # noqa: E402


def answer(target, fields):
    print(f"GET {target} Host: {fields['Host']}", flush=True)
    return content(target, range(20))


def answer_names(server, address):
    """RFC 1035, section 4: A questions get the address, all others an empty answer."""
    while True:
        query, peer = server.recvfrom(512)
        end = 12
        while query[end]:
            end += query[end] + 1
        question, answers = query[12:end + 5], b""
        if struct.unpack("!H", question[-4:-2])[0] == 1:
            answers = struct.pack("!HHHIH", 0xC00C, 1, 1, 5, 4) + socket.inet_aton(address)
        header = query[:2] + struct.pack("!HHHHH", 0x8180, 1, 1 if answers else 0, 0, 0)
        server.sendto(header + question + answers, peer)


names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind((sys.argv[1], 53))
with Upstream(answer, address=sys.argv[1], port=80):
    print("ready", flush=True)
    answer_names(names, sys.argv[1])

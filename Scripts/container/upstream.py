#!/usr/bin/env python3
"""A name server and an upstream for the container: every name is this machine, and all facts are about it.

Usage: upstream.py ADDRESS
"""
import http.server
import json
import socket
import struct
import sys
import threading

ADDRESS = sys.argv[1]


def fact(number, query):
    return {
        "categories": ["dev"],
        "created_at": "2020-01-05 13:42:19.576875",
        "icon_url": "https://api.chucknorris.io/img/avatar/chuck-norris.png",
        "id": f"container-{number}",
        "updated_at": "2020-01-05 13:42:19.576875",
        "url": f"https://api.chucknorris.io/jokes/container-{number}",
        "value": f"Chuck Norris contains container number {number}. The query was {query}.",
    }


class Upstream(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print(f"GET {self.path} Host: {self.headers['Host']}", flush=True)
        facts = [fact(number, "chuck") for number in range(20)]
        body = json.dumps({"total": len(facts), "result": facts}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def answer_names(server):
    """RFC 1035, section 4: A questions get ADDRESS, all others an empty answer."""
    while True:
        query, peer = server.recvfrom(512)
        end = 12
        while query[end]:
            end += query[end] + 1
        question = query[12 : end + 5]
        kind = struct.unpack("!H", question[-4:-2])[0]
        answers = b""
        if kind == 1:
            answers = struct.pack("!HHHIH", 0xC00C, 1, 1, 5, 4) + socket.inet_aton(ADDRESS)
        header = query[:2] + struct.pack("!HHHHH", 0x8180, 1, 1 if answers else 0, 0, 0)
        server.sendto(header + question + answers, peer)


names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind((ADDRESS, 53))
threading.Thread(target=answer_names, args=[names], daemon=True).start()
upstream = http.server.ThreadingHTTPServer((ADDRESS, 80), Upstream)
print("ready", flush=True)
upstream.serve_forever()

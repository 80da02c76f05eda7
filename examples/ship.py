#!/usr/bin/env python3
"""Ships the log of an organisation into files that a log system reads: a change in JSON on each line, each once and in order.

    WEBHOOK_SECRET=whsec_... python3 ship.py --port 9000 --folder /var/log/tenantry --max-bytes 100000000

It is the receiver of a webhook with the format NDJSON_BATCH (docs/webhooks.md). A batch is accepted when it is on the disk, so nothing is
lost, whenever either side is killed. What comes again is left out: the last line of the files says what they have. A file that has grown
beyond --max-bytes gets a number, and another one begins. It needs nothing but Python.
"""
import argparse
import glob
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from receiver import changes_in, is_signed

FIRST = ("", -1)


def place_of(change):
    return change["revision"], change.get("position", 0)


class Files:
    """The file `changes.ndjson` of a folder, and those before it: `changes.000001.ndjson`, the oldest first."""

    def __init__(self, folder, max_bytes):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.max_bytes = folder, max_bytes
        self.path = os.path.join(folder, "changes.ndjson")
        self.lock = threading.Lock()
        full = sorted(glob.glob(os.path.join(folder, "changes.*.ndjson")))
        self.number = int(full[-1].split(".")[-2]) if full else 0
        self.last = self.repair(self.path)
        if self.last == FIRST and full:
            self.last = self.repair(full[-1])

    def repair(self, path):
        """Cuts off a line of which only a part was written. Returns the place of the last one."""
        if not os.path.exists(path):
            return FIRST
        with open(path, "r+b") as file:
            lines = file.read()
            end = lines.rfind(b"\n") + 1
            file.truncate(end)
            sync(file)
        last = lines[:end].splitlines()
        return place_of(json.loads(last[-1])) if last else FIRST

    def append(self, changes):
        """Returns when the changes that the files do not have are on the disk."""
        with self.lock:
            fresh = [change for change in changes if place_of(change) > self.last]
            if not fresh:
                return
            with open(self.path, "ab") as file:
                file.write(b"".join(json.dumps(change, separators=(",", ":")).encode() + b"\n" for change in fresh))
                sync(file)
                size = file.tell()
            self.last = place_of(fresh[-1])
            if size > self.max_bytes:
                self.number += 1
                os.rename(self.path, os.path.join(self.folder, f"changes.{self.number:06}.ndjson"))
            folder = os.open(self.folder, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)


def sync(file):
    file.flush()
    os.fsync(file.fileno())


class Shipper(BaseHTTPRequestHandler):
    secret = ""
    files = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        signed = is_signed(self.secret, self.headers, body)
        if signed:
            self.files.append(changes_in(self.headers, body))
        self.send_response(204 if signed else 401)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description="Ships the log of an organisation into files.")
    parser.add_argument("--port", type=int, default=9000)
    parser.add_argument("--folder", default="changes")
    parser.add_argument("--max-bytes", type=int, default=100_000_000)
    arguments = parser.parse_args()
    Shipper.secret = os.environ["WEBHOOK_SECRET"]
    Shipper.files = Files(arguments.folder, arguments.max_bytes)
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Shipper)
    print(f"receives at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

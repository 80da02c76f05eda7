#!/usr/bin/env python3
"""Receives the deliveries of a webhook (docs/webhooks.md), and prints each change once, in JSON, on a line.

    WEBHOOK_SECRET=whsec_... python3 receiver.py --port 9000

It takes all three formats, refuses what is not signed with the secret, or by the public key (`whpk_...`) in its place, and forgets which changes it has printed when it ends: a receiver
that acts on changes keeps the last `revision` and `position` with what it has done. It needs nothing but Python.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import ed25519

TOLERANCE_SECONDS = 300


def is_signed(secret, headers, body):
    """Whether a request is signed with a secret, as Standard Webhooks defines it, and not older than some minutes."""
    identifier, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{identifier}.{timestamp}.".encode() + body
    # While a secret is rotated, there are two.
    return any(is_signature(secret, signed, each) for each in headers.get("webhook-signature", "").split(" "))


def is_signature(secret, signed, signature):
    """Whether a signature (`v1,...` or `v1a,...`) is that of what is signed."""
    version, _, value = signature.partition(",")
    try:
        value = base64.b64decode(value, validate=True)
    except ValueError:
        return False
    if secret.startswith("whpk_"):
        return version == "v1a" and ed25519.verify(base64.b64decode(secret.removeprefix("whpk_")), signed, value)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return version == "v1" and hmac.compare_digest(hmac.new(key, signed, hashlib.sha256).digest(), value)


def changes_in(headers, body):
    """Returns the changes of a delivery, in their order; none of a test."""
    if headers.get("content-type") == "application/x-ndjson":
        found = [json.loads(line) for line in body.splitlines()]
    elif "ce-specversion" in headers:
        found = [json.loads(body)]
    else:
        found = [json.loads(body)["data"]]
    return [change for change in found if "revision" in change]


class Receiver(BaseHTTPRequestHandler):
    secret = ""
    # What was printed: a delivery can come more than once, and always in the order of the log.
    last = ("", -1)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.secret, self.headers, body):
            return self.answer(401)
        for change in changes_in(self.headers, body):
            place = (change["revision"], change.get("position", 0))
            if place > Receiver.last:
                print(json.dumps(change, separators=(",", ":")), flush=True)
                Receiver.last = place
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description="Receives the deliveries of a webhook.")
    parser.add_argument("--port", type=int, default=9000)
    arguments = parser.parse_args()
    Receiver.secret = os.environ["WEBHOOK_SECRET"]
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver)
    print(f"receives at http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

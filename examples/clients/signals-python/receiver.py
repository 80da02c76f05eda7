"""Receives the events of an event stream that is pushed (docs/signals.md), and prints each once, in JSON, on a line.

    TENANTRY_URL=http://localhost:8080 SIGNALS_AUTHORIZATION='Bearer of-the-receiver' \
        python3 receiver.py --port 9002 --audience https://gateway.example.com

SIGNALS_AUTHORIZATION is the `push_authorization` of the stream, and the audience its `audience`. It needs PyJWT and cryptography. Which
events it has printed it forgets when it ends: a receiver that acts on events keeps their `jti` with what it has done.
"""

import argparse
import hmac
import json
import os
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt

MAX_BYTES = 65_536


class Refused(Exception):
    """An event that is not accepted, with the code that RFC 8935 has for the reason (2.4)."""

    def __init__(self, err, description):
        super().__init__(description)
        self.err = err


class Verifier:
    """Knows the transmitter from its metadata, and reads its keys when an event names one that is not known yet."""

    def __init__(self, url, audience):
        with urllib.request.urlopen(f"{url}/.well-known/ssf-configuration") as response:
            configuration = json.load(response)
        self.audience = audience
        self.issuer = configuration["issuer"]
        self.keys = jwt.PyJWKClient(configuration["jwks_uri"])

    def verify(self, token):
        """Returns the claims of an event. @raises Refused"""
        try:
            # So that no other token of the service is taken for an event (RFC 8417, 2.3).
            if jwt.get_unverified_header(token).get("typ") != "secevent+jwt":
                raise Refused("invalid_request", "typ is not secevent+jwt")
            return jwt.decode(
                token,
                self.keys.get_signing_key_from_jwt(token),
                algorithms=["RS256"],
                issuer=self.issuer,
                audience=self.audience,
                options={"require": ["iat", "iss", "aud", "jti", "events"]},
            )
        except jwt.InvalidIssuerError as error:
            raise Refused("invalid_issuer", str(error)) from error
        except jwt.InvalidAudienceError as error:
            raise Refused("invalid_audience", str(error)) from error
        except (jwt.InvalidSignatureError, jwt.PyJWKClientError) as error:
            raise Refused("invalid_key", str(error)) from error
        except jwt.PyJWTError as error:
            raise Refused("invalid_request", str(error)) from error


class Receiver(ThreadingHTTPServer):
    """Calls `act` with the claims of each event, once and in order. An event whose `act` fails is not accepted, and comes again."""

    def __init__(self, port, verifier, authorization, act):
        super().__init__(("127.0.0.1", port), Handler)
        self.verifier = verifier
        self.authorization = authorization
        self.act = act
        self.seen = set()

    def accept(self, authorization, content_type, token):
        if not hmac.compare_digest(authorization.encode(), self.authorization.encode()):
            raise Refused("authentication_failed", "the header Authorization is not that of this receiver")
        if content_type != "application/secevent+jwt":
            raise Refused("invalid_request", "the content is not application/secevent+jwt")
        claims = self.verifier.verify(token)
        # An event can come more than once, with the same id.
        if claims["jti"] in self.seen:
            return
        self.act(claims)
        self.seen.add(claims["jti"])


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        headers = self.headers
        length = headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BYTES:
            return self.answer(413, None)
        token = self.rfile.read(int(length)).decode("ascii", "replace")
        try:
            self.server.accept(headers.get("authorization", ""), headers.get("content-type", ""), token)
        except Refused as refused:
            return self.answer(400, {"err": refused.err, "description": str(refused)})
        return self.answer(202, None)

    def answer(self, status, problem):
        body = b"" if problem is None else json.dumps(problem).encode()
        self.send_response(status)
        if body:
            self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def show(claims):
    print(json.dumps(claims, separators=(",", ":")), flush=True)


def main():
    parser = argparse.ArgumentParser(description="Receives the events of an event stream.")
    parser.add_argument("--port", type=int, default=9002)
    parser.add_argument("--audience", required=True)
    arguments = parser.parse_args()
    verifier = Verifier(os.environ.get("TENANTRY_URL", "http://localhost:8080"), arguments.audience)
    receiver = Receiver(arguments.port, verifier, os.environ["SIGNALS_AUTHORIZATION"], show)
    print(f"receives at http://127.0.0.1:{receiver.server_port}/", file=sys.stderr, flush=True)
    receiver.serve_forever()


if __name__ == "__main__":
    main()

"""Has the service push events to the receiver, and tampers with them. TENANTRY_URL is the service, TENANTRY_KEY the API key of the
operator, TENANTRY_ORG the name of the org to create."""

import json
import os
import threading
import urllib.error
import urllib.request

from receiver import Receiver, Refused, Verifier

URL = os.environ["TENANTRY_URL"]
API = f"{URL}/iam/v1alpha"
AUDIENCE = "https://gateway.example.com"
AUTHORIZATION = "Bearer of-the-receiver"
CAEP = "https://schemas.openid.net/secevent/caep/event-type/"
RISC = "https://schemas.openid.net/secevent/risc/event-type/"
SSF = "https://schemas.openid.net/secevent/ssf/event-type/"


def call(path, body):
    """Calls a method of the service with POST."""
    request = urllib.request.Request(
        f"{API}/{path}",
        data=json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['TENANTRY_KEY']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


class Sessions:
    """What the receiver does with events: it knows what has ended."""

    def __init__(self):
        self.events = []
        self.changed = threading.Condition()
        self.failures = 0

    def act(self, claims):
        with self.changed:
            if self.failures > 0:
                self.failures -= 1
                raise Refused("invalid_request", "not now")
            self.events.append(claims)
            self.changed.notify_all()

    def wait_for(self, count):
        """Returns the types and subjects of all events, when there are so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.events) >= count, timeout=60), self.events
            return [(event, claims["sub_id"]) for claims in self.events for event in claims["events"]]


def expect_refusal(err, verifier, token):
    try:
        verifier.verify(token)
    except Refused as refused:
        assert refused.err == err, (refused.err, str(refused))
        return
    raise AssertionError(f"no {err}")


def change_signature(token):
    signed, signature = token.rsplit(".", 1)
    return f"{signed}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


def post(url, token, authorization):
    """Sends an event as somebody else. Returns the status."""
    headers = {"Authorization": authorization, "Content-Type": "application/secevent+jwt"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, token.encode(), headers)) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


class Recording(Verifier):
    """Keeps what it verifies, for the tampering."""

    last = ""

    def verify(self, token):
        self.last = token
        return super().verify(token)


org = f"orgs/{os.environ['TENANTRY_ORG']}"
org_id = call("orgs", {"name": os.environ["TENANTRY_ORG"]})["id"]
sessions, verifier = Sessions(), Recording(URL, AUDIENCE)
receiver = Receiver(0, verifier, AUTHORIZATION, sessions.act)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
push_url = f"http://127.0.0.1:{receiver.server_port}/"
stream = call(
    f"{org}/eventStreams",
    {"name": "gateway", "audience": AUDIENCE, "push_url": push_url, "push_authorization": AUTHORIZATION},
)

# The service proves that events come through.
call(f"{org}/eventStreams/gateway:verify", {"state": "VGhpcyBpcyBh"})
assert sessions.wait_for(1) == [(f"{SSF}verification", {"format": "opaque", "id": stream["id"]})]
verification = verifier.last

# What the receiver refuses comes again, the same and before anything later.
member = call(f"{org}/members", {"name": "alice"})
alice = {"format": "iss_sub", "iss": verifier.issuer, "sub": member["id"]}
sessions.failures = 1
call(f"{org}/members/alice:revokeTokens", {})
call(f"{org}/members/alice:suspend", {})
told = sessions.wait_for(4)[1:]
assert told == [
    (f"{CAEP}session-revoked", alice),
    (f"{CAEP}session-revoked", alice),
    (f"{RISC}account-disabled", alice),
], told
assert len({claims["jti"] for claims in sessions.events}) == 4

# An event that comes twice does nothing, and what is not for this receiver, or was changed, is refused.
assert post(push_url, verification, AUTHORIZATION) == 202
assert post(push_url, verification, "Bearer of-another") == 400
assert post(push_url, change_signature(verification), AUTHORIZATION) == 400
expect_refusal("invalid_key", verifier, change_signature(verification))
expect_refusal("invalid_audience", Verifier(URL, "https://other.example.com"), verification)
expect_refusal("invalid_request", verifier, call("tokens:issue", {})["access_token"])
assert len(sessions.events) == 4, sessions.events

# That the org is suspended is told, too.
call(f"{org}:suspend", {})
assert sessions.wait_for(5)[4] == (f"{RISC}account-disabled", {"format": "opaque", "id": org_id})
receiver.shutdown()
print("signals-python: all is well")

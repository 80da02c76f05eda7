"""Checks SCIM of a service with scim2-tester: `python scim.py URL TOKEN`. Fails if a check does that is not among those below."""

import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

# Of checks that fail, by what they say, why they do.
INTENDED = {
    "/.search": "users and groups are searched for by GET alone, as directories do",
    "attribute 'active'": "nobody is neither active nor inactive, so it cannot be removed",
}

url, token = sys.argv[1:]
with Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as http:
    results = check_server(SyncSCIMClient(http))
unintended = 0
for result in results:
    if result.status not in (Status.ERROR, Status.CRITICAL):
        continue
    reason = result.reason or ""
    why = next((why for part, why in INTENDED.items() if part in reason), None)
    unintended += why is None
    print(result.title, reason if why is None else f"fails as intended: {why}")
print(f"scim2-tester: {len(results)} checks, {unintended} failed")
sys.exit(1 if unintended or len(results) < 50 else 0)

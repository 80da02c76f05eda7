"""Checks SCIM of a service with scim2-tester: `python scim.py URL TOKEN`. Fails if a check does."""

import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

url, token = sys.argv[1:]
with Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as http:
    results = check_server(SyncSCIMClient(http))
for result in results:
    print(result.status.name, result.title, result.reason or "")
failed = [result for result in results if result.status in (Status.ERROR, Status.CRITICAL)]
print(f"{len(results)} checks, {len(failed)} failed")
sys.exit(1 if failed else 0)

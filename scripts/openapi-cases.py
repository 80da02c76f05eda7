"""Sends requests that the OpenAPI document allows to a running service, and counts what it refuses all the same.

    python openapi-cases.py URL KEY EXAMPLES

Ends with an error if a response is a 5xx, if it is a 503 after some more tries, as a busy service may give, or if the service refuses
30 % of the requests or more with INVALID_ARGUMENT: then the document does not say what the service accepts. Page tokens are opaque, and
filters are a language of their own, which JSON Schema cannot describe: requests do not contain them. Nor do they contain NUL, which no
text of any request may have; the document does not say so for each. A request id, if there is one, is new for each request. Streams,
which do not end, are left out.
"""

import collections
import re
import sys
import time
import uuid

import hypothesis
import schemathesis
from schemathesis import GenerationMode

LEFT_OUT = {"page_token", "filter"}
MOST_REFUSED = 0.3
MOST_TRIES = 5


def shape(message):
    """Returns a message without what differs between requests, so that the same refusals can be counted."""
    return re.sub(r"\[\d+\]", "[]", re.sub(r'"[^"]*"|/[^ ]*', "…", message))[:140]


def is_stream(operation):
    """Whether the response goes on until the client ends it."""
    return "text/event-stream" in operation.definition.raw["responses"].get("200", {}).get("content", {})


def main(url, key, examples):
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    schema.config.generation.update(allow_x00=False)
    operations = [each for each in (result.ok() for result in schema.get_all_operations()) if not is_stream(each)]
    statuses, reasons, failures = collections.Counter(), collections.Counter(), []

    def call(case):
        return case.call(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=120)

    def send(case):
        for name in LEFT_OUT & set(case.query or {}):
            del case.query[name]
        for part in (case.query, case.body):
            if isinstance(part, dict) and part.get("request_id"):
                part["request_id"] = str(uuid.uuid4())
        response = call(case)
        for _ in range(MOST_TRIES - 1):
            if response.status_code != 503:
                break
            time.sleep(float(response.headers.get("Retry-After", 1)))
            response = call(case)
        statuses[response.status_code] += 1
        if response.status_code == 400:
            reasons[shape(response.json()["error"]["message"])] += 1
        if response.status_code >= 500:
            failures.append(f"{case.as_curl_command()}\n  {response.status_code} {response.text}")

    for operation in operations:
        strategy = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        settings = hypothesis.settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.seed(examples)(settings(hypothesis.given(strategy)(send)))()
    total = sum(statuses.values())
    refused = statuses[400] / total
    for message, count in reasons.most_common(25):
        print(f"{count:5} {message}")
    print(f"{total} requests to {len(operations)} operations; by status: {dict(sorted(statuses.items()))}")
    print(f"{refused:.0%} were refused with INVALID_ARGUMENT; {len(failures)} failed with a 5xx")
    print("\n".join(failures[:10]))
    return 1 if failures or refused >= MOST_REFUSED or total == 0 else 0


sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))

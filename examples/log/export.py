#!/usr/bin/env python3
"""Writes the log of an organisation, a customer or the platform, a change in JSON on each line, the earliest first.

    TENANTRY_API_KEY=... python3 export.py orgs/acme > changes.ndjson
    curl http://localhost:8080/.well-known/log-keys.json > keys.json
    python3 verify.py changes.ndjson --keys keys.json

An export that has ended early goes on: `python3 export.py orgs/acme --after REVISION >> changes.ndjson`, with the revision of
its last change. The signed end of the log of an organisation is a line before the changes that it signs. It needs nothing but Python.
"""
import argparse
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def pages(url, key, parent, after):
    """Returns the lines of each page of a log, one page after the other."""
    query = {"order_by": "time", "view": "PROVED", "page_size": "1000"}
    if after:
        query["filter"] = f'revision > "{after}"'
    path = f"{parent.strip('/')}/changes" if parent.strip("/") else "changes"
    while True:
        target = f"{url}/iam/v1alpha/{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(target, headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request) as response:
            page = json.load(response)
        yield ([{"head": page["head"]}] if page.get("head") else []) + page.get("changes", [])
        query["page_token"] = page.get("next_page_token", "")
        if not query["page_token"]:
            return


def main():
    parser = argparse.ArgumentParser(description="Exports a log of changes.")
    parser.add_argument("parent", help="orgs/acme, customers/acme, or an empty text for the platform")
    parser.add_argument("--after", default="", help="the revision after which to begin, of a log of an org")
    arguments = parser.parse_args()
    url = os.environ.get("TENANTRY_URL", "http://localhost:8080")
    try:
        for lines in pages(url, os.environ["TENANTRY_API_KEY"], arguments.parent, arguments.after):
            for line in lines:
                print(json.dumps(line, separators=(",", ":")))
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


if __name__ == "__main__":
    main()

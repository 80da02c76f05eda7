#!/usr/bin/env python3
"""Writes the log of an organisation, a customer or the platform, a change in JSON on each line, the earliest first.

    TENANTRY_API_KEY=... python3 export.py orgs/acme > changes.ndjson
    python3 verify.py changes.ndjson

An export that has ended early goes on: `python3 export.py orgs/acme --after REVISION >> changes.ndjson`, with the revision of
its last line. It needs nothing but Python.
"""
import argparse
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request


def pages(url, key, parent, after):
    """Returns the pages of a log, one after the other."""
    query = {"order_by": "time", "view": "PROVED", "page_size": "1000"}
    if after:
        query["filter"] = f'revision > "{after}"'
    path = f"{parent.strip('/')}/changes" if parent.strip("/") else "changes"
    while True:
        target = f"{url}/iam/v1alpha/{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(target, headers={"Authorization": f"Bearer {key}"})
        with urllib.request.urlopen(request) as response:
            page = json.load(response)
        yield page.get("changes", [])
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
        for changes in pages(url, os.environ["TENANTRY_API_KEY"], arguments.parent, arguments.after):
            for change in changes:
                print(json.dumps(change, separators=(",", ":")))
    except urllib.error.HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks an export of a change log: nothing in it was changed, removed or reordered.

    python3 verify.py export.ndjson

Written from docs/decisions/0084-a-log-that-proves-itself.md alone, with nothing but Python. Each line has a `proof`.
"""
import hashlib
import json
import sys

FIELDS = ("after", "before", "origin", "resource_path")


def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def problem_of(proof, record, previous):
    """Returns what is wrong with an entry; None if nothing is."""
    for field in FIELDS:
        text = proof["texts"].get(field)
        if text is None:
            continue
        key = proof["keys"].get(field, "")
        if sha256(f"tenantry.dev/log/value\n{key}\n{text}") != record[field]:
            return f"its {field} is not what was written"
    if previous is None:
        return None
    if sha256(f"tenantry.dev/log/entry\n{previous}\n{proof['record']}") != proof["hash"]:
        return "it is not what was written, or an entry before it is missing or was changed"
    return None


def main(path):
    heads, lasts, faults, count = {}, {}, 0, 0
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            proof = json.loads(line).get("proof")
            if proof is None:
                continue
            record = json.loads(proof["record"])
            org = record["org_id"]
            first = record["chain_start"] == record["revision"] and record["position"] == 0
            problem = problem_of(proof, record, "0" * 64 if first else heads.get(org))
            heads[org] = proof["hash"]
            # The first 16 digits of a revision are its number.
            last, lasts[org] = lasts.get(org), record["revision"]
            if first and last is not None:
                if record["revision"][:18] <= last[:18]:
                    problem = problem or "a chain begins with it, though its revision is not later than the one before"
                else:
                    print(f"{org}: another chain begins with {record['revision']}; changes after {last} may be missing")
            count += 1
            if problem is not None:
                faults += 1
                print(f"line {number}: {record['revision']} {record['position']}: {problem}")
    for org, head in heads.items():
        print(f"{org} {head}")
    print(f"{count} entries, {faults} faults")
    return 1 if faults > 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
"""Checks an export of a change log: nothing in it was changed, removed or reordered, and each change shows what is proved.

    curl https://iam.example.com/.well-known/log-keys.json > keys.json
    python3 verify.py export.ndjson --keys keys.json --head kept.json

Written from docs/decisions/0084-a-log-that-proves-itself.md and 0089-signed-heads.md alone, with nothing but Python. Each line has a
`proof`, or a signed `head`. `before`, `after` and `changed_fields` are compared by `tenantry verify`, which knows how they are made.
"""
import argparse
import json
import sys
from hashlib import sha256 as new_sha256

import signatures

FIELDS = ("after", "before", "origin", "resource_path")
ORIGIN = ("credential_id", "on_behalf_of", "reason", "remote_address", "request_id", "user_agent")
# What a change has in JSON; what has another name is proved by nothing.
FIELDS_OF_CHANGES = {
    *("org_path", "customer_path", "revision", "position", "time", "type", "method", "resource_type", "resource_id", "resource_path"),
    *("actor_path", "impersonator_path", "source", "end_time", "before", "after", "changed_fields"),
    *("withheld_fields", "erased_fields", "proof", *ORIGIN),
}


def sha256(text):
    return new_sha256(text.encode("utf-8")).hexdigest()


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


def type_of(record):
    if record["method"] == "iam.v1alpha.MembersService/EraseMember":
        return "ERASED"
    if record["resource_type"] == "ChangeLog":
        return "READ"
    if record["end_time"]:
        return "EXPIRED"
    if record["before"] is None:
        return "CREATED"
    return "DELETED" if record["after"] is None else "UPDATED"


def log_of(said):
    """Returns the id of the org or the customer whose log it is: of a record, or of what a head says."""
    return said.get("org_id") or said["customer_id"]


def log_path(said):
    """Returns the name and the value of the field that says whose log it is."""
    if said.get("org_id"):
        return {"org_path": f"/orgs/@{said['org_id']}"}
    return {"customer_path": f"/customers/@{said['customer_id']}"}


def member_path(record, name):
    if record[name] is None:
        return ""
    return f"/orgs/@{record['actor_org_id'] or log_of(record)}/members/@{record[name]}"


def proved_fields(record, texts):
    """Returns what a change has to show."""
    origin = json.loads(texts.get("origin", "{}"))
    return {
        **{"org_path": "", "customer_path": "", **log_path(record)},
        "type": type_of(record),
        "actor_path": member_path(record, "actor_id"),
        "impersonator_path": member_path(record, "impersonator_id"),
        "resource_path": json.loads(texts.get("resource_path", '""')),
        "source": record["source"] or "SOURCE_UNSPECIFIED",
        **{name: record[name] for name in ("revision", "position", "method", "resource_type", "resource_id")},
        **{name: origin.get(name) or "" for name in ORIGIN},
    }


def same_time(shown, proved):
    """Whether two times are the same, whatever zeros at their ends are left out."""
    parts = [(text or "").rstrip("Z").split(".") for text in (shown, proved)]
    return len({(part[0], (part[1:] or [""])[0].rstrip("0")) for part in parts}) == 1


def shown_problems(change, proof, record):
    """Returns what a change shows that its proof does not."""
    if set(change) == {"proof"}:
        return
    defaults = {"position": 0, "type": "TYPE_UNSPECIFIED", "source": "SOURCE_UNSPECIFIED"}
    for name, value in proved_fields(record, proof["texts"]).items():
        if change.get(name, defaults.get(name, "")) != value:
            yield f"its {name} is not what is proved"
    for name in sorted(set(change) - FIELDS_OF_CHANGES):
        yield f"its {name} is no field, and not proved"
    for name in ("time", "end_time"):
        if not same_time(change.get(name), record[name]):
            yield f"its {name} is not what is proved"
    named = {*change.get("withheld_fields", ()), *change.get("erased_fields", ())}
    for field in FIELDS:
        is_missing = record[field] is not None and field not in proof["texts"]
        if is_missing != (field in named):
            yield f"its {field} is missing, or said to be" if is_missing else f"its {field} is said to be missing"
    for field in ("before", "after"):
        if (change.get(field) is not None) != (field in proof["texts"]):
            yield f"its {field} is not what is proved"


def head_problem(line, said):
    """Returns what a line shows that its signed head does not say; None if nothing does."""
    head = line.get("head", line)
    if head is not line and set(line) != {"head"}:
        return "the line has something beside it"
    if not isinstance(head, dict):
        return None
    if not same_time(head.get("time", said["time"]), said["time"]):
        return "the line shows another time than it says"
    proved = {**log_path(said), "revision": said["revision"], "hash": said["hash"]}
    for name in sorted(set(head) - {"jws", "time"}):
        if head[name] != proved.get(name, ""):
            return f"the line shows another {name} than it says"
    return None


def is_next(before, revision):
    """Whether a revision follows another one without one between them: the first half is its number."""
    numbers = [int(text.replace("-", "")[:16], 16) for text in (before, revision)]
    return numbers[0] + 1 == numbers[1]


class Check:
    """What is known of a file, line by line."""

    def __init__(self, keys):
        self.keys = keys
        self.heads, self.made, self.noted, self.proved = {}, {}, [], set()
        self.lasts = {}
        self.count = self.faults = self.unproved = 0

    def fault(self, text):
        self.faults += 1
        print(text)

    def note(self, head, where, line=None):
        """Takes a signed head, and compares what the line that it is in shows."""
        try:
            said = signatures.verify(head, self.keys, "log-head+jwt")
        except ValueError as error:
            self.fault(f"{where}: a signed head cannot be used: {error}")
            return
        problem = None if line is None else head_problem(line, said)
        if problem is not None:
            self.fault(f"{where}: a signed head cannot be used: {problem}")
            return
        self.noted.append(said)
        if self.made.get(log_of(said)) == said["hash"]:
            self.proved.add(said["hash"])

    def previous_of(self, record):
        log = log_of(record)
        if record["position"] == 0:
            if record["chain_start"] == record["revision"]:
                return "0" * 64
            if log not in self.heads:
                heads = (h for h in self.noted if log_of(h) == log and is_next(h["revision"], record["revision"]))
                return next((head["hash"] for head in heads), None)
        return self.heads.get(log)

    def restart_problem(self, record):
        """Tells where another chain begins; returns what is wrong with that."""
        # The first 16 digits of a revision are its number.
        log, revision = log_of(record), record["revision"]
        last, self.lasts[log] = self.lasts.get(log), revision
        if last is None or record["chain_start"] != revision or record["position"] != 0:
            return None
        if revision[:18] <= last[:18]:
            return "a chain begins with it, though its revision is not later than the one before"
        print(f"{log}: another chain begins with {revision}; changes after {last} may be missing")
        return None

    def add(self, change, where):
        """Takes the next change."""
        # A field without anything is not in JSON.
        proof = {"texts": {}, "keys": {}, **change["proof"]}
        record = json.loads(proof["record"])
        log, previous = log_of(record), self.previous_of(record)
        is_first = log not in self.heads
        restart_problem = self.restart_problem(record)
        problem = problem_of(proof, record, previous) or restart_problem
        self.heads[log] = proof["hash"]
        self.made.pop(log, None)
        self.count += 1
        name = f"{where}: {record['revision']} {record['position']}"
        if problem is not None:
            self.fault(f"{name}: {problem}")
            return
        if previous is None:
            print(f"{log}: the file begins with {record['revision']} {record['position']}, which is taken as it is")
        else:
            self.made[log] = proof["hash"]
            # The hash of an entry that was taken as it is may be copied, whatever follows it.
            proved = (previous, proof["hash"]) if is_first else (proof["hash"],)
            self.proved |= {head["hash"] for head in self.noted if head["hash"] in proved}
        for shown in shown_problems(change, proof, record):
            self.fault(f"{name}: {shown}")

    def end(self):
        for head in self.noted:
            if head["hash"] not in self.proved:
                self.fault(f"{log_of(head)}: the head of {head['revision']} is that of no change: some were cut off or replaced")
            else:
                print(f"{log_of(head)} is signed up to {head['revision']} of {head['time']} by {head['iss']}")
        for log, head in self.heads.items():
            print(f"{log} {head}")
        if self.unproved > 0:
            print(f"{self.unproved} changes without a proof, of which nothing shows that they were written")
        print(f"{self.count} entries, {self.faults} faults")


def head_in(value):
    """Returns the signed head in what the service answers, writes into its log, or in a line of an export."""
    while isinstance(value, dict):
        value = value.get("jws", value.get("head"))
    return value


def main():
    parser = argparse.ArgumentParser(description="Checks an export of a change log.")
    parser.add_argument("file")
    parser.add_argument("--keys", help="the keys that verify signed heads; without them, signed heads are passed over")
    parser.add_argument("--head", action="append", default=[], help="a file with a signed head that was kept, as JSON")
    arguments = parser.parse_args()
    keys = []
    if arguments.keys:
        with open(arguments.keys, encoding="utf-8") as file:
            keys = json.load(file)["keys"]
    check = Check(keys)
    for path in arguments.head:
        with open(path, encoding="utf-8") as file:
            check.note(head_in(json.load(file)) or "", path)
    with open(arguments.file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            change = json.loads(line)
            if change.get("proof") is not None:
                check.add(change, f"line {number}")
            elif head_in(change):
                if keys:
                    check.note(head_in(change), f"line {number}", change)
            else:
                check.unproved += 1
    check.end()
    return 1 if check.faults > 0 else 0


if __name__ == "__main__":
    sys.exit(main())

import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { invalidField } from "../../console/src/calls/invalid-field.ts";
import { asOfProblem, readAsOf } from "../../console/src/screens/why/as-of.ts";

const revision = "00000000-0000-0732-9f3c-5b21c7e40d18";
const time = "2026-03-01T12:00:00Z";

test("a moment is a time or a revision, and what is neither is sent as a revision", () => {
  expect(readAsOf(undefined)).toEqual({});
  expect(readAsOf(time)).toMatchObject({ asOfTime: { seconds: BigInt(Date.parse(time) / 1_000) } });
  for (const text of [revision, "yesterday", "2026-99-99T12:00:00Z", "2026"]) {
    expect(readAsOf(text)).toEqual({ asOfRevision: text });
  }
});

test("what the service says about the moment is at its field, and nothing else", () => {
  expect(asOfProblem(invalidField("as_of_time", "must not be in the future"), time)).toEqual({
    as_of_time: "must not be in the future",
  });
  expect(asOfProblem(new ConnectError("too old", Code.OutOfRange), revision)).toEqual({ as_of_revision: "too old" });
  expect(asOfProblem(new ConnectError("no", Code.PermissionDenied), revision)).toBeUndefined();
});

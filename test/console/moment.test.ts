import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { invalidField } from "../../console/src/calls/invalid-field.ts";
import { momentProblem, readMoment } from "../../console/src/calls/moment.ts";

const revision = "00000000-0000-0732-9f3c-5b21c7e40d18";
const time = "2026-03-01T12:00:00Z";
const names = { time: "as_of_time", revision: "as_of_revision" };

test("a moment is a time or a revision, and what is neither is sent as a revision", () => {
  expect(readMoment(undefined)).toEqual({});
  expect(readMoment(time)).toMatchObject({ time: { seconds: BigInt(Date.parse(time) / 1_000) } });
  for (const text of [revision, "yesterday", "2026-99-99T12:00:00Z", "2026"]) {
    expect(readMoment(text)).toEqual({ revision: text });
  }
});

test("what the service says about the moment is at its field, and nothing else", () => {
  expect(momentProblem(invalidField("as_of_time", "must not be in the future"), time, names)).toEqual({
    as_of_time: "must not be in the future",
  });
  expect(momentProblem(new ConnectError("too old", Code.OutOfRange), revision, names)).toEqual({
    as_of_revision: "too old",
  });
  expect(momentProblem(new ConnectError("no", Code.PermissionDenied), revision, names)).toBeUndefined();
});

import { stripVTControlCharacters } from "node:util";
import pino from "pino";
import { expect, test } from "vitest";
import { formatForPeople } from "../../src/http/log-for-people.ts";

const time = new Date(2026, 0, 31, 12, 5, 9).toISOString();
const format = (...lines: readonly (object | string)[]): string[] => {
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify({ time, ...line })}\n`).join("");
  return stripVTControlCharacters(formatForPeople(text)).split("\n");
};

const request = {
  level: 30,
  msg: "request",
  requestId: "r-1",
  method: "GET",
  path: "/iam/v1alpha/orgs",
  status: 200,
  durationMs: 2.25,
  protocol: "h1",
  bytes: 12,
  address: "127.0.0.1",
};

test("a request is a line that begins with its time, status, path and duration", () => {
  const rpc = "iam.v1alpha.OrgsService/ListOrgs";
  expect(format({ ...request, rpc, code: "OK", caller: "/orgs/@1/members/@2" })).toEqual([
    `12:05:09 info  200 GET /iam/v1alpha/orgs 3 ms rpc=${rpc} caller=/orgs/@1/members/@2 address=127.0.0.1 requestId=r-1`,
    "",
  ]);
});

test("a call that failed over gRPC has its code beside the status, and the method once", () => {
  const call = { method: "POST", path: "/iam.v1alpha.OrgsService/GetOrg", rpc: "iam.v1alpha.OrgsService/GetOrg" };
  expect(format({ ...request, ...call, code: "NOT_FOUND", aborted: true })[0]).toBe(
    `12:05:09 info  200 NOT_FOUND POST ${call.path} 3 ms (the client has gone) address=127.0.0.1 requestId=r-1`,
  );
});

test("other lines have their message, their fields, and the stack of an error below", () => {
  const lines: string[] = [];
  const logger = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => void lines.push(line) },
  );
  logger.error({ err: new Error("the disk is full"), job: "purge", count: 3 }, "failed to purge");
  const [first, second, third] = stripVTControlCharacters(formatForPeople(lines.join(""))).split("\n");
  expect(first).toMatch(/^\d\d:\d\d:\d\d error failed to purge job=purge count=3$/);
  expect(second).toBe("  Error: the disk is full");
  expect(third).toMatch(/^ {6}at /);
});

test("many lines that are written together are formatted each, and what is no JSON stays", () => {
  expect(format({ level: 40, msg: "one" }, "plain text", { level: 20, msg: "two" })).toEqual([
    "12:05:09 warn  one",
    "plain text",
    "12:05:09 debug two",
    "",
  ]);
});

test("what would steer the terminal is escaped", () => {
  const escape = "\u001b[2J\u009b";
  const [line] = formatForPeople(`${JSON.stringify({ time, level: 30, msg: escape, path: "a\nb" })}\n`).split("\n");
  expect(line).toContain(String.raw`\u001b[2J\u009b`);
  expect(line).toContain(String.raw`path=a\u000ab`);
});

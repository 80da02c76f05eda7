import { expect, test } from "vitest";
import { collectPieces } from "../../../src/rest/calls/collect-pieces.ts";
import { freeMemory } from "../../../src/rest/calls/free-memory.ts";
import { readJsonBody } from "../../../src/rest/json/read-json-body.ts";

const isFreed = (bytes: Buffer): boolean => bytes.length === 0;

test("pieces are freed when they are joined, and a single one is returned", () => {
  const pieces = collectPieces();
  const own = [Buffer.alloc(65_536, "a"), Buffer.alloc(65_536, "b")];
  for (const piece of own) pieces.add(piece);
  const joined = pieces.take();
  expect([joined.length, joined[0], joined.at(-1)]).toEqual([131_072, 0x61, 0x62]);
  expect(own.map(isFreed)).toEqual([true, true]);
  pieces.add(joined);
  expect(pieces.take()).toBe(joined);
});

test("memory that others may use is not freed", () => {
  const shared = new ArrayBuffer(131_072);
  const part = Buffer.from(shared, 0, 65_536);
  const short = Buffer.from("from the pool");
  const ofThreads = Buffer.from(new SharedArrayBuffer(65_536));
  for (const bytes of [part, short, ofThreads]) freeMemory(bytes);
  expect([part, short, ofThreads].map(isFreed)).toEqual([false, false, false]);
  const pieces = collectPieces();
  pieces.add(part);
  pieces.add(part);
  expect(pieces.take()).toHaveLength(131_072);
  expect(shared.byteLength).toBe(131_072);
});

test("the bytes of a JSON body are freed, whether it is parsed or refused", () => {
  const json = JSON.stringify({ text: "a".repeat(65_536) });
  const parsed = Buffer.concat([Buffer.from(json)]);
  expect(readJsonBody(parsed, 10, undefined)).toEqual(JSON.parse(json));
  const refused = Buffer.concat([Buffer.from(json)]);
  const refuse = (): void => {
    throw new Error("too many");
  };
  expect(() => readJsonBody(refused, 10, refuse)).toThrow("too many");
  expect([parsed, refused].map(isFreed)).toEqual([true, true]);
});

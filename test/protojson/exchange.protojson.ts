// Exchanges JSON with Go's protojson, in both directions, and shows each difference that is intended.
import {
  create,
  createRegistry,
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NumberText } from "../../src/rest/json/number-text.ts";
import { parseJson } from "../../src/rest/json/parse-json.ts";
import { createJsonReaders } from "../../src/rest/json/read-json.ts";
import { createJsonWriters } from "../../src/rest/json/write-json.ts";
import * as library from "../rest/gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../rest/gen/rest/test/v1/odd_fields_pb.ts";
import * as parameters from "../rest/gen/rest/test/v1/parameters_pb.ts";
import { Proto2MessageSchema } from "../rest/gen/rest/test/v1/parameters2_pb.ts";
import { arbitraryJson, odd, time } from "../rest/json/arbitrary-json.ts";
import { arbitraryMessage } from "../rest/json/arbitrary-message.ts";
import { leavesOf } from "../rest/json/intended-differences.ts";
import { rounds } from "../support/rounds.ts";
import { differences } from "./intended-differences.ts";
import { type Answer, type Protojson, startProtojson } from "./protojson.ts";

const descs: readonly DescMessage[] = [
  parameters.Proto3MessageSchema,
  parameters.ParametersSchema,
  Proto2MessageSchema,
  library.BookSchema,
  library.MaskedSchema,
  OddFieldsSchema,
];
const cases = descs.map((desc) => ({ name: desc.name, desc }));
const numRuns = Math.ceil(rounds(1_200, 50_000) / descs.length);
const seed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? 48);
const run = { numRuns, seed };

const registry = createRegistry(
  library.file_rest_test_v1_library,
  ...library.file_rest_test_v1_library.dependencies,
  ...parameters.file_rest_test_v1_parameters.dependencies,
);
const readers = createJsonReaders({ ignoreUnknownFields: false, registry });
const writers = createJsonWriters({ alwaysEmitImplicit: false, useProtoFieldName: true, registry });

let protojson: Protojson;
beforeAll(async () => {
  protojson = await startProtojson();
}, 300_000);
afterAll(() => protojson[Symbol.asyncDispose]());

test.each(cases)(`${numRuns} messages reach protojson and come back: $name`, async ({ desc }) => {
  const drawn = arbitraryMessage(desc, { depth: 2, broken: 0 }).filter(isUnicode);
  await fc.assert(
    fc.asyncProperty(drawn, async (message) => {
      const text = JSON.stringify(writers.message(desc)(message));
      expectSame(desc, await protojson.read(desc.typeName, text), toBinary(desc, message), text);
      const theirs = textOf(await protojson.write(desc.typeName, toBinary(desc, message)));
      expectSame(desc, readHere(desc, theirs), toBinary(desc, message), theirs);
      expect(withSingles(parseJson(text, 100))).toStrictEqual(withSingles(parseJson(theirs, 100)));
    }),
    run,
  );
});

test.each(cases)(`takes, reads and refuses ${numRuns} messages as protojson does: $name`, async ({ desc }) => {
  const drawn = fc.oneof(...[2, 10].map((broken) => arbitraryJson(desc, { depth: 2, broken })));
  await fc.assert(
    fc.asyncProperty(drawn, (json) => expectSameReading(desc, JSON.stringify(json))),
    run,
  );
});

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;
const beyond64Bits = 2n ** 65n;
const spelling = fc.oneof(
  fc.stringMatching(/^[-+]?\d{0,4}(\.\d{0,3})?([eE][-+]?\d{0,3})?$/),
  fc.bigInt({ min: -beyond64Bits, max: beyond64Bits }).map(String),
  time,
  fc.stringMatching(/^[-+]?\d{0,13}(\.\d{0,10})?s?$/),
  fc.stringMatching(/^[AQg\-+_/]{0,5}[= \n]{0,3}$/),
  fc.stringMatching(/^[a-cA_.,1]{0,6}$/),
);
/** JSON of one value: as text, because its numbers may be none that JavaScript has. */
const value = fc.oneof(
  odd.map((json) => JSON.stringify(json)),
  spelling.map((text) => JSON.stringify(text)),
  spelling.filter((text) => number.test(text)),
);
const form = fc.oneof(
  value,
  value.map((text) => `[${text}]`),
  value.map((text) => `{"a":${text}}`),
  fc.oneof(spelling, fc.string()).map((text) => `{${JSON.stringify(text)}:"a"}`),
);

test.each(cases)(`takes, reads and refuses ${10 * numRuns} values as protojson does: $name`, async ({ desc }) => {
  const name = fc.constantFrom(...desc.fields.flatMap((field) => [field.name, field.jsonName]));
  await fc.assert(
    fc.asyncProperty(name, form, (key, text) => expectSameReading(desc, `{${JSON.stringify(key)}:${text}}`)),
    { ...run, numRuns: 10 * numRuns },
  );
});

test.each([
  "3.4028234663852886e38",
  "3.4028235677973366e38",
  "-3.4028235677973366e38",
  "340282356779733661637539395458142568447.9",
  "340282356779733661637539395458142568448",
  "3.4028235677973367e38",
  "3.4028236e38",
])("takes %s for a float, or refuses it, as protojson does", async (text) => {
  await expectSameReading(parameters.ParametersSchema, `{"float_value":${text}}`);
  await expectSameReading(parameters.ParametersSchema, `{"float_value":"${text}"}`);
});

test.each(["a,b", "a..b", "a b", "", "items[0]", "a\0", "a__b", "aB", "a_1"])(
  "writes no field mask with the path %j, as protojson does not",
  async (path) => {
    const message = create(OddFieldsSchema, { masks: [create(FieldMaskSchema, { paths: [path] })] });
    expect(() => writers.message(OddFieldsSchema)(message)).toThrow("has no form in JSON");
    const theirs = await protojson.write(OddFieldsSchema.typeName, toBinary(OddFieldsSchema, message));
    expect(theirs.refused).toContain("FieldMask");
  },
);

test.each(differences)("differs from protojson: $what", async ({ here, example: [desc, text] }) => {
  const [ours, theirs] = [readHere(desc, text), await protojson.read(desc.typeName, text)];
  expect(ours.refused === undefined ? "read" : "refused").toBe(here);
  expect(theirs.refused === undefined ? "read" : "refused").not.toBe(here);
});

async function expectSameReading(desc: DescMessage, text: string): Promise<void> {
  const [ours, theirs] = [readHere(desc, text), await protojson.read(desc.typeName, text)];
  if (ours.refused !== undefined && theirs.refused !== undefined) return;
  if (ours.ok !== undefined && theirs.ok !== undefined && isSame(desc, ours.ok, theirs.ok)) return;
  const here = ours.refused === undefined ? "read" : "refused";
  const leaves = leavesOf(desc, JSON.parse(text) as JsonValue);
  if (differences.some((difference) => difference.here === here && leaves.some(difference.concerns))) return;
  expect.unreachable(`${text}\nhere: ${ours.refused ?? "read"}\nprotojson: ${theirs.refused ?? "read"}`);
}

function readHere(desc: DescMessage, text: string): Answer {
  try {
    return { ok: toBinary(desc, readers.message(desc)(parseJson(text, 100))) };
  } catch (error) {
    return { refused: String(error) };
  }
}

function expectSame(desc: DescMessage, answer: Answer, expected: Uint8Array, text: string): void {
  if (answer.ok === undefined) expect.unreachable(`${text}\n${answer.refused}`);
  else expect(isSame(desc, answer.ok, expected), text).toBe(true);
}

/** Compares messages, not bytes: maps have no order, and there is more than one NaN. */
function isSame(desc: DescMessage, one: Uint8Array, other: Uint8Array): boolean {
  return isDeepStrictEqual(fromBinary(desc, one), fromBinary(desc, other));
}

function textOf(answer: Answer): string {
  if (answer.ok === undefined) throw new Error(answer.refused);
  return Buffer.from(answer.ok).toString();
}

/** Rounds the numbers to floats: of two shortest texts of a float, protojson writes the even one. */
function withSingles(json: JsonValue): JsonValue {
  if (typeof json === "number") return Math.fround(json);
  if (json instanceof NumberText) return Math.fround(Number(json.text));
  if (Array.isArray(json)) return json.map(withSingles);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, withSingles(item)]));
}

/** Checks that a message has no half of a surrogate pair, which binary cannot hold. */
function isUnicode(message: Message): boolean {
  return !/\\ud[89a-f]/.test(JSON.stringify(message, (_key, item: unknown) => (typeof item === "bigint" ? 0 : item)));
}

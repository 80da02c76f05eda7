// Exchanges messages with protobuf-es as JSON, in both directions, and shows each difference that is intended.
import {
  createRegistry,
  type DescMessage,
  equals,
  fromJson,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { parseJson } from "../../../src/rest/json/parse-json.ts";
import { createJsonReaders } from "../../../src/rest/json/read-json.ts";
import { createJsonWriters } from "../../../src/rest/json/write-json.ts";
import { rounds } from "../../support/rounds.ts";
import * as library from "../gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../gen/rest/test/v1/odd_fields_pb.ts";
import * as parameters from "../gen/rest/test/v1/parameters_pb.ts";
import { Proto2MessageSchema } from "../gen/rest/test/v1/parameters2_pb.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";
import { readDifferences } from "./intended-differences.ts";
import { outcomeOf } from "./outcome.ts";

const descs: readonly DescMessage[] = [
  parameters.Proto3MessageSchema,
  parameters.ParametersSchema,
  Proto2MessageSchema,
  library.BookSchema,
  library.MaskedSchema,
  OddFieldsSchema,
];
const numRuns = Math.ceil(rounds(150, 50_000) / descs.length);
const seed = Number(process.env["TENANTRY_FUZZ_SEED"] ?? 48);

const registry = createRegistry(
  library.file_rest_test_v1_library,
  ...library.file_rest_test_v1_library.dependencies,
  ...parameters.file_rest_test_v1_parameters.dependencies,
);
const readers = createJsonReaders({ ignoreUnknownFields: false, registry });
const options = { registry, recursionLimit: 1000 };

test.each(descs.map((desc) => ({ name: desc.name, desc })))(
  `${numRuns} messages reach protobuf-es and come back: $name`,
  ({ desc }) => {
    const { message: read } = readers;
    const writers = [true, false].map((useProtoFieldName) =>
      createJsonWriters({ alwaysEmitImplicit: false, useProtoFieldName, registry }).message(desc),
    );
    const drawn = arbitraryMessage(desc, { depth: 2, broken: 0 }).filter(isUnicode);
    fc.assert(
      fc.property(drawn, fc.constantFrom(...writers), (message, write) => {
        const text = JSON.stringify(write(message));
        expectSame(desc, read(desc)(parseJson(text, 100)), message, text);
        // V8 mistakes such keys (src/rest/json/misread-json.ts), and protobuf-es with it.
        if (/"[^"\\]*\\(?:[^"\\]|\\.)*":/.test(text)) return;
        expectSame(desc, fromJsonString(desc, text, options), message, text);
        // It writes -0 as 0.
        const theirs = toJsonString(desc, message, options);
        expectSame(desc, read(desc)(parseJson(theirs, 100)), fromJsonString(desc, theirs, options), theirs);
      }),
      { numRuns, seed },
    );
  },
);

/** Checks that a message has no half of a surrogate pair, which binary cannot hold. */
function isUnicode(message: Message): boolean {
  return !/\\ud[89a-f]/.test(
    JSON.stringify(message, (_key, value: unknown) => (typeof value === "bigint" ? 0 : value)),
  );
}

/** Fails unless the messages are equal in binary too, which keeps -0, NaN and the precision of floats. */
function expectSame(desc: DescMessage, got: Message, expected: Message, text: string): void {
  if (isDeepStrictEqual(toBinary(desc, got), toBinary(desc, expected)) || equals(desc, got, expected)) return;
  expect(got, text).toStrictEqual(expected);
  expect.unreachable(`the messages differ: ${text}`);
}

test.each(readDifferences)("differs from protobuf-es: $what", ({ here, example: [desc, text], concerns }) => {
  const theirs = outcomeOf(() => fromJson(desc, JSON.parse(text), options));
  const ours = outcomeOf(() => readers.message(desc)(parseJson(text, 100)));
  expect(ours === "thrown" ? "refused" : "read").toBe(here);
  expect(isDeepStrictEqual(ours, theirs)).toBe(false);
  expect(concerns).toBeTypeOf("function");
});

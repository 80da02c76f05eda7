import {
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  AnySchema,
  BytesValueSchema,
  DurationSchema,
  Int64ValueSchema,
  ListValueSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createJsonWriters } from "../../../src/rest/json/write-json.ts";
import * as library from "../gen/rest/test/v1/library_pb.ts";
import * as parameters from "../gen/rest/test/v1/parameters_pb.ts";
import { Proto2MessageSchema } from "../gen/rest/test/v1/parameters2_pb.ts";
import { arbitraryMessage } from "./arbitrary-message.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";
import { isSameWritten } from "./intended-differences.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";

const descs: readonly DescMessage[] = [
  parameters.Proto3MessageSchema,
  parameters.ParametersSchema,
  parameters.HelloRequestSchema,
  parameters.CrossedNamesSchema,
  Proto2MessageSchema,
  library.BookSchema,
  library.MaskedSchema,
  library.UploadRequestSchema,
  library.WovenSchema,
];
const wellKnown: readonly DescMessage[] = [
  AnySchema,
  BytesValueSchema,
  DurationSchema,
  Int64ValueSchema,
  ListValueSchema,
  StructSchema,
  ValueSchema,
];
const registry = createRegistry(TimestampSchema);
const run = fuzzParameters(50);
vi.setConfig({ testTimeout: fuzzTimeout(run) });

/** Fails unless both threw, or both wrote the same, but for differences that are intended. */
function expectSame(got: Outcome<string>, expected: Outcome<string>): void {
  const isSame = got !== "thrown" && expected !== "thrown" && isSameWritten(got.value, expected.value);
  if (!isSame) expect(got).toStrictEqual(expected);
}

test.each(
  [...descs, ...wellKnown].flatMap((desc) =>
    [true, false].map((alwaysEmitImplicit) => ({ name: desc.name, desc, alwaysEmitImplicit })),
  ),
)("agrees with protobuf-es: $name, alwaysEmitImplicit: $alwaysEmitImplicit", ({ desc, alwaysEmitImplicit }) => {
  const write = createJsonWriters({ alwaysEmitImplicit, registry }).message(desc);
  const options = { alwaysEmitImplicit, registry, useProtoFieldName: true };
  const seen = { thrown: 0, written: 0 };
  fc.assert(
    fc.property(fc.oneof(...[0, 0, 2].map((broken) => arbitraryMessage(desc, { depth: 2, broken }))), (message) => {
      const expected = outcomeOf(() => JSON.stringify(toJson(desc, message, options)));
      expectSame(
        outcomeOf(() => JSON.stringify(write(message))),
        expected,
      );
      seen[expected === "thrown" ? "thrown" : "written"]++;
    }),
    run,
  );
  expect(seen.written).toBeGreaterThan(run.numRuns / 10);
});

test.each(descs.map((desc) => ({ name: desc.name, desc })))(
  "writes a single field as in the whole message, or its default: $name",
  ({ desc }) => {
    const writers = createJsonWriters({ alwaysEmitImplicit: false, registry });
    const fields = desc.fields.map((field) => ({ field, write: writers.field(field) }));
    fc.assert(
      fc.property(arbitraryMessage(desc, { depth: 1, broken: 0 }), (message) => {
        for (const { field, write } of fields) {
          const expected = JSON.stringify(writeFieldAsReference(desc, field, message));
          expectSame({ value: JSON.stringify(write(message)) }, { value: expected });
        }
      }),
      { ...run, numRuns: Math.ceil(run.numRuns / 10) },
    );
  },
);

function writeFieldAsReference(desc: DescMessage, field: DescField, message: Message): unknown {
  const options = { registry, useProtoFieldName: true };
  const whole = toJson(desc, message, options) as Record<string, unknown>;
  const unset = toJson(desc, create(desc), { ...options, alwaysEmitImplicit: true }) as Record<string, unknown>;
  return whole[field.name] ?? unset[field.name] ?? null;
}

test("rejects a message of another type, as protobuf-es does", () => {
  const writers = createJsonWriters({ alwaysEmitImplicit: true, registry });
  for (const desc of [...descs, ...wellKnown]) {
    const other = create(desc === library.BookSchema ? Proto2MessageSchema : library.BookSchema);
    expect(() => writers.message(desc)(other)).toThrow("cannot use");
  }
});

test("ignores unknown fields, which may be extensions", () => {
  const message = fromBinary(
    library.BookRequestSchema,
    toBinary(library.BookSchema, create(library.BookSchema, { name: "a", title: "b" })),
  );
  expect(message.$unknown).toHaveLength(1);
  expect(createJsonWriters({ alwaysEmitImplicit: true, registry }).message(library.BookRequestSchema)(message)).toEqual(
    { name: "a" },
  );
});

test("agrees with protobuf-es on timestamps, valid or not", () => {
  const write = createJsonWriters({ alwaysEmitImplicit: false, registry: undefined }).message(TimestampSchema);
  fc.assert(
    fc.property(arbitraryMessage(TimestampSchema, { depth: 0, broken: 5 }), (message) => {
      expect(outcomeOf(() => write(message))).toStrictEqual(outcomeOf(() => toJson(TimestampSchema, message as never)));
    }),
    { ...run, numRuns: run.numRuns * 10 },
  );
});

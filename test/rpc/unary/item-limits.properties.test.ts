// With limits, long messages are read as without them, or refused if a list or a map in them is longer than its limit.
import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import type { ItemLimit } from "../../../src/rest/limits/item-limit.ts";
import { maxUncheckedLength } from "../../../src/rest/limits/item-limit.ts";
import { RestError } from "../../../src/rest/errors/rest-error.ts";
import { type Encoding, createCodecs } from "../../../src/rpc/unary/codecs.ts";
import * as library from "../../rest/gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "../../rest/gen/rest/test/v1/odd_fields_pb.ts";
import * as parameters from "../../rest/gen/rest/test/v1/parameters_pb.ts";
import { Proto2MessageSchema } from "../../rest/gen/rest/test/v1/parameters2_pb.ts";
import { arbitraryMessage } from "../../rest/json/arbitrary-message.ts";
import { fuzzParameters, fuzzTimeout } from "../../support/fuzz-parameters.ts";

const descs: readonly DescMessage[] = [
  parameters.Proto3MessageSchema,
  parameters.ParametersSchema,
  parameters.HelloRequestSchema,
  Proto2MessageSchema,
  OddFieldsSchema,
  library.BookSchema,
  library.WovenSchema,
];
const run = fuzzParameters(15);
vi.setConfig({ testTimeout: fuzzTimeout(run) });

/** The number of items that arbitrary lists and maps have at most. */
const most = 3;
const max = most - 1;

/** Limits all lists and maps but those in the types of google.protobuf, which have JSON forms of their own. */
const limitOf =
  (limit: number) =>
  ({ fieldKind, parent }: DescField): ItemLimit | undefined =>
    (fieldKind === "list" || fieldKind === "map") && parent.file.proto.package !== "google.protobuf"
      ? { max: limit, description: "is too long", rule: "max" }
      : undefined;

const without = createCodecs(100, () => undefined);
const withLimits = createCodecs(100, limitOf(max));
const atLimits = createCodecs(100, limitOf(most));
const withHighLimits = createCodecs(100, limitOf(1_000_000));

/** Texts whose UTF-8 is valid. */
const text = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("", '"', "\\", '\\"', ",", "[{", "}]", ":", "é", "😀", "__proto__", "long ".repeat(20)),
);

function encode(desc: DescMessage, message: Message, encoding: Encoding): Buffer {
  if (encoding === "json") return Buffer.from(" ".repeat(maxUncheckedLength) + toJsonString(desc, message));
  // A field that no message has.
  const padding = new BinaryWriter().tag(50_000, WireType.LengthDelimited).bytes(new Uint8Array(maxUncheckedLength));
  return Buffer.concat([padding.finish(), toBinary(desc, message)]);
}

/** Returns the paths of the lists and maps that are longer than the limit. */
function pathsOfLong(desc: DescMessage, message: Message, encoding: Encoding, prefix = ""): string[] {
  if (desc.file.proto.package === "google.protobuf") return [];
  return desc.fields.flatMap((field) => {
    const fields = message as unknown as Record<string, unknown>;
    const oneof = field.oneof && (fields[field.oneof.localName] as { case?: string; value?: unknown });
    const value =
      oneof === undefined ? fields[field.localName] : oneof.case === field.localName ? oneof.value : undefined;
    const path = `${prefix}${field.name}`;
    const inner = (index: string, item: unknown) =>
      field.message === undefined ? [] : pathsOfLong(field.message, item as Message, encoding, `${path}${index}.`);
    if (field.fieldKind === "list") {
      const items = value as unknown[];
      return [...(items.length > max ? [path] : []), ...items.flatMap((item, index) => inner(`[${index}]`, item))];
    }
    if (field.fieldKind === "map") {
      const entries = Object.entries(value as object);
      // In binary, what is in maps is left to validation.
      const searched = encoding === "json" ? entries : [];
      return [
        ...(entries.length > max ? [path] : []),
        ...searched.flatMap(([key, item]) =>
          inner(`[${JSON.stringify(key.length > 64 ? `${key.slice(0, 60)}...` : key)}]`, item),
        ),
      ];
    }
    return field.fieldKind === "message" && value !== undefined ? inner("", value) : [];
  });
}

function outcomeOf(codecOf: typeof without, desc: DescMessage, bytes: Buffer, encoding: Encoding): unknown {
  try {
    // A long body is empty after it was read.
    return codecOf({ input: desc, output: desc } as DescMethod, encoding).read(Buffer.from(bytes));
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    return { reason: error.reason, message: error.message, violations: error.violations };
  }
}

const cases = descs.flatMap((desc) =>
  (["json", "proto"] as const).map((encoding) => [desc.name, encoding, desc] as const),
);

test.each(["json", "proto"] as const)("what is too long in %s is refused, and nothing else changes", (encoding) => {
  let refused = 0;
  for (const desc of descs) {
    const property = fc.property(arbitraryMessage(desc, { depth: 2, broken: 0, text }), (message) => {
      const bytes = encode(desc, message, encoding);
      const long = pathsOfLong(desc, message, encoding);
      const got = outcomeOf(withLimits, desc, bytes, encoding);
      const expected = outcomeOf(without, desc, bytes, encoding);
      expect(outcomeOf(atLimits, desc, bytes, encoding)).toStrictEqual(expected);
      if (long.length === 0) expect(got).toStrictEqual(expected);
      else {
        refused++;
        expect(got).toMatchObject({
          reason: "FIELD_INVALID",
          violations: [{ description: "is too long", rule: "max" }],
        });
        expect(long).toContain((got as RestError).violations[0]?.field);
      }
    });
    fc.assert(property, run);
  }
  expect(refused).toBeGreaterThan(run.numRuns);
});

test.each(cases)("%s in %s that is malformed is refused as without limits", (_name, encoding, desc) => {
  const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)), { maxLength: 3 });
  const cut = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(arbitraryMessage(desc, { depth: 2, broken: 0, text }), damage, cut, (message, changes, end) => {
      const bytes = encode(desc, message, encoding);
      const content = bytes.length - maxUncheckedLength;
      const offset = (share: number): number => maxUncheckedLength + Math.floor(share * content);
      for (const [share, byte] of changes) bytes[Math.min(offset(share), bytes.length - 1)] = byte;
      const damaged = end === null ? bytes : bytes.subarray(0, offset(end));
      expect(outcomeOf(withHighLimits, desc, damaged, encoding)).toStrictEqual(
        outcomeOf(without, desc, damaged, encoding),
      );
    }),
    run,
  );
});

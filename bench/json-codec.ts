// Compares the transcoder's JSON codec with that of protobuf-es in the same run: `node bench/json-codec.ts`. Written JSON is
// also encoded to bytes, as in a response.
import { create, type DescMessage, fromJson, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ListMembersResponseSchema, Member_State, Member_Type, MemberSchema } from "../gen/iam/v1alpha/member_pb.ts";
import { parseJson } from "../src/rest/json/parse-json.ts";
import { createJsonReaders } from "../src/rest/json/read-json.ts";
import { createJsonWriters } from "../src/rest/json/write-json.ts";
import { median } from "./figures.ts";

const rounds = 5;
const roundMs = 200;
const writeOptions = { useProtoFieldName: true, alwaysEmitImplicit: true };
const writers = createJsonWriters({ alwaysEmitImplicit: true, registry: undefined });
const readers = createJsonReaders({ ignoreUnknownFields: false });

const member = create(MemberSchema, {
  path: "/orgs/acme/members/alice",
  id: "019a9b2c-7c1e-7aaa-9b1f-0123456789ab",
  name: "alice",
  displayName: "Alice Example",
  description: "Writes the programs that run the night shift",
  labels: { env: "prod", team: "night", "cost-center": "4711" },
  type: Member_Type.USER,
  state: Member_State.ACTIVE,
  etag: 'W/"a1b2c3d4"',
  createTime: timestampFromMs(1_763_719_122_123),
  updateTime: timestampFromMs(1_763_719_999_000),
  deleteTime: timestampFromMs(1_763_806_399_456),
});
const list = create(ListMembersResponseSchema, { members: Array.from({ length: 100 }, () => member) });
const {
  update_time: _updated,
  delete_time: _deleted,
  ...body
} = toJson(MemberSchema, member, {
  useProtoFieldName: true,
}) as Record<string, JsonValue>;

function compareWriting(what: string, desc: DescMessage, message: Message): void {
  const write = writers.message(desc);
  compare(`write ${what}`, {
    "protobuf-es": () => Buffer.from(JSON.stringify(toJson(desc, message, writeOptions))),
    compiled: () => Buffer.from(JSON.stringify(write(message))),
    "protobuf-es, value only": () => toJson(desc, message, writeOptions),
    "compiled, value only": () => write(message),
  });
}

function compareReading(what: string, desc: DescMessage, json: JsonValue): void {
  const read = readers.message(desc);
  const text = JSON.stringify(json);
  compare(`read ${what}`, { "protobuf-es": () => fromJson(desc, json), compiled: () => read(json) });
  compare(`parse ${what}`, { "JSON.parse": () => JSON.parse(text) as unknown, parseJson: () => parseJson(text, 100) });
}

/** Prints nanoseconds per run, as the median of the rounds, and the speed relative to the first. */
function compare(what: string, runs: Readonly<Record<string, () => unknown>>): void {
  const times = new Map<string, number[]>(Object.keys(runs).map((name) => [name, []]));
  for (const run of Object.values(runs)) measure(run);
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) times.get(name)?.push(measure(run));
  }
  const [baseline = Number.NaN] = [...times.values()].map(median);
  console.log(`\n${what}`);
  for (const [name, figures] of times) {
    const figure = median(figures);
    console.log(`${name.padEnd(24)}${figure.toFixed(0).padStart(10)} ns${(baseline / figure).toFixed(2).padStart(8)}`);
  }
}

function measure(run: () => unknown): number {
  const start = performance.now();
  let runCount = 0;
  let now = start;
  for (; now - start < roundMs; now = performance.now()) {
    for (let index = 0; index < 10; index++) run();
    runCount += 10;
  }
  return ((now - start) * 1e6) / runCount;
}

compareWriting("a member", MemberSchema, member);
compareWriting("100 members", ListMembersResponseSchema, list);
compareReading(`a body of ${Object.keys(body).length} fields`, MemberSchema, body);
compareReading("100 members", ListMembersResponseSchema, toJson(ListMembersResponseSchema, list));

import { create, type JsonObject } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createServer } from "node:http";
import { createServer as createSessionServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { withStrictJson } from "../../src/rest/strict-rpc-json.ts";
import { failureOf } from "../support/failure.ts";
import { callConnectGet, streamCalls } from "../support/json-calls.ts";
import { LibraryService, MoveBooksRequestSchema, StreamingService } from "./gen/rest/test/v1/library_pb.ts";
import { OddFieldsSchema } from "./gen/rest/test/v1/odd_fields_pb.ts";

const options = { jsonOptions: { ignoreUnknownFields: false }, maxJsonDepth: 100, errorDomain: "library.test" };

/** Answers a request with itself. */
const echo = {
  ...LibraryService.method.getBook,
  input: OddFieldsSchema,
  output: OddFieldsSchema,
  idempotency: MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
} as const;

function routes(router: ConnectRouter): void {
  withStrictJson(router, options)
    .rpc(echo, (message) => message)
    .service(StreamingService, {
      async *watchShelves({ book }) {
        yield { shelf: { theme: String(book?.createTime?.seconds) } };
      },
      async importBooks(requests) {
        const message = create(MoveBooksRequestSchema);
        for await (const { book } of requests) message.books.push(String(book?.createTime?.seconds));
        return message;
      },
    });
}

/** Returns the URLs of servers of HTTP/1.1 and of HTTP/2, which gRPC needs. */
async function serve(): Promise<{ http1: string; http2: string }> {
  const handler = connectNodeAdapter({ routes, jsonOptions: options.jsonOptions });
  const servers = [createServer(handler), createSessionServer(handler)];
  const urls = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  }
  const [http1 = "", http2 = ""] = urls;
  return { http1, http2 };
}

const refused = (field: string, text: string) => ({
  code: "InvalidArgument",
  reason: "FIELD_INVALID",
  fields: [field],
  message: expect.stringMatching(
    `${field.replaceAll(/[[\]]/g, "\\$&")}: must be .* such as .*, got "${text}"`,
  ) as string,
});

describe("streams", () => {
  const methods = ["WatchShelves", "ImportBooks"] as const;
  const table = Object.entries(streamCalls).flatMap(([protocol, call]) =>
    methods.map((method) => ({ protocol, method, call })),
  );

  test.each(table)("over $protocol, $method refuses a day that does not exist", async ({ protocol, method, call }) => {
    const { http1, http2 } = await serve();
    const url = protocol === "gRPC" ? http2 : http1;
    const procedure = `/${StreamingService.typeName}/${method}`;
    const send = (time: string): Promise<JsonObject> =>
      call({ url, procedure, json: JSON.stringify({ book: { createTime: time } }) });
    expect(await failureOf(send("2027-02-30T00:00:00Z"))).toMatchObject(
      refused("book.create_time", "2027-02-30T00:00:00Z"),
    );
    expect(JSON.stringify(await send("1970-01-01T01:00:00Z"))).toContain('"3600"');
  });
});

describe("GET", () => {
  const get = async (message: unknown) => {
    const { http1: url } = await serve();
    const json = typeof message === "string" ? message : JSON.stringify(message);
    return callConnectGet({ url, procedure: `/${LibraryService.typeName}/GetBook`, json });
  };

  test.each([
    ["an item of a list", { times: ["2028-02-29T00:00:00Z", "2027-02-29T00:00:00Z"] }, "times[1]", "2027-02-29"],
    ["a value of a map", { durations: { true: "1s", false: "1s2" } }, 'durations["false"]', "1s2"],
    ["a member of a oneof", { chosenSelf: { times: ["2027-02-30T00:00:00Z"] } }, "chosen_self.times[0]", "2027-02-30"],
    [
      "a message in a map",
      { selfMap: { a: { durations: { true: "1sx" } } } },
      'self_map["a"].durations["true"]',
      "1sx",
    ],
  ])("refuses %s", async (_what, message, field, text) => {
    const failure = await failureOf(get(message));
    expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: [field] });
    expect(failure.message).toContain(`got "${text}`);
  });

  test("reads numbers from their text", async () => {
    const json = '{"sints":[9007199254740993,"1e2"],"longText":9007199254740993.0}';
    const message = { sints: ["9007199254740993", "100"], longText: "9007199254740993" };
    expect(await get(json)).toEqual(message);
    const failure = await failureOf(get('{"sints":[1.00000000000000000001]}'));
    expect(failure).toMatchObject({ code: "InvalidArgument", reason: "FIELD_INVALID", fields: ["sints[0]"] });
  });

  test("takes what protobuf-es takes, texts inside of JSON values included", async () => {
    const message = {
      times: ["2028-02-29T00:00:00Z"],
      durations: { true: "1.500s" },
      structValue: { time: "2027-02-30T00:00:00Z" },
      values: ["1sx"],
    };
    expect(await get(message)).toEqual(message);
  });

  test("passes on keys of maps in a field mask, and refuses those that protobuf-es would change", async () => {
    // The answer is written by protobuf-es, which spells keys like names.
    expect(await get({ masks: ["displayName,labels.`a_b`"] })).toEqual({ masks: ["displayName,labels.`aB`"] });
    for (const mask of ["labels.`a,b`", "labels.`aB`"]) {
      const failure = await failureOf(get({ masks: [mask] }));
      expect(failure).toMatchObject({ code: "InvalidArgument", message: expect.stringContaining(mask) as string });
    }
  });

  test.each(["{", "[]", '{"nope":1}', '{"times":"x"}'])("refuses %s", async (json) => {
    expect(await failureOf(get(json))).toMatchObject({ code: "InvalidArgument" });
  });
});

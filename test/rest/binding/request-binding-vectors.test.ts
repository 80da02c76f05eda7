import { type DescMessage, fromJson, type JsonValue, type Message } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { parsePathTemplate } from "../../../src/rest/routing/path-template.ts";
import { compileRequestBinding } from "../../../src/rest/binding/request-binding.ts";
import { RestError } from "../../../src/rest/errors/rest-error.ts";
import { createRouteTrie } from "../../../src/rest/routing/route-trie.ts";
import * as library from "../gen/rest/test/v1/library_pb.ts";
import { HelloRequestSchema } from "../gen/rest/test/v1/parameters_pb.ts";
import { loadVectors } from "../vectors/load-vectors.ts";
import { testVectors } from "../vectors/test-vectors.ts";

interface Row {
  readonly rule: {
    readonly get?: string;
    readonly post?: string;
    readonly patch?: string;
    readonly body?: string;
    readonly bindings?: Record<string, string> | [string, string][];
  };
  readonly request: {
    readonly path?: string;
    readonly query?: string;
    readonly body?: JsonValue;
    readonly raw_body?: string;
    readonly headers?: Record<string, string>;
  };
  readonly expected_message?: JsonValue;
  readonly error?: string;
  readonly message?: string;
  readonly spec_reading?: string;
  readonly options?: Record<string, boolean>;
}

const cases = loadVectors<Row>("binding.json").map((row, index) => ({
  name: `${index} ${JSON.stringify(row.rule)}`,
  row: index,
  run() {
    const desc = messageOf(row);
    const json = isRefused(row) ? undefined : row.expected_message;
    return { actual: bind(desc, row), expected: json === undefined ? undefined : fromJson(desc, json) };
  },
}));

testVectors("request bindings of other implementations", "binding.json", cases);

function isRefused({ error, spec_reading: reading = "" }: Row): boolean {
  return error !== undefined || reading === "registration error" || reading.endsWith("the request must be refused");
}

function messageOf({ rule, message = "", request, expected_message: expected }: Row): DescMessage {
  const named: Record<string, DescMessage> = {
    Shelf: library.ShelfSchema,
    Book: library.BookSchema,
    CreateShelfRequest: library.CreateShelfRequestSchema,
    CreateBookRequest: library.CreateBookRequestSchema,
    ListShelvesResponse: library.ListShelvesResponseSchema,
    HelloRequest: HelloRequestSchema,
    "google.protobuf.Struct": StructSchema,
  };
  const byName = named[message.replace(/[ {].*/, "")];
  if (byName !== undefined) return byName;
  const path = rule.get ?? rule.post ?? rule.patch ?? "";
  if (path.includes("{message_id}")) {
    if (rule.body === "message") return library.UpdateMessageRequestSchema;
    return rule.body === "*" ? library.TextMessageSchema : library.GetMessageRequestSchema;
  }
  if (path.includes("/books:move")) return library.MoveBooksRequestSchema;
  if (path.includes(":upload")) return library.UploadRequestSchema;
  if (path.includes("checkouts")) return library.GetCheckoutRequestSchema;
  if (path.includes("{parent=")) return library.CreateBookRequestSchema;
  if (path !== "") return library.BookRequestSchema;
  if (Array.isArray(rule.bindings)) return library.WovenRepeatedSchema;
  const text = JSON.stringify({ request, expected });
  return /subfield|TestName|raw_body/.test(text) ? HelloRequestSchema : library.WovenSchema;
}

/** Returns undefined when the rule or the request is rejected. */
function bind(desc: DescMessage, { rule, request, options, message }: Row): Message | undefined {
  const bindings = Array.isArray(rule.bindings) ? rule.bindings : Object.entries(rule.bindings ?? {});
  const path = rule.get ?? rule.post ?? rule.patch;
  const text = path ?? `/rows${bindings.map(([field]) => `/{${field}}`).join("")}`;
  const target = request.path ?? `/rows${bindings.map(([, value]) => `/${encodeURIComponent(value)}`).join("")}`;
  const body =
    request.raw_body ??
    (request.body === undefined || request.body === null ? undefined : JSON.stringify(request.body));
  try {
    const template = parsePathTemplate(text);
    const ignoreUnknownFields = options?.["ignore_unknown"] ?? /unknownField|QueryString/.test(JSON.stringify(request));
    const httpRule = {
      httpMethod: "POST",
      path: text,
      body: rule.body ?? "",
      responseBody: "",
      name: message ?? "row",
    };
    const binding = compileRequestBinding(desc, httpRule, template, { ignoreUnknownFields, maxDepth: 100 });
    const trie = createRouteTrie<typeof binding>();
    trie.add("POST", template, binding, "the row");
    const found = trie.match("POST", target);
    if (found.route === undefined) throw new Error(`${target} does not match ${text}`);
    return binding.bind({
      pathValues: found.values,
      query: request.query ?? "",
      body: body === undefined ? undefined : Buffer.from(body),
      contentType: request.headers?.["Content-Type"],
    });
  } catch (error) {
    if (
      error instanceof RestError ||
      (error instanceof Error && /body names|must be a scalar|captures/.test(error.message))
    ) {
      return undefined;
    }
    throw error;
  }
}

import { type DescMessage, fromJson, type JsonValue, type MessageShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { HttpBodySchema } from "../../../gen/google/api/httpbody_pb.ts";
import {
  AlbumSchema,
  CheckoutsSchema,
  DownloadSchema,
  ReplySchema,
  ResponsesService,
  StreamedResponsesService,
} from "../gen/rest/test/v1/responses_pb.ts";
import { listenHttp1 } from "../support/listen.ts";
import { loadVectors } from "./load-vectors.ts";
import { testVectors } from "./test-vectors.ts";

interface Row {
  readonly name: string;
  readonly response_body?: string;
  readonly message?: JsonValue;
  readonly stream?: JsonValue[];
  readonly error?: { code: string; message: string };
  readonly framing?: string;
  readonly options?: { always_print_primitive_fields?: boolean };
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: JsonValue;
  readonly body_contains?: JsonValue;
  readonly raw_body?: string;
  readonly chunks?: string[];
  readonly why?: string;
}

const cases = loadVectors<Row>("response.json").map((row, index) => ({
  name: `${index} ${row.name}`,
  row: index,
  run: () => run(row),
}));

testVectors("responses of other implementations", "response.json", cases);

async function run(row: Row): Promise<{ actual: unknown; expected: unknown }> {
  const { call } = await listenHttp1({
    routes: (router) => (row.stream === undefined ? serveUnary(router, row) : serveStreams(router, row.stream)),
    // The default of ASP.NET, and an option of Envoy.
    alwaysEmitImplicit: row.options?.always_print_primitive_fields === true || row.body_contains !== undefined,
  });
  const answer = await call({ path: pathOf(row), headers: { accept: acceptOf(row) } });
  return {
    actual: {
      status: answer.status,
      contentType: row.headers && answer.headers["content-type"],
      body:
        row.raw_body === undefined && row.chunks === undefined ? readBody(row, answer.text) : textOf(row, answer.text),
    },
    expected: {
      status: row.status ?? 200,
      contentType: row.headers?.["Content-Type"],
      body:
        row.raw_body ??
        row.chunks?.join("") ??
        readBody(row, JSON.stringify("body" in row ? row.body : row.body_contains)),
    },
  };
}

/** Implementations disagree on whether unset fields are written, so that case compares the decoded messages. */
function readBody(row: Row, text: string): unknown {
  const json: JsonValue = JSON.parse(text);
  if (row.why?.includes("emits unpopulated fields") === true) return fromJson(CheckoutsSchema, { checkouts: json });
  return row.body_contains === undefined ? json : { message: (json as Record<string, unknown>)["message"] };
}

/** Returns only the message events, as EventSource does, without the ids that this implementation adds. */
function textOf({ framing }: Row, text: string): string {
  if (framing !== "sse") return text;
  const events = text.split(/(?<=\n\n)/).filter((event) => !/^event:/m.test(event));
  return events.map((event) => event.replace(/^id: .*\n/, "")).join("");
}

function pathOf({ name, response_body: field, message, stream, body_contains: contains }: Row): string {
  if (stream !== undefined) return field === undefined ? "/albums" : "/download";
  if (name.includes("HttpBody")) return "/index";
  if (field === "checkouts") return "/checkouts";
  if (field !== undefined) return `/reply/${field}`;
  return contains === undefined || message === undefined ? "/album" : "/reply";
}

function acceptOf({ framing }: Row): string {
  return { ndjson: "application/x-ndjson", sse: "text/event-stream" }[framing ?? ""] ?? "*/*";
}

const codes: Record<string, Code> = {
  permission_denied: Code.PermissionDenied,
  unauthenticated: Code.Unauthenticated,
};

function serveUnary(router: ConnectRouter, { message = {}, error }: Row): void {
  router.service(ResponsesService, {
    getAlbum() {
      if (error !== undefined) throw new ConnectError(error.message, codes[error.code]);
      return fromJson(AlbumSchema, message);
    },
    getReply: () => fromJson(ReplySchema, message),
    listCheckouts: () => fromJson(CheckoutsSchema, message),
    index: () => fromJson(HttpBodySchema, message),
  });
}

function serveStreams(router: ConnectRouter, stream: readonly JsonValue[]): void {
  // oxlint-disable-next-line typescript/require-await
  async function* each<Desc extends DescMessage>(desc: Desc): AsyncGenerator<MessageShape<Desc>> {
    for (const message of stream) yield fromJson(desc, message);
  }
  router.service(StreamedResponsesService, {
    listAlbums: () => each(AlbumSchema),
    getDownload: () => each(DownloadSchema),
  });
}

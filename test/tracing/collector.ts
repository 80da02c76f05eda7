// A collector of OpenTelemetry: a real server on this machine that keeps the spans that it gets, over HTTP as protobuf.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for none. */
  readonly parentId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 for an error. */
  readonly status: number;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. */
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** Of those who send spans, the attributes. */
  readonly resources: Readonly<Record<string, string | number>>[];
  /** All that it got. */
  readonly bytes: () => string;
  close(): void;
}

export async function startCollector(): Promise<Collector> {
  const bodies: Buffer[] = [];
  const spans: CollectedSpan[] = [];
  const resources: Readonly<Record<string, string | number>>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      bodies.push(body);
      for (const ofResource of fieldsOf(body).messages(1)) {
        resources.push(
          attributesOf(
            fieldsOf(ofResource)
              .messages(1)
              .flatMap((own) => fieldsOf(own).messages(1)),
          ),
        );
        for (const scope of fieldsOf(ofResource).messages(2)) spans.push(...fieldsOf(scope).messages(2).map(readSpan));
      }
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    resources,
    bytes: () => Buffer.concat(bodies).toString("latin1"),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** By numbers of opentelemetry/proto/trace/v1/trace.proto. */
function readSpan(bytes: Uint8Array): CollectedSpan {
  const span = fieldsOf(bytes);
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentId: span.hex(4),
    name: span.text(5),
    kind: span.number(6),
    attributes: attributesOf(span.messages(9)),
    links: span.messages(13).map((link) => ({ traceId: fieldsOf(link).hex(1), spanId: fieldsOf(link).hex(2) })),
    status: span.messages(15).map((status) => fieldsOf(status).number(3))[0] ?? 0,
  };
}

function attributesOf(pairs: readonly Uint8Array[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((bytes) => {
      const pair = fieldsOf(bytes);
      const value = fieldsOf(pair.messages(2)[0] ?? new Uint8Array());
      return [pair.text(1), value.has(1) ? value.text(1) : value.number(3)] as const;
    }),
  );
}

/** The fields of a message, by their numbers. */
function fieldsOf(bytes: Uint8Array) {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, (Uint8Array | number)[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const values = found.get(number) ?? [];
    found.set(number, values);
    if (type === WireType.LengthDelimited) values.push(reader.bytes());
    else if (type === WireType.Varint) values.push(Number(reader.int64()));
    else reader.skip(type, number);
  }
  const messages = (number: number) => (found.get(number) ?? []).filter((value) => value instanceof Uint8Array);
  const bytesOf = (number: number): Buffer => Buffer.from(messages(number)[0] ?? []);
  return {
    messages,
    has: (number: number): boolean => found.has(number),
    hex: (number: number): string => bytesOf(number).toString("hex"),
    text: (number: number): string => bytesOf(number).toString("utf8"),
    number: (number: number): number => Number(found.get(number)?.[0] ?? 0),
  };
}

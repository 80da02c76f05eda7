// A server in its own process. The first message selects the kind of server; the reply is its port.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import { pino } from "pino";
import { RecordSchema, GetRecordRequestSchema } from "../../test/rest/gen/rest/test/v1/records_pb.ts";
import { readConfig } from "../../src/config.ts";
import type { HttpHandler } from "../../src/http/http-messages.ts";
import { createListener } from "../../src/http/listener/listener.ts";
import { createRestHandler } from "../../src/rest/rest-handler.ts";
import { createRpcHandler } from "../../src/rpc/rpc-handler.ts";
import { createExplainError } from "../../src/rpc/explain-error.ts";
import { createErrorInterceptor } from "../../src/rpc/interceptors.ts";
import { ready, recordRoutes, rpcGet } from "./records.ts";
import type { ServerKind } from "./start-record-server.ts";

process.once("message", (kind: ServerKind) => {
  void start(kind).then((port) => process.send?.(port));
});

function start(kind: ServerKind): Promise<number> {
  switch (kind.name) {
    case "bare":
      return listen(createServer(answerWith(Buffer.from(kind.answer))));
    case "transcoder":
      return listen(createServer(createRestHandler({ routes: recordRoutes })));
    case "connect":
      return listen(createServer(connectNodeAdapter({ routes: recordRoutes })));
    case "connect h2":
      return listen(createHttp2Server(connectNodeAdapter({ routes: recordRoutes })));
    case "lanes":
      return startLanes();
    case "grpc-js":
      return startGrpcJs();
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** The handlers as the service has them, without callers. */
async function startLanes(): Promise<number> {
  const { maxBodyBytes, maxJsonDepth, maxHeaderBytes, requestTimeoutMs } = readConfig({});
  const explain = createExplainError(pino({ level: "error" }));
  const errors = createErrorInterceptor(explain, () => undefined);
  const handler = createRpcHandler({
    routes: recordRoutes,
    longLived: () => {},
    guards: {
      gate: async () => {},
      slice: () => undefined,
      body: () => ({ maxBytes: maxBodyBytes }),
      errors,
      concurrency: (next) => next,
      streams: (next) => next,
      call: (next) => next,
      explain,
    },
    maxStreamedBytes: maxBodyBytes,
    maxJsonDepth,
    requestTimeoutMs,
    fallback: createRestHandler({
      routes: recordRoutes,
      requestGate: async () => {},
      interceptors: [errors],
      contextValues: createContextValues,
      timeoutMs: requestTimeoutMs,
    }),
  });
  const limits = {
    maxHeaderBytes,
    headersTimeoutMs: requestTimeoutMs,
    requestTimeoutMs,
    keepAliveTimeoutMs: 65_000,
    maxConcurrentStreams: 256,
  };
  const withValues: HttpHandler = (request, response) => handler(request, response, createContextValues());
  return (await createListener({ handler: withValues, limits }).listen(0, "127.0.0.1")).port;
}

function startGrpcJs(): Promise<number> {
  const server = new grpc.Server();
  const method = {
    path: rpcGet.path,
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => fromBinary(GetRecordRequestSchema, bytes),
    responseSerialize: (record: typeof ready) => Buffer.from(toBinary(RecordSchema, record)),
    responseDeserialize: (bytes: Buffer) => fromBinary(RecordSchema, bytes),
  };
  const getRecord: grpc.handleUnaryCall<unknown, typeof ready> = (_call, answer) => answer(null, ready);
  server.addService({ getRecord: method }, { getRecord });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

/** Reads the request body, if there is one, and sends prepared bytes. */
function answerWith(answer: Buffer): RequestListener {
  return (request, response) => {
    const send = (): void => {
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
      response.end(answer);
    };
    if (request.method === "GET") {
      send();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      Buffer.concat(chunks);
      send();
    });
  };
}

import type { Interceptor, Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { createTestGrpcTransport } from "./grpc-transport.ts";
import { rounds } from "./rounds.ts";
import { createRestTransport } from "./rest-transport.ts";

/** All protocols; the same tests run over each of them. */
export const protocols = ["Connect", "Connect JSON", "gRPC", "gRPC-Web", "REST"] as const;

export type Protocol = (typeof protocols)[number];

/**
 * Returns the protocols of tests whose outcome does not depend on the protocol: the first of these in `npm test`, and all in
 * `npm run soak`. `test/access/every-method.test.ts` compares the answers of every method over gRPC and REST.
 */
export function overFirst<Each extends Protocol>(all: readonly Each[]): readonly Each[] {
  return rounds(all.slice(0, 1), all);
}

/** Returns a transport for generated clients that sends the API key with each call. */
export function createTransport(protocol: Protocol, baseUrl: string, apiKey: string | undefined): Transport {
  const interceptors = apiKey === undefined ? [] : [withBearer(apiKey)];
  switch (protocol) {
    case "Connect":
      return createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true, interceptors });
    case "Connect JSON":
      return createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false, interceptors });
    case "gRPC":
      return createTestGrpcTransport(baseUrl, apiKey, interceptors);
    case "gRPC-Web":
      return createGrpcWebTransport({ baseUrl, httpVersion: "1.1", interceptors });
    case "REST":
      return createRestTransport(baseUrl, apiKey);
  }
}

/** Returns the transport of gRPC that Connect has. */
export function createUsualGrpcTransport(baseUrl: string, apiKey: string): Transport {
  return createGrpcTransport({ baseUrl, interceptors: [withBearer(apiKey)] });
}

function withBearer(apiKey: string): Interceptor {
  return (next) => (request) => {
    if (!request.header.has("authorization")) request.header.set("authorization", `Bearer ${apiKey}`);
    return next(request);
  };
}

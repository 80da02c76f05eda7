import type { Http2Session } from "node:http2";
import { isIP } from "node:net";
import proxyAddress from "proxy-addr";
import type { HttpRequest } from "./http-messages.ts";

/** Returns the IP address of a request's client; null when the connection is gone. */
export type ClientAddress = (request: HttpRequest) => string | null;

/**
 * Creates a function that determines the client of a request. Behind proxies it is the last address in `X-Forwarded-For` that
 * is not of a trusted proxy; without trusted proxies, it is the peer of the connection.
 *
 * @param trustedProxies addresses and subnets, such as `10.0.0.0/8`.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  return (request) => {
    const peer = peerOf(request);
    if (peer === undefined) return null;
    if (trustedProxies.length === 0) return withoutZone(peer);
    const address = proxyAddress(request as Parameters<typeof proxyAddress>[0], isTrusted);
    // A proxy that is trusted may still forward what is no address.
    return withoutZone(isIP(address) === 0 ? peer : address);
  };
}

/** The addresses of the peers of HTTP/2 sessions, whose sockets are behind slow proxy objects. */
const peersOfSessions = new WeakMap<Http2Session, string>();

/** Returns what stands for the connection of a request: its socket, or its HTTP/2 session; undefined when that is gone. */
export function connectionOf(request: HttpRequest): object | undefined {
  return "stream" in request ? request.stream.session : request.socket;
}

/** Returns undefined when the connection is gone. */
export function peerOf(request: HttpRequest): string | undefined {
  const session = "stream" in request ? request.stream.session : undefined;
  if (session === undefined || session.destroyed) return request.socket.remoteAddress;
  const known = peersOfSessions.get(session);
  const peer = known ?? session.socket.remoteAddress;
  if (known === undefined && peer !== undefined) peersOfSessions.set(session, peer);
  return peer;
}

/** Removes the zone of a link-local IPv6 address, such as `%eth0`: it has a meaning on this machine only. */
function withoutZone(address: string): string {
  return address.includes("%") ? address.replace(/%.*$/, "") : address;
}

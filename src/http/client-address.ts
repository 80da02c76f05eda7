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
    if (request.socket.remoteAddress === undefined) return null;
    const address = proxyAddress(request as Parameters<typeof proxyAddress>[0], isTrusted);
    // A proxy that is trusted may still forward what is no address.
    return withoutZone(isIP(address) === 0 ? request.socket.remoteAddress : address);
  };
}

/** Removes the zone of a link-local IPv6 address, such as `%eth0`: it has a meaning on this machine only. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, "");
}

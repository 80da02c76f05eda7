import { type JWTVerifyGetKey, createRemoteJWKSet } from "jose";

/** Returns the keys that a server publishes, for `jwtVerify`. By default, a server has only five seconds to answer. */
export function publishedKeys(url: string | URL): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), { timeoutDuration: 60_000 });
}

// The routes of what is served beside calls. A page that has others below it is one route with them.
import { sessionPath } from "../console/session-endpoint.ts";
import { oauthPaths } from "../sign-in/oauth/oauth-endpoints.ts";

const exact: ReadonlySet<string> = new Set([
  "/",
  "/healthz",
  "/readyz",
  "/docs",
  "/openapi.json",
  "/protos.tar.gz",
  "/descriptors.binpb",
  "/.well-known/jwks.json",
  "/.well-known/log-keys.json",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/.well-known/authzen-configuration",
  "/account",
  "/console",
  "/favicon.ico",
  sessionPath,
  "/sign-in",
  "/sign-out",
  ...Object.values(oauthPaths),
]);

const folders = ["/docs/", "/account/", "/console/assets/", "/console/", "/sign-in/"] as const;

const pageOf = (folder: string): string => `${folder}{page}`;

export const routes: readonly string[] = [...exact, ...folders.map(pageOf)];

/** Returns the route of a path; undefined if nothing is served there that is no call. */
export function routeOf(path: string): string | undefined {
  if (exact.has(path)) return path;
  const folder = folders.find((prefix) => path.startsWith(prefix));
  return folder && pageOf(folder);
}

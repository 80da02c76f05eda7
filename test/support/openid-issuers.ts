// Issuers on loopback: a real OpenID provider, and one that answers whatever a test says.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { required } from "../../src/errors/required.ts";

/** A server on a free port. */
async function listen(handler: RequestListener) {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A real provider. Everybody who comes is the person that `person` names. */
export interface OpenIdProvider {
  readonly issuer: string;
  /** Starts to serve a client that is sent back to this URI. A second call replaces the provider, with new keys. */
  serve(redirectUri: string): void;
  person: string;
  /** What it says of the person besides its subject, such as `email`. */
  claims: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

export const client = { id: "tenantry", secret: "the-secret-of-tenantry-at-the-issuer" } as const;

export async function startOpenIdProvider(): Promise<OpenIdProvider> {
  let handler: RequestListener = (_request, response) => void response.writeHead(503).end();
  const { url, close } = await listen((request, response) => handler(request, response));
  const openId: OpenIdProvider = {
    issuer: url,
    person: "alice",
    claims: {},
    close,
    serve(redirectUri) {
      const provider: Provider = new Provider(
        url,
        configurationOf(
          redirectUri,
          () => provider,
          () => openId.claims,
        ),
      );
      const answer = provider.callback();
      handler = (request, response) => {
        if (!(request.url ?? "").startsWith("/interaction/")) return answer(request, response);
        const result = { login: { accountId: openId.person } };
        return void provider.interactionFinished(request, response, result);
      };
    },
  };
  return openId;
}

function configurationOf(redirectUri: string, providerOf: () => Provider, claimsOf: () => object): object {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        id_token_signed_response_alg: "ES256",
      },
    ],
    jwks: { keys: [generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" })] },
    cookies: { keys: [randomUUID()] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: {
      // Those of `openid` are in the ID token, the others at the userinfo endpoint.
      openid: ["sub", "oid"],
      email: ["email", "email_verified"],
      profile: ["name", "preferred_username", "groups"],
    },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...claimsOf() }),
    }),
    async loadExistingGrant({ oidc }: { oidc: { session: { accountId: string } } }) {
      const grant = new (providerOf().Grant)({ clientId: client.id, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
  };
}

/** Does what a browser does at a provider, and returns where the provider sends it back. */
export async function passThrough(start: string, redirectUri: string): Promise<URL> {
  const jar = new Map<string, string>();
  let url = new URL(start);
  for (let step = 0; step < 10; step++) {
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(url, { headers: { cookie }, redirect: "manual" });
    for (const each of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get("location");
    if (location === null) throw new Error(`no redirect from ${url.href}: ${await response.text()}`);
    url = new URL(location, url);
    if (url.href.startsWith(redirectUri)) return url;
  }
  throw new Error("too many redirects");
}

type Answer = (response: ServerResponse, request: IncomingMessage, body: string) => void | Promise<void>;

/** An issuer under the control of an attacker. Paths without an answer of their own answer as an honest one does. */
export interface MadeUpIssuer {
  readonly issuer: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** Replaces the answer at a path. */
  answer(path: string, answer: Answer): void;
  close(): Promise<void>;
}

export const paths = {
  configuration: "/.well-known/openid-configuration",
  token: "/token",
  jwks: "/jwks",
} as const;

export async function startMadeUpIssuer(): Promise<MadeUpIssuer> {
  const answers = new Map<string, Answer>();
  const asked: string[] = [];
  const { url, close } = await listen((request, response) => {
    const path = required((request.url ?? "").split("?")[0]);
    asked.push(path);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void answers.get(path)?.(response, request, Buffer.concat(chunks).toString()));
  });
  answers.set(paths.configuration, (response) => sendJson(response, configurationAt(url)));
  return { issuer: url, asked, answer: (path, answer) => void answers.set(path, answer), close };
}

export function configurationAt(issuer: string, fields: object = {}): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}${paths.token}`,
    jwks_uri: `${issuer}${paths.jwks}`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    ...fields,
  };
}

export function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

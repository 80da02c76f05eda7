// Calls identity providers, whose URLs and answers an org chooses. Each URL is checked, also those that a provider names. A host
// name is resolved once, and the connection goes to the addresses that were checked, so that another answer of its DNS server
// changes nothing. Redirects are not followed; the time and the size of answers are limited.
import { Resolver } from "node:dns/promises";
import { type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type LookupFunction, isIP, isIPv6 } from "node:net";
import { findUrlProblem } from "./issuer.ts";
import { mayConnect } from "./public-address.ts";

/** The service does not call a provider, or cannot use its answer. The message is for the person who signs in. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
}

export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface GuardedFetchOptions {
  /** The prefixes of addresses, besides public ones, to which the service connects. */
  readonly networks: readonly string[];
  readonly resolveHost: ResolveHost;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** The part of `RequestInit` that OpenID clients use. */
interface FetchInit {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

export type GuardedFetch = (url: string, init: FetchInit) => Promise<Response>;

/**
 * Resolves with DNS alone. `dns.lookup` would occupy one of few threads for as long as a DNS server keeps silent, and files and
 * other lookups need these threads.
 */
export const resolveWithDns: ResolveHost = async (host) => {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
};

/** Creates a function like `fetch`. It throws a ProviderError. */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { networks, resolveHost, timeoutMs, maxBytes } = options;

  return async (text, { method = "GET", headers = {}, body }) => {
    const problem = findUrlProblem(text, networks);
    if (problem !== undefined) throw new ProviderError(`a URL of the identity provider ${problem}`);
    const url = new URL(text);
    const signal = AbortSignal.timeout(timeoutMs);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(tooLate(url, timeoutMs)));
    });
    const call = async (): Promise<Response> => {
      const addresses = await findAddresses(url.hostname, networks, resolveHost);
      const content = body instanceof URLSearchParams ? body.toString() : undefined;
      const message = await send(url, { method, headers, lookup: lookupOf(addresses), signal, agent: false }, content);
      const { statusCode: status = 0 } = message;
      const answer = await readAnswer(message, url, maxBytes);
      if (status >= 300 && status < 400) throw new ProviderError(`${url.host} answered with a redirect`);
      const kept = Object.entries(message.headers).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value] as [string, string]] : [],
      );
      return new Response(answer.length === 0 ? null : answer, { status, headers: kept });
    };
    try {
      return await Promise.race([call(), late]);
    } catch (error) {
      if (signal.aborted) throw tooLate(url, timeoutMs);
      if (error instanceof ProviderError) throw error;
      throw new ProviderError(`${url.host} cannot be reached`, { cause: error });
    }
  };
}

async function findAddresses(
  hostname: string,
  networks: readonly string[],
  resolveHost: ResolveHost,
): Promise<readonly string[]> {
  // `findUrlProblem` has checked a literal address.
  if (isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0) return [];
  const addresses = await resolveHost(hostname);
  if (addresses.length === 0) throw new ProviderError(`${hostname} has no address`);
  const forbidden = addresses.find((address) => !mayConnect(address, networks));
  if (forbidden === undefined) return addresses;
  throw new ProviderError(`${hostname} has an address that is not public: ${forbidden}`);
}

/** Answers each lookup with these addresses. Node looks up no literal address. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (_hostname, { all: wantsAll }, callback) => {
    if (wantsAll === true) callback(null, all);
    else callback(null, all[0]?.address ?? "", all[0]?.family);
  };
}

function send(url: URL, options: RequestOptions, content: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options);
    request.on("response", resolve);
    request.on("error", reject);
    request.end(content);
  });
}

async function readAnswer(message: IncomingMessage, { host }: URL, maxBytes: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of message) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw new ProviderError(`${host} sent more than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

function tooLate({ host }: URL, timeoutMs: number): ProviderError {
  return new ProviderError(`${host} did not answer within ${timeoutMs / 1_000} seconds`);
}

// Sends requests to URLs that an org chooses, of identity providers and webhooks. Each URL is checked, also those that a provider names. A
// host name is resolved once, and the connection goes to the addresses that were checked, so that another answer of its DNS server
// changes nothing. Redirects are not followed; the time and the size of answers are limited.
import { Resolver } from "node:dns/promises";
import { type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { type LookupFunction, isIP, isIPv6 } from "node:net";
import { mayConnect } from "./public-address.ts";
import { findUrlProblem } from "./url-problem.ts";

/** The service does not send a request, or got no answer that it can use. The message is for who has chosen the URL. */
export class RequestError extends Error {
  override readonly name = "RequestError";
}

export type ResolveHost = (host: string) => Promise<readonly string[]>;

export interface GuardedRequestOptions {
  /** The prefixes of addresses, besides public ones, to which the service connects. */
  readonly networks: readonly string[];
  readonly resolveHost: ResolveHost;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** What becomes of an answer with more bytes: it is an error, or is cut after them. */
  readonly longer: "refused" | "cut";
  /** How errors call the URL: `the URL of the webhook`. */
  readonly called: string;
}

interface GuardedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Ends the request before its time is over. */
  readonly signal?: AbortSignal;
}

/** An answer, whatever its status. */
interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer<ArrayBuffer>;
}

export type SendGuarded = (url: string, request: GuardedRequest) => Promise<Answer>;

/**
 * Resolves with DNS alone. `dns.lookup` would occupy one of few threads for as long as a DNS server keeps silent, and files and
 * other lookups need these threads. No DNS server is asked for what none has (RFC 6761, 6.4).
 */
export const resolveWithDns: ResolveHost = async (host) => {
  if (host.endsWith(".invalid")) return [];
  const resolver = new Resolver({ timeout: 1_000, tries: 2 });
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
};

/** Creates a function that sends a request. It throws a RequestError. */
export function createSendGuarded(options: GuardedRequestOptions): SendGuarded {
  const { networks, resolveHost, timeoutMs, called } = options;

  return async (text, { method, headers, body, signal: ended }) => {
    const problem = findUrlProblem(text, networks);
    if (problem !== undefined) throw new RequestError(`${called} ${problem}`);
    const url = new URL(text);
    const tooLong = AbortSignal.timeout(timeoutMs);
    const signal = ended === undefined ? tooLong : AbortSignal.any([tooLong, ended]);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(tooLate(url, timeoutMs)));
      if (signal.aborted) reject(tooLate(url, timeoutMs));
    });
    const call = async (): Promise<Answer> => {
      const addresses = await findAddresses(url.hostname, networks, resolveHost);
      signal.throwIfAborted();
      const message = await send(url, { method, headers, lookup: lookupOf(addresses), signal, agent: false }, body);
      const { statusCode: status = 0 } = message;
      return { status, headers: message.headers, body: await readAnswer(message, url, options) };
    };
    try {
      return await Promise.race([call(), late]);
    } catch (error) {
      if (signal.aborted) throw tooLate(url, timeoutMs);
      if (error instanceof RequestError) throw error;
      throw new RequestError(`${url.host} cannot be reached`, { cause: error });
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
  if (addresses.length === 0) throw new RequestError(`${hostname} has no address`);
  if (addresses.every((address) => mayConnect(address, networks))) return addresses;
  // Which one is not said: it may be known in the network of the service alone.
  throw new RequestError(`${hostname} has an address that is not public`);
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

async function readAnswer(
  message: IncomingMessage,
  { host }: URL,
  { maxBytes, longer }: GuardedRequestOptions,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of message) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes <= maxBytes) continue;
    if (longer === "cut") break;
    throw new RequestError(`${host} sent more than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

function tooLate({ host }: URL, timeoutMs: number): RequestError {
  return new RequestError(`${host} did not answer within ${timeoutMs / 1_000} seconds`);
}

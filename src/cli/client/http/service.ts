// Calls the service over REST. The credential goes to the address of the service and nowhere else: redirects are not followed.
import { setTimeout as wait } from "node:timers/promises";
import { CommandError, exitCodes } from "../command-error.ts";
import { readBody, readLines } from "./read-body.ts";
import { ServiceCallError } from "./service-error.ts";
import { unreachable } from "./unreachable.ts";

/** Gives the credential of calls. */
export interface Credential {
  /** Returns what follows `Bearer`. */
  readonly token: () => Promise<string>;
  /** Gets another one, once one was refused; false if there is none. */
  readonly renew: () => Promise<boolean>;
}

export interface Call {
  readonly method: string;
  /** The path of the address, with percent-encoding: `/iam/v1alpha/orgs/acme`. */
  readonly path: string;
  /** A parameter with several values is sent several times. */
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  /** Whether the call can be repeated: it only reads, or has a `request_id`. */
  readonly isRepeatable?: boolean;
}

export interface Service {
  readonly url: string;
  /** Returns the body of the answer; undefined for an empty one. @throws ServiceCallError */
  readonly call: (call: Call) => Promise<unknown>;
  /** Returns the lines of JSON of a stream as they come. @throws ServiceCallError */
  readonly stream: (call: Call) => AsyncGenerator;
}

interface ServiceOptions {
  readonly url: string;
  readonly credential: Credential;
  readonly signal: AbortSignal;
  /** How long an answer may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** How often a call is tried, and how long a server may ask to wait in between. */
const attempts = 4;
const longestWaitMs = 10_000;

export function createService({ url, credential, signal, timeoutMs }: ServiceOptions): Service {
  const send = async (call: Call, accept: string, signals: readonly AbortSignal[]): Promise<Response> => {
    const address = addressOf(url, call);
    const sendOnce = async (): Promise<Response> => {
      const headers = { authorization: `Bearer ${await credential.token()}`, accept, "user-agent": "tenantry" };
      return fetchFrom(address, {
        method: call.method,
        headers: call.body === undefined ? headers : { ...headers, "content-type": "application/json" },
        ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
        signal: AbortSignal.any([signal, ...signals]),
      });
    };
    const response = await sendOnce();
    if (response.status !== 401 || !(await credential.renew())) return response;
    await response.body?.cancel();
    return sendOnce();
  };

  const callOnce = async (call: Call): Promise<unknown> => {
    const response = await send(call, "application/json", [AbortSignal.timeout(timeoutMs)]);
    const text = await readBody(response);
    if (!response.ok) throw new ServiceCallError(response, text);
    return text === "" ? undefined : parseAnswer(text, response);
  };

  return {
    url,
    async call(call) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await callOnce(call);
        } catch (error) {
          const waitMs = call.isRepeatable === true && attempt < attempts ? waitBeforeRetry(error, attempt) : undefined;
          if (waitMs === undefined) throw error;
          await wait(waitMs, undefined, { signal });
        }
      }
    },
    async *stream(call) {
      const response = await send(call, "application/x-ndjson", []);
      if (!response.ok) throw new ServiceCallError(response, await readBody(response));
      for await (const line of readLines(response)) {
        const message = parseAnswer(line, response);
        if (typeof message === "object" && message !== null && "error" in message) {
          const status = (message.error as { readonly code?: number }).code ?? 500;
          throw new ServiceCallError(Response.json(message, { status }), line);
        }
        yield message;
      }
    },
  };
}

function addressOf(url: string, { path, query = {} }: Call): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  return parameters.length === 0 ? `${url}${path}` : `${url}${path}?${new URLSearchParams(parameters).toString()}`;
}

/** Sends a request, without following redirects. @throws CommandError if there is no answer. */
export async function fetchFrom(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...init, redirect: "manual" });
  } catch (error) {
    if (init.signal?.aborted === true && (init.signal.reason as Error).name !== "TimeoutError") throw error;
    throw unreachable(new URL(address).origin, error);
  }
}

function parseAnswer(text: string, response: Response): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = `${response.url === "" ? "the service" : new URL(response.url).origin} answers with something that is not JSON`;
    throw new CommandError(message, { exitCode: exitCodes.refused, reason: "NOT_JSON", cause: error });
  }
}

/** Returns how long to wait before a failed call is tried again, in milliseconds; undefined if that does not help. */
function waitBeforeRetry(error: unknown, attempt: number): number | undefined {
  const isClosed = error instanceof CommandError && error.reason === "UNREACHABLE" && /closed/.test(error.message);
  const isBusy = error instanceof ServiceCallError && [429, 503].includes(error.status);
  if (!isClosed && !isBusy) return undefined;
  const asked = error instanceof ServiceCallError ? (error.retryAfterMs ?? 0) : 0;
  if (asked > longestWaitMs) return undefined;
  return Math.max(asked, 100 * 2 ** attempt) * (1 + Math.random() / 4);
}

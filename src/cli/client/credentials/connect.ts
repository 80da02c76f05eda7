// Decides which service a command calls, and as whom.
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { readServerAddress } from "../../../files/server-address.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { didYouMean } from "../arguments/nearest.ts";
import type { PathContext } from "../contract/find-method.ts";
import type { Host } from "../host.ts";
import { type Credential, type Service, createService } from "../http/service.ts";
import { isLoopback, readServiceUrl } from "../http/service-url.ts";
import { requestTokens } from "./oauth.ts";
import type { Profile, ProfileStore, Secret } from "./profiles.ts";

/** The flags that say where to call. */
export interface ConnectionFlags {
  readonly server: string | undefined;
  readonly profile: string | undefined;
  readonly org: string | undefined;
  readonly project: string | undefined;
  readonly plainHttp: boolean;
}

export interface Connection {
  readonly service: Service;
  readonly context: PathContext;
  /** Where the credential comes from: `the profile acme`. */
  readonly source: string;
  /** Whether it is the key of the operator, which nobody has named. */
  readonly isOperator: boolean;
}

/** How a connection is used. */
interface ConnectionUse {
  /** How long an answer may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Whether tokens that have expired are replaced. */
  readonly canRefresh?: boolean;
}

/** Where the service listens as it is installed. `localhost` could be another address of this machine, with another listener. */
export const defaultUrl = "http://127.0.0.1:8080";
const answerTimeoutMs = 120_000;

/** Returns the address that flags and settings name; undefined if they name none. */
export function namedServer(host: Host, flags: ConnectionFlags): string | undefined {
  const { server, plainHttp } = flags;
  if (server !== undefined) return readServiceUrl(server, "--server", plainHttp);
  const fromEnv = host.env["TENANTRY_URL"];
  return fromEnv ? readServiceUrl(fromEnv, "TENANTRY_URL", plainHttp) : undefined;
}

/**
 * Returns the service with the first credential there is: TENANTRY_API_KEY, that of a profile of the service, and, for the address
 * that a server has noted in the data directory, the default address and a TENANTRY_URL on this machine, the key of the operator in it.
 *
 * @throws CommandError if there is none.
 */
export async function connect(
  host: Host,
  store: ProfileStore,
  flags: ConnectionFlags,
  { timeoutMs = answerTimeoutMs, canRefresh = true }: ConnectionUse = {},
): Promise<Connection> {
  const url = namedServer(host, flags);
  const chosen = flags.profile ?? host.env["TENANTRY_PROFILE"];
  const connected = (address: string, credential: Credential, source: string, profile?: Profile): Connection => ({
    service: createService({ url: address, credential, signal: host.signal, timeoutMs }),
    context: contextOf(host, flags, profile),
    source,
    isOperator: false,
  });
  const key = host.env["TENANTRY_API_KEY"];
  if (key !== undefined && flags.profile === undefined) {
    // A secret of a pipeline that was not there must not make somebody else of the caller.
    if (key === "")
      throw new CommandError("TENANTRY_API_KEY is set, and empty: unset it to call with another credential");
    return connected(url ?? defaultUrl, fixed(checkKey(key, "TENANTRY_API_KEY")), "TENANTRY_API_KEY");
  }
  const found = await findProfile(store, chosen, url);
  if (found !== undefined) {
    const [name, profile] = found;
    const address = readServiceUrl(profile.url, `the profile ${name}`, flags.plainHttp || profile.plainHttp);
    const credential = await profileCredential(host, store, { name, url: address, canRefresh });
    return connected(address, credential, `the profile ${name}`, profile);
  }
  const ownUrl = operatorUrl(flags, url, await readServerAddress(dataDirectoryOf(host)));
  const local = ownUrl === undefined ? undefined : await readOperatorKey(host);
  if (ownUrl !== undefined && local !== undefined) {
    return { ...connected(ownUrl, fixed(local.key), local.file), isOperator: true };
  }
  throw new CommandError(`nobody is signed in${url === undefined ? "" : ` at ${url}`}`, {
    exitCode: exitCodes.denied,
    reason: "NOT_SIGNED_IN",
    next: url === undefined ? "tenantry login --server URL" : `tenantry login --server ${url}`,
  });
}

/** Returns what paths are below. @throws CommandError for what would be more than a segment of an address. */
function contextOf({ env }: Host, flags: ConnectionFlags, profile: Profile | undefined): PathContext {
  const org = checkSegment(flags.org, "--org") ?? checkSegment(env["TENANTRY_ORG"] || undefined, "TENANTRY_ORG");
  return {
    org: org ?? checkSegment(profile?.org, "the org of the profile"),
    project:
      checkSegment(flags.project, "--project") ??
      // A project of the profile is in the org of the profile.
      (flags.org === undefined ? checkSegment(profile?.project, "the project of the profile") : undefined),
  };
}

/** Returns a name that is one segment of a path. */
export function checkSegment(text: string | undefined, source: string): string | undefined {
  if (text === undefined || !/^\.{0,2}$|\//.test(text)) return text;
  throw new CommandError(`${source} must be one name, such as acme, got ${JSON.stringify(text)}`);
}

/** Returns the profile to use: the one that is named, or the current one, or the only one of a service if that is named. */
async function findProfile(
  store: ProfileStore,
  chosen: string | undefined,
  url: string | undefined,
): Promise<readonly [name: string, profile: Profile] | undefined> {
  const { current, profiles } = await store.read();
  if (chosen !== undefined) {
    const profile = profiles.get(chosen);
    if (profile === undefined) {
      throw new CommandError(`there is no profile ${JSON.stringify(chosen)}${didYouMean(chosen, profiles.keys())}`, {
        next: "tenantry config",
      });
    }
    // A secret goes only to the service that it is of.
    if (url !== undefined && profile.url !== url) {
      throw new CommandError(`the profile ${chosen} is for ${profile.url}, and not for ${url}`, {
        next: "tenantry config",
      });
    }
    return [chosen, profile];
  }
  const ofService = [...profiles].filter(([, profile]) => url === undefined || profile.url === url);
  const only = url !== undefined && ofService.length === 1 ? ofService[0] : undefined;
  return ofService.find(([name]) => name === current) ?? only;
}

function fixed(token: string): Credential {
  return { token: () => Promise.resolve(token), renew: () => Promise.resolve(false) };
}

/** A token is refreshed so long before it expires. */
const earlyMs = 60_000;

async function profileCredential(
  host: Host,
  store: ProfileStore,
  { name, url, canRefresh }: { readonly name: string; readonly url: string; readonly canRefresh: boolean },
): Promise<Credential> {
  const signedOut = (cause?: unknown): CommandError =>
    new CommandError(`the session of the profile ${name} has ended`, {
      exitCode: exitCodes.denied,
      reason: "NOT_SIGNED_IN",
      next: `tenantry login --profile ${name} --server ${url}`,
      cause,
    });
  const readSecret = async (): Promise<Secret> => {
    const secret = await store.readSecret(name, url);
    if (secret === undefined) throw signedOut();
    return secret;
  };
  let secret = await readSecret();
  const tokenOf = (each: Secret): string => ("apiKey" in each ? each.apiKey : each.accessToken);
  if ("apiKey" in secret || !canRefresh) return fixed(tokenOf(secret));

  /** Replaces the tokens, unless another process has done so since `used` was read. */
  const refresh = (used: string): Promise<Secret> =>
    store.whileLocked(name, async () => {
      const stored = await readSecret();
      if ("apiKey" in stored || stored.accessToken !== used) return stored;
      const grant = { grant_type: "refresh_token", refresh_token: stored.refreshToken };
      const renewed = await requestTokens(url, stored.clientId, grant, { now: host.now }).catch((error: unknown) => {
        throw error instanceof CommandError && error.reason === "invalid_grant" ? signedOut(error) : error;
      });
      await store.writeSecret(name, url, renewed);
      return renewed;
    });
  return {
    async token() {
      if (!("apiKey" in secret) && secret.expireTime - earlyMs < host.now()) secret = await refresh(tokenOf(secret));
      return tokenOf(secret);
    },
    async renew() {
      secret = await refresh(tokenOf(secret));
      return true;
    },
  };
}

/**
 * Returns the address to which the key of the operator may be sent; undefined if it may not. Another program of this machine can listen at
 * an address that a flag has, or at another address of `localhost`.
 *
 * @param noted where a server that runs with the key's directory listens.
 */
function operatorUrl(flags: ConnectionFlags, url: string | undefined, noted: string | undefined): string | undefined {
  const address = new URL(url ?? noted ?? defaultUrl);
  if (address.hostname === "localhost") address.hostname = "127.0.0.1";
  const text = address.href.replace(/\/+$/, "");
  return text === defaultUrl || text === noted || (flags.server === undefined && isLoopback(address))
    ? text
    : undefined;
}

const dataDirectoryOf = ({ env }: Pick<Host, "env">): string => env["TENANTRY_DATA"] ?? "data";

/** Returns the key that a service on this machine has written for its operator; undefined if there is none that can be read. */
async function readOperatorKey({ env }: Host): Promise<{ readonly key: string; readonly file: string } | undefined> {
  const path = join(dataDirectoryOf({ env }), "operator-key");
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > 4_096) return undefined;
    return { key: checkKey(await file.readFile("utf8"), path), file: path };
  } finally {
    await file.close();
  }
}

/** Returns a key that can be sent in a header. */
export function checkKey(text: string, source: string): string {
  const key = text.trim();
  if (/^[!-~]{1,4096}$/.test(key)) return key;
  throw new CommandError(`${source} does not hold an API key, which is one word`);
}

import { createHash, randomBytes } from "node:crypto";
import { type Flag, isSet, single } from "../arguments/flags.ts";
import { CommandError, exitCodes } from "../command-error.ts";
import { type Command, type CommandCall, readConnectionFlags, refuseWords } from "../commands/command.ts";
import { checkKey, checkSegment, defaultUrl, namedServer } from "../credentials/connect.ts";
import { readMetadata, requestTokens, revokeSession } from "../credentials/oauth.ts";
import { type Profile, type ProfileStore, type Secret, checkName } from "../credentials/profiles.ts";
import { createService } from "../http/service.ts";
import { isLoopback } from "../http/service-url.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import type { Host } from "../host.ts";
import { escapeText } from "../output/escape-text.ts";
import { listenForCode } from "./loopback.ts";

const keyFlag: Flag = { name: "with-key", help: "Sign in with an API key, from standard input or asked for" };
const browserFlag: Flag = { name: "no-browser", help: "Only print the address, and open no browser" };

/** How long the person has to sign in, in milliseconds. */
const loginMs = 600_000;
const timeoutMs = 30_000;

export const loginCommand: Command = {
  name: "login",
  usage: "[--server URL]",
  help: "Sign in with the browser, or with an API key, and keep it as a profile",
  flags: [keyFlag, browserFlag],
  async run(call, parsed) {
    const { host, store } = call;
    refuseWords(parsed, 0, {
      message: "login takes no words: --server names the service",
      next: "tenantry login --server URL",
    });
    const flags = readConnectionFlags(parsed);
    const [org, project] = [checkSegment(flags.org, "--org"), checkSegment(flags.project, "--project")];
    const known = flags.profile === undefined ? undefined : (await store.read()).profiles.get(checkName(flags.profile));
    const url = namedServer(host, flags) ?? known?.url ?? (await currentUrl(store)) ?? defaultUrl;
    // Nobody should sign in for what cannot be kept.
    await store.prepare();
    const secret = isSet(parsed, "with-key")
      ? { apiKey: await readKey(host) }
      : await signInWithBrowser(host, url, isSet(parsed, "no-browser"));
    const token = "apiKey" in secret ? secret.apiKey : secret.accessToken;
    const member = await readMember(host, url, token);
    const plainHttp = flags.plainHttp && new URL(url).protocol === "http:" && !isLoopback(new URL(url));
    const name = await keep(
      call,
      { url, member, plainHttp, org: org ?? member.split("/")[2], project },
      secret,
      flags.profile,
    );
    host.warn(`Signed in at ${url} as ${escapeText(member)}: the profile ${name}, in ${store.directory}\n`);
    return exitCodes.done;
  },
};

async function currentUrl(store: ProfileStore): Promise<string | undefined> {
  const { current, profiles } = await store.read();
  return current === undefined ? undefined : profiles.get(current)?.url;
}

async function readKey(host: Host): Promise<string> {
  const text = host.isInteractive ? await host.ask("API key: ", true) : await host.readInput();
  return checkKey(text, "standard input");
}

async function signInWithBrowser(host: Host, url: string, isPrinted: boolean): Promise<Secret> {
  const { issuer, clientId } = await readMetadata(url, host.signal);
  if (clientId === undefined) {
    throw new CommandError(`${url} does not let the command line sign in with a browser`, {
      exitCode: exitCodes.denied,
      reason: "NO_CLIENT",
      next: "tenantry login --with-key",
    });
  }
  const signal = AbortSignal.any([host.signal, AbortSignal.timeout(loginMs)]);
  const loopback = await listenForCode(issuer, signal);
  try {
    const verifier = randomBytes(32).toString("base64url");
    const request = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: loopback.redirectUri,
      scope: "offline_access",
      state: loopback.state,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    // Where the service knows itself, a browser may be signed in already.
    const place = `${new URL(issuer).origin}${new URL(url).pathname.replace(/\/$/, "")}`;
    const address = `${place}/oauth2/authorize?${request.toString()}`;
    host.warn(`Sign in and allow it in your browser:\n\n  ${address}\n\n`);
    if (!isPrinted) await host.openBrowser(address);
    const code = await loopback.code.catch((error: unknown) => {
      if (!(error instanceof Error) || error.name !== "TimeoutError") throw error;
      throw new CommandError("nobody has signed in for 10 minutes", {
        exitCode: exitCodes.denied,
        reason: "NOT_SIGNED_IN",
        cause: error,
      });
    });
    const grant = {
      grant_type: "authorization_code",
      code,
      redirect_uri: loopback.redirectUri,
      code_verifier: verifier,
    };
    return await requestTokens(url, clientId, grant, host);
  } finally {
    loopback.close();
  }
}

async function readMember(host: Host, url: string, token: string): Promise<string> {
  const credential = { token: () => Promise.resolve(token), renew: () => Promise.resolve(false) };
  const service = createService({ url, credential, signal: host.signal, timeoutMs });
  const me = recordOf(await service.call({ method: "GET", path: "/iam/v1alpha/me", isRepeatable: true }));
  const path = stringOf(recordOf(me?.["member"])?.["path"]);
  if (path === undefined || !/^(\/[a-z0-9@-]+){4}$/i.test(path)) {
    throw new CommandError(`${url} does not say who you are`, { exitCode: exitCodes.refused, reason: "NOT_TENANTRY" });
  }
  return path;
}

/** Keeps a profile, as the current one, and ends the session that it had. Returns its name. */
async function keep(
  { host, store }: CommandCall,
  profile: Profile,
  secret: Secret,
  wanted: string | undefined,
): Promise<string> {
  const { profiles } = await store.read();
  const isSame = (other: Profile | undefined): boolean => {
    return other === undefined || (other.url === profile.url && other.member === profile.member);
  };
  const [, , org = "", , member = ""] = profile.member.split("/");
  const { host: server } = new URL(profile.url);
  const names = [org, `${member}@${org}`, `${member}@${org}.${server.replaceAll(/[^A-Za-z0-9.-]/g, "-")}`];
  const name = checkName(wanted ?? names.find((each) => isSame(profiles.get(each))) ?? names[2] ?? org);
  const previousUrl = profiles.get(name)?.url ?? profile.url;
  const previous = await store.readSecret(name, previousUrl).catch(() => undefined);
  await store.whileLocked(name, () => store.writeSecret(name, profile.url, secret));
  await store.change((stored) => ({ current: name, profiles: new Map(stored.profiles).set(name, profile) }));
  if (previous !== undefined && "refreshToken" in previous) {
    // Nobody has it any more. If it cannot be ended now, it ends by itself.
    await revokeSession(previousUrl, previous, host.signal).catch(() => undefined);
  }
  return name;
}

export const logoutCommand: Command = {
  name: "logout",
  usage: "",
  help: "End the session of a profile, and remove the profile",
  flags: [],
  async run({ host, store }, parsed) {
    refuseWords(parsed, 0, {
      message: "logout takes no words: --profile names the profile",
      next: "tenantry logout --profile NAME",
    });
    const { current, profiles } = await store.read();
    const name = single(parsed, "profile") ?? current;
    const profile = name === undefined ? undefined : profiles.get(name);
    if (name === undefined || profile === undefined) {
      throw new CommandError(
        name === undefined ? "nobody is signed in" : `there is no profile ${JSON.stringify(name)}`,
        { reason: "NOT_SIGNED_IN", next: "tenantry config" },
      );
    }
    const secret = await store.readSecret(name, profile.url);
    // First the session: a profile that is gone while its session goes on could not be ended any more.
    if (secret !== undefined && "refreshToken" in secret) {
      await revokeSession(profile.url, secret, host.signal).catch((error: unknown) => {
        // With its client, all sessions of it have ended.
        if (!(error instanceof CommandError) || error.reason !== "invalid_client") throw error;
      });
    }
    await store.whileLocked(name, () => store.removeSecret(name));
    await store.change((stored) => {
      const left = new Map([...stored.profiles].filter(([each]) => each !== name));
      return { current: stored.current === name ? undefined : stored.current, profiles: left };
    });
    host.warn(`Signed out: the profile ${name} is removed, and ${describeEnd(secret)}.\n`);
    return exitCodes.done;
  },
};

function describeEnd(secret: Secret | undefined): string {
  if (secret === undefined) return "it had no credential of its service";
  return "apiKey" in secret ? "its API key is still valid" : "its session has ended";
}

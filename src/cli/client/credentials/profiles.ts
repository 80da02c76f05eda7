// Profiles: as which member of which service to call. `config.json` names them, and `credentials/NAME.json` has the secret of each.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, exitCodes } from "../command-error.ts";
import type { Host } from "../host.ts";
import { recordOf, stringOf } from "../http/service-error.ts";
import { makePrivateDirectory, readPrivateFile, whileLocked, writePrivateFile } from "./private-file.ts";

export interface Profile {
  readonly url: string;
  /** The member, `/orgs/acme/members/alice`. */
  readonly member: string;
  /** Whether http:// is accepted for a machine other than this one. */
  readonly plainHttp: boolean;
  /** The default of `--org` and `--project`. */
  readonly org: string | undefined;
  readonly project: string | undefined;
}

export interface Profiles {
  /** The name of the profile that is used without `--profile`. */
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, Profile>;
}

/** What a profile calls with: an API key, or the tokens of a session. */
export type Secret =
  | { readonly apiKey: string }
  | {
      readonly accessToken: string;
      readonly refreshToken: string;
      /** When the access token expires, in milliseconds. */
      readonly expireTime: number;
      readonly clientId: string;
    };

export interface ProfileStore {
  readonly directory: string;
  readonly read: () => Promise<Profiles>;
  /** Makes the directories of profiles and secrets. @throws CommandError if nothing can be kept there. */
  readonly prepare: () => Promise<void>;
  /** Changes the profiles, while no other process does. */
  readonly change: (change: (profiles: Profiles) => Profiles) => Promise<void>;
  /** Returns the secret of a profile; undefined if there is none that is of the service with this address. */
  readonly readSecret: (name: string, url: string) => Promise<Secret | undefined>;
  /** Keeps a secret with the address of its service, to which alone it is sent. */
  readonly writeSecret: (name: string, url: string, secret: Secret) => Promise<void>;
  readonly removeSecret: (name: string) => Promise<void>;
  /** Runs a function while no other process uses the secret of a profile. */
  readonly whileLocked: <T>(name: string, run: () => Promise<T>) => Promise<T>;
}

export function createProfileStore({ env, homeDirectory }: Pick<Host, "env" | "homeDirectory">): ProfileStore {
  const configured = env["XDG_CONFIG_HOME"];
  const base = configured !== undefined && configured.startsWith("/") ? configured : join(homeDirectory, ".config");
  const directory = join(base, "tenantry");
  const config = join(directory, "config.json");
  const secretOf = (name: string): string => join(directory, "credentials", `${checkName(name)}.json`);
  const read = async (): Promise<Profiles> => parseProfiles(await readPrivateFile(config), config);
  return {
    directory,
    read,
    // The lock is a file beside the profiles.
    prepare: () => whileLocked(config, () => makePrivateDirectory(join(directory, "credentials"))),
    change: (change) => whileLocked(config, async () => writePrivateFile(config, formatProfiles(change(await read())))),
    async readSecret(name, url) {
      const file = secretOf(name);
      const text = await readPrivateFile(file);
      return text === undefined ? undefined : parseSecret(text, file, url);
    },
    writeSecret: (name, url, secret) =>
      writePrivateFile(secretOf(name), `${JSON.stringify({ url, ...secret }, null, 2)}\n`),
    removeSecret: (name) => rm(secretOf(name), { force: true }),
    whileLocked: (name, run) => whileLocked(secretOf(name), run),
  };
}

/** Returns the name of a profile, which is that of a file. */
export function checkName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9@._-]{0,127}$/.test(name)) return name;
  throw new CommandError(
    `the name of a profile has letters, digits, dots, dashes, _ and @, got ${JSON.stringify(name)}`,
  );
}

function parseProfiles(text: string | undefined, file: string): Profiles {
  if (text === undefined) return { current: undefined, profiles: new Map() };
  const json = parseJson(text, file);
  const profiles = Object.entries(recordOf(json["profiles"]) ?? {}).map(([name, value]): [string, Profile] => {
    const { url, member, plain_http: plainHttp, org, project } = recordOf(value) ?? {};
    if (typeof url !== "string" || typeof member !== "string") throw damaged(file);
    return [
      checkName(name),
      { url, member, plainHttp: plainHttp === true, org: stringOf(org), project: stringOf(project) },
    ];
  });
  return { current: stringOf(json["current"]), profiles: new Map(profiles) };
}

function formatProfiles({ current, profiles }: Profiles): string {
  const entries = [...profiles].map(([name, { plainHttp, ...profile }]) => [
    name,
    { ...profile, ...(plainHttp && { plain_http: true }) },
  ]);
  return `${JSON.stringify({ current, profiles: Object.fromEntries(entries) as unknown }, null, 2)}\n`;
}

function parseSecret(text: string, file: string, url: string): Secret | undefined {
  const { url: own, apiKey, accessToken, refreshToken, expireTime, clientId } = parseJson(text, file);
  if (typeof own !== "string") throw damaged(file);
  if (own !== url) return undefined;
  if (typeof apiKey === "string") return { apiKey };
  const isSession = [accessToken, refreshToken, clientId].every((each) => typeof each === "string");
  if (!isSession || typeof expireTime !== "number") throw damaged(file);
  return { accessToken, refreshToken, clientId, expireTime } as Secret;
}

function parseJson(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const json = recordOf(JSON.parse(text));
    if (json !== undefined) return json;
  } catch {
    // It is damaged, as what is no object is.
  }
  throw damaged(file);
}

function damaged(file: string): CommandError {
  return new CommandError(`${file} is damaged`, {
    exitCode: exitCodes.denied,
    reason: "CREDENTIAL_FILE",
    next: `remove it, and run tenantry login`,
  });
}

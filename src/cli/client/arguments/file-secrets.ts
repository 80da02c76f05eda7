// Secrets of a file of an org: the file, which is kept and reviewed, says where each is.
import { readFile } from "node:fs/promises";
import { CommandError } from "../command-error.ts";
import type { Host } from "../host.ts";
import type { NamePlace } from "./file-places.ts";
import { recordOf, stringOf } from "../http/service-error.ts";

/** A file of an org, whole and without the secrets that are elsewhere. */
export interface FileWithSecrets {
  /** To plan with: the plan is the same with any secrets. */
  readonly toPlan: Readonly<Record<string, unknown>>;
  /** Reads the secrets. @throws CommandError for one that is not there. */
  readonly readAll: () => Promise<Readonly<Record<string, unknown>>>;
  /** The providers that have one, by their paths below the org. */
  readonly withSecret: readonly string[];
}

const [section, secret] = ["identity_providers", "client_secret"];

/**
 * Returns a file in which `client_secret` can be `{env: NAME}` or `{file: PATH}`.
 *
 * @param nameOf returns what errors call a place in the file, `acme.yaml:12: identity_providers[0].client_secret`.
 * @throws CommandError for another object.
 */
export function findSecrets(host: Host, file: Readonly<Record<string, unknown>>, nameOf: NamePlace): FileWithSecrets {
  const providers = file[section];
  if (!Array.isArray(providers)) return { toPlan: file, readAll: () => Promise.resolve(file), withSecret: [] };
  const entries = providers.map((entry: unknown, index) => {
    const fields = recordOf(entry);
    const source = fields && recordOf(fields[secret]);
    const place = `${section}[${index}].${secret}`;
    refuseOther(fields?.[secret], () => nameOf(place));
    if (source === undefined) return { toPlan: entry, read: () => Promise.resolve(entry) };
    const read = readerOf(host, source, () => nameOf(place));
    const toPlan = Object.fromEntries(Object.entries(fields ?? {}).filter(([key]) => key !== secret));
    return { toPlan, read: async () => ({ ...toPlan, [secret]: await read() }) };
  });
  return {
    toPlan: { ...file, [section]: entries.map(({ toPlan }) => toPlan) },
    withSecret: providers.flatMap((entry: unknown) => {
      const { name, [secret]: value } = recordOf(entry) ?? {};
      return typeof name === "string" && value !== undefined ? [`identityProviders/${name}`] : [];
    }),
    readAll: async () => ({ ...file, [section]: await Promise.all(entries.map(({ read }) => read())) }),
  };
}

/** `$OKTA_SECRET` is how others write a variable, and would be taken for the secret itself. An error does not repeat what may be one. */
function refuseOther(value: unknown, place: () => string): void {
  if (value !== undefined && typeof value !== "string" && recordOf(value) === undefined)
    throw new CommandError(`${place()} must be a text in quotes, {env: NAME} or {file: PATH}, got a ${typeof value}`);
  const [, name] = typeof value === "string" ? (/^\$\{?(\w+)\}?$/.exec(value) ?? []) : [];
  if (name === undefined) return;
  throw new CommandError(`${place()} must be {env: ${name}} for a secret that is in the variable ${name}`);
}

function readerOf(host: Host, source: Readonly<Record<string, unknown>>, place: () => string): () => Promise<string> {
  const [[key, value] = [], ...others] = Object.entries(source);
  const name = stringOf(value);
  if ((key !== "env" && key !== "file") || name === undefined || name === "" || others.length > 0)
    throw new CommandError(
      `${place()} must be {env: NAME} or {file: PATH}, got an object with ${Object.keys(source).slice(0, 3).join(", ").slice(0, 100) || "nothing"}`,
    );
  return key === "env" ? () => readVariable(host, name, place) : () => readSecretFile(name, place);
}

function readVariable({ env }: Host, name: string, place: () => string): Promise<string> {
  const value = env[name];
  if (value !== undefined && value !== "") return Promise.resolve(value);
  return Promise.reject(new CommandError(`${place()} is in the variable ${name}, which is not set`));
}

/** The last end of a line is not part of it. */
async function readSecretFile(path: string, place: () => string): Promise<string> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    const why = error.code === "ENOENT" ? "which is not there" : `which cannot be read: ${error.code ?? error.message}`;
    throw new CommandError(`${place()} is in the file ${path}, ${why}`, { cause: error });
  });
  const value = text.replace(/\r?\n$/, "");
  if (value === "") throw new CommandError(`${place()} is in the file ${path}, which is empty`);
  return value;
}

// Keeps a copy of the resources of an Org in a file, those that the API key may get, and keeps it right through restarts of this program and of
// the service. It needs nothing but Node.js 24:
//
//   TENANTRY_URL=http://localhost:8080 TENANTRY_API_KEY=... node examples/follow.ts orgs/acme copy.json
//
// The copy and the revision that it is at are written together. The first time, the stream begins with the resources as they are. It is resumed
// also in the middle of them.
import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** By the name of each field. */
type Resource = Readonly<Record<string, unknown>>;

interface Copy {
  /** Up to here, all changes are in the copy. */
  revision: string;
  /** By their paths with ids, which stay the same when something is renamed. */
  resources: Record<string, Resource>;
  /** By the same paths: what takes the resource with it when it is removed. */
  owners: Record<string, readonly string[]>;
}

interface Message {
  readonly state?: { readonly resource: Resource };
  readonly change?: { readonly type: string; readonly after?: Resource };
  readonly checkpoint?: { readonly synced: boolean };
  readonly key_path: string;
  readonly owner_paths: readonly string[];
  readonly resume_revision: string;
  readonly error?: { readonly status: string; readonly message: string };
}

const { TENANTRY_URL: url = "http://localhost:8080", TENANTRY_API_KEY: key = "" } = process.env;
const [org = "orgs/acme", file = "copy.json"] = process.argv.slice(2);

async function get(path: string, accept: string): Promise<Response> {
  const response = await fetch(`${url}/iam/v1alpha/${path}`, { headers: { authorization: `Bearer ${key}`, accept } });
  if (!response.ok) throw await toError(response);
  return response;
}

/** The log no longer has what follows the revision of the copy. */
class TooOld extends Error {}

async function toError(response: Response): Promise<Error> {
  const { error } = (await response.json()) as { error: { status: string; message: string } };
  return error.status === "OUT_OF_RANGE" ? new TooOld(error.message) : new Error(error.message);
}

async function readCopy(): Promise<Copy | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Copy);
}

/** Replaces the file, so that it is complete whenever this program ends. */
async function writeCopy(copy: Copy): Promise<void> {
  await writeFile(`${file}.next`, JSON.stringify(copy, undefined, 2));
  await rename(`${file}.next`, file);
}

function apply({ resources, owners }: Copy, { state, change, key_path: path, owner_paths: ownerPaths }: Message): void {
  const resource = state?.resource ?? change?.after;
  if (path === "") return;
  if (resource !== undefined) {
    resources[path] = resource;
    owners[path] = ownerPaths;
  } else if (["DELETED", "EXPIRED", "ERASED"].includes(change?.type ?? "")) {
    remove({ resources, owners }, path);
  }
}

/** Removes a resource, everything in it, and what goes with one of these, such as the role bindings of a Member. */
function remove({ resources, owners }: Pick<Copy, "resources" | "owners">, path: string): void {
  const isRemoved = (other: string): boolean => other === path || other.startsWith(`${path}/`);
  for (const each of Object.keys(resources)) {
    if (![each, ...(owners[each] ?? [])].some(isRemoved)) continue;
    delete resources[each];
    delete owners[each];
  }
}

/** Reads a stream until it ends, and yields the messages that have come together. */
async function* watch(afterRevision: string): AsyncGenerator<readonly Message[]> {
  const query = `initial_state=true&after_revision=${afterRevision}`;
  const { body } = await get(`${org}/changes:watch?${query}`, "application/x-ndjson");
  let rest = "";
  for await (const text of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    const messages = lines.map((line) => JSON.parse(line) as Message);
    const failed = messages.find(({ error }) => error !== undefined)?.error;
    yield messages.filter(({ error }) => error === undefined);
    if (failed !== undefined) throw new Error(`${failed.status}: ${failed.message}`);
  }
}

async function follow(): Promise<void> {
  const copy = (await readCopy()) ?? { revision: "", resources: {}, owners: {} };
  for await (const messages of watch(copy.revision)) {
    for (const message of messages) {
      apply(copy, message);
      copy.revision = message.resume_revision;
    }
    if (messages.length === 0) continue;
    await writeCopy(copy);
    if (messages.some(({ checkpoint }) => checkpoint?.synced === true)) console.log(`synced at ${copy.revision}`);
  }
}

for (;;) {
  try {
    await follow();
  } catch (error) {
    console.error(String(error));
    // What was deleted meanwhile would stay in the copy, so it begins from nothing.
    if (error instanceof TooOld) await rename(file, `${file}.old`);
  }
  await sleep(1_000);
}

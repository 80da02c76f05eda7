// Keeps a copy of the Members, Groups and Projects of an Org in a file, and keeps it right through restarts of this program and of the
// service. It needs nothing but Node.js 24:
//
//   TENANTRY_URL=http://localhost:8080 TENANTRY_API_KEY=... node examples/follow.ts orgs/acme copy.json
//
// The copy and the revision that it is at are written together. The first time, a stream is opened before the resources are listed: what is
// changed meanwhile is in the stream, and to apply a change that a list has shown already does no harm.
import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

interface Resource {
  readonly id: string;
  readonly path: string;
  readonly state?: string;
}

interface Copy {
  /** Up to here, all changes are in the copy. */
  revision: string;
  /** By id. */
  resources: Record<string, Resource>;
}

interface Change {
  readonly type: "CREATED" | "UPDATED" | "DELETED" | "EXPIRED" | "READ";
  readonly resource_type: string;
  readonly resource_id: string;
  readonly after?: Resource;
}

/** A page of a list, with the resources in the field that is named for them. */
type Page = { readonly next_page_token: string } & Readonly<Record<string, unknown>>;

interface Message {
  readonly change?: Change;
  readonly checkpoint?: { readonly synced: boolean };
  readonly resume_revision: string;
  readonly error?: { readonly status: string; readonly message: string };
}

const { TENANTRY_URL: url = "http://localhost:8080", TENANTRY_API_KEY: key = "" } = process.env;
const [org = "orgs/acme", file = "copy.json"] = process.argv.slice(2);
const copied: Readonly<Record<string, string>> = { Member: "members", Group: "groups", Project: "projects" };

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

async function listAll(): Promise<Copy["resources"]> {
  const resources: Copy["resources"] = {};
  for (const collection of Object.values(copied)) {
    let pageToken = "";
    do {
      const query = `page_size=1000&page_token=${encodeURIComponent(pageToken)}`;
      const page = (await (await get(`${org}/${collection}?${query}`, "application/json")).json()) as Page;
      for (const resource of page[collection] as Resource[]) resources[resource.id] = resource;
      pageToken = page.next_page_token;
    } while (pageToken !== "");
  }
  return resources;
}

function apply(resources: Copy["resources"], { resource_type: type, resource_id: id, after }: Change): void {
  if (copied[type] === undefined) return;
  if (after === undefined || after.state === "DELETED") delete resources[id];
  else resources[id] = after;
}

/** Reads a stream until it ends, and yields the messages that have come together. */
async function* watch(afterRevision: string): AsyncGenerator<readonly Message[]> {
  const { body } = await get(`${org}/changes:watch?after_revision=${afterRevision}`, "application/x-ndjson");
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
  let copy = await readCopy();
  for await (const messages of watch(copy?.revision ?? "")) {
    // The first message says where the stream begins.
    copy ??= { revision: "", resources: await listAll() };
    for (const { change, resume_revision: revision } of messages) {
      if (change !== undefined) apply(copy.resources, change);
      copy.revision = revision;
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

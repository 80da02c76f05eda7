import { createHash } from "node:crypto";
import { type DescMessage, type Message, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Transaction, sql } from "kysely";
import { AccessPreviewSchema } from "../../gen/iam/v1alpha/access_preview_pb.ts";
import type { PreviewAccess, Written } from "../access/preview.ts";
import type { Author } from "../changes/author.ts";
import { inTransaction } from "../changes/write-in-org.ts";
import type { Database } from "../database/database.ts";
import type { Schema } from "../database/schema.ts";
import { invalidField } from "../errors/service-error.ts";
import type { Caller } from "../identity/caller.ts";

/** What a request says of itself as a write, beside what is to be written. */
export interface WriteRequest {
  readonly author: Author;
  readonly caller: Caller;
  /** Aborted when nobody waits for the answer any longer. */
  readonly signal: () => AbortSignal;
  /** Empty when the caller gave none (AIP-155). */
  readonly requestId: string;
  /** Whether nothing is to be changed (AIP-163). */
  readonly validateOnly: boolean;
  readonly allowMissing: boolean;
  readonly answer: DescMessage;
  /** Stands for the whole request but its id: the same for the same request. */
  readonly fingerprint: () => Buffer;
}

/** A write that is under way in a transaction of its own. */
export interface WriteCall {
  readonly db: Transaction<Schema>;
  readonly request: WriteRequest;
  /** What it wrote below orgs, for those who tell what that would change. */
  readonly written: Written[];
}

type Write = (call: WriteCall) => Promise<Message>;

/** What runs a write. */
export interface WriteRunner {
  readonly database: Database;
  readonly previewAccess: PreviewAccess;
}

const oldPerKept = 8;

/** Ends a transaction that was to change nothing. */
class DryRun extends Error {
  readonly answer: Message;

  constructor(answer: Message) {
    super("the request was only checked");
    this.answer = answer;
  }
}

/**
 * Runs a write in a transaction. With a request id it is run once a day: a repeat waits for the first one and answers
 * the same, also when what was written has changed since. A write that is only to be checked is run and taken back; its answer
 * gets a preview of access, if it has a field for one.
 *
 * @param stored makes of an answer what is kept of it: not its secrets.
 * @throws ServiceError FIELD_INVALID when the id came with another request.
 */
export function runWrite(
  { database, previewAccess }: WriteRunner,
  request: WriteRequest,
  write: Write,
  stored: (answer: Message) => Message = (answer) => answer,
): Promise<Message> {
  if (!request.validateOnly) return writeOnce(database, request, write, stored);
  const field = request.answer.fields.find(({ message }) => message === AccessPreviewSchema);
  if (field === undefined) return dryRun(database, request, write);
  return previewAccess(request.caller, request.signal(), (tell) =>
    dryRun(database, request, async (call) => {
      const answer = await write(call);
      return Object.assign(answer, { [field.localName]: await tell(call.written) });
    }),
  );
}

function writeOnce(
  database: Database,
  request: WriteRequest,
  write: Write,
  stored: (answer: Message) => Message,
): Promise<Message> {
  return inTransaction(database, async (db) => {
    if (request.requestId === "") return write({ db, request, written: [] });
    const before = await findAnswer(db, request);
    if (before !== undefined) return before;
    const answer = await write({ db, request, written: [] });
    await keepAnswer(db, request, stored(answer));
    return answer;
  });
}

async function dryRun(database: Database, request: WriteRequest, write: Write): Promise<Message> {
  try {
    return await inTransaction(database, async (db) => {
      throw new DryRun(await write({ db, request, written: [] }));
    });
  } catch (error) {
    if (error instanceof DryRun) return error.answer;
    throw error;
  }
}

async function findAnswer(
  db: Transaction<Schema>,
  { caller, requestId, fingerprint, answer }: WriteRequest,
): Promise<Message | undefined> {
  // Before any other lock, so that repeats wait for each other here.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${caller.memberId} ${requestId}`}, 0))`.execute(db);
  const row = await db
    .selectFrom("write_requests")
    .select(["fingerprint", "answer", sql<boolean>`create_time > now() - interval '1 day'`.as("counts")])
    .where("org_id", "=", caller.orgId)
    .where("actor_id", "=", caller.memberId)
    .where("request_id", "=", requestId)
    .executeTakeFirst();
  if (row === undefined || !row.counts) return undefined;
  if (fingerprint().equals(row.fingerprint)) return fromBinary(answer, row.answer);
  throw invalidField(
    "request_id",
    "came with another request already; each request needs an id of its own",
    "request_id",
  );
}

async function keepAnswer(
  db: Transaction<Schema>,
  { caller, requestId, fingerprint, answer: desc }: WriteRequest,
  answer: Message,
): Promise<void> {
  const values = {
    fingerprint: fingerprint(),
    answer: Buffer.from(toBinary(desc, answer)),
    create_time: sql<Date>`now()`,
  };
  await db
    .insertInto("write_requests")
    .values({ org_id: caller.orgId, actor_id: caller.memberId, request_id: requestId, ...values })
    .onConflict((conflict) => conflict.columns(["org_id", "actor_id", "request_id"]).doUpdateSet(values))
    .execute();
  // Each one that is kept takes some old ones away, so that no more than a day's worth stays.
  await sql`
    delete from write_requests where ctid in (
      select ctid from write_requests where create_time <= now() - interval '1 day'
      order by create_time limit ${oldPerKept} for update skip locked
    )`.execute(db);
}

/**
 * A hash of a request without its id. Maps are the same in any order. Not of its JSON or binary form: a request may hold
 * what these refuse, such as a field mask that is none.
 */
export function fingerprintOf(method: string, request: Message): Buffer {
  const canonical = JSON.stringify([method, toCanonical({ ...request, requestId: "" })]);
  return createHash("sha256").update(canonical).digest();
}

function toCanonical(value: unknown): unknown {
  if (typeof value === "bigint") return { bigint: String(value) };
  if (typeof value === "number") return String(value);
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCanonical);
  // A newer version, with more fields, must find the same request again.
  const isMessage = "$typeName" in value;
  const entries = Object.entries(value).filter(([, item]) => !isMessage || !isUnset(item));
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, item]) => [key, toCanonical(item)]);
}

/** Whether a field of a message holds nothing but its default. */
function isUnset(value: unknown): boolean {
  if (value === undefined || value === "" || value === 0 || value === 0n || value === false) return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

import { createHash } from "node:crypto";
import { type DescField, type DescMessage, type Message, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { sql } from "kysely";
import { AccessPreviewSchema } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { PreviewAccess, TellPreview, Written } from "../../access/previews/preview.ts";
import type { Author } from "../../changes/author.ts";
import type { WriteGroup } from "../../changes/write-group.ts";
import { type CallTime, inTransaction } from "../../changes/write-in-org.ts";
import type { Database } from "../../database/database.ts";
import type { OneReference } from "../../paths/parse-path.ts";
import type { CallSlices } from "../../scheduling/call-slices.ts";
import type { FairQueue } from "../../scheduling/fair-queue.ts";
import { invalidField } from "../../errors/service-error.ts";
import type { Caller } from "../../identity/caller.ts";
import type { JoinedWrite } from "./joined-write.ts";
import { previewInTurn } from "./preview-in-turn.ts";
import { type GroupLocks, type WriteGroups, queueTargetOf } from "./write-groups.ts";
import type { End, WriteTransaction } from "../../database/write-transaction.ts";
import { clockMs } from "../../database/clock.ts";

/** The common arguments of a write request. */
export interface WriteRequest extends CallTime {
  readonly author: Author;
  readonly caller: Caller;
  readonly slices: CallSlices;
  /** The org that the write locks; undefined if it locks another, or none. */
  readonly org: OneReference | undefined;
  /** Empty if the caller sent none (AIP-155). */
  readonly requestId: string;
  /** Whether the request is only validated (AIP-163). */
  readonly validateOnly: boolean;
  readonly allowMissing: boolean;
  /** Whether to delete a resource together with what is in it (AIP-135). */
  readonly force: boolean;
  /** What it locks, if it may share a transaction with others that lock the same. */
  readonly shared?: GroupLocks | undefined;
  /** The write in whose transaction it runs; undefined if it has its own, or one that it shares as equals do. */
  readonly joined?: JoinedWrite | undefined;
  readonly answer: DescMessage;
  /** A hash of the request without its id. Equal requests have equal fingerprints. */
  readonly fingerprint: () => Buffer;
}

/** A write in progress. */
export interface WriteCall {
  readonly db: WriteTransaction;
  /** The group whose transaction it shares; undefined if it shares none. */
  readonly group?: WriteGroup;
  readonly request: WriteRequest;
  /** The changes to orgs that it wrote, for the preview of access. */
  readonly written: Written[];
}

/** The dependencies of `runWrite`. */
export interface WriteRunner {
  readonly database: Database;
  /** Where writes wait for a connection. */
  readonly writeQueue: FairQueue;
  readonly writeGroups: WriteGroups;
  /** Where previews of access wait. Each holds a connection and the locks of its orgs for long. */
  readonly previewQueue: FairQueue;
  readonly previewAccess: PreviewAccess;
}

/** How long answers are kept, in milliseconds. Then a job removes them (`src/jobs/old-rows-job.ts`). */
export const keptAnswerMs = 86_400_000;

/**
 * Another write holds the request id of a write in a group. That one may be waiting for the lock of the group, so the group must not wait
 * for it: the write leaves the group and waits alone.
 */
class RequestIdInUse extends Error {}

/**
 * Runs a write in a transaction. A request id makes it idempotent for a day: a repeated request waits for the first one and
 * gets the same response, even if the resource has changed since. With `validate_only` the write is rolled back; its response
 * gets a preview of access, if it has a field for it.
 *
 * @param stored returns the part of a response that is stored for repeated requests, without secrets.
 * @throws ServiceError FIELD_INVALID when the request id was used with a different request.
 */
export async function runWrite<Answer extends Message>(
  { database, writeQueue, writeGroups, previewQueue, previewAccess }: WriteRunner,
  request: WriteRequest,
  write: (call: WriteCall) => Promise<Answer>,
  stored: (answer: Answer) => Message = (answer) => answer,
): Promise<Answer> {
  const { caller, org, shared, joined, signal, remainingMs } = request;
  if (joined !== undefined) return writeJoined(joined, request, write);
  const queued = { orgId: caller.orgId, target: org && queueTargetOf(org), signal };
  if (shared !== undefined && !request.validateOnly) {
    try {
      return await writeGroups.run({ orgId: caller.orgId, locks: shared, signal, remainingMs }, (group) =>
        writeOnce({ db: group.db, group, request, written: [] }, write, stored),
      );
    } catch (error) {
      if (!(error instanceof RequestIdInUse)) throw error;
    }
  }
  const transact = <Result>(run: (call: WriteCall) => Promise<Result>, end?: End, lockMs?: number): Promise<Result> =>
    writeQueue.run(queued, () =>
      inTransaction(database, (db) => run({ db, request, written: [] }), { signal, remainingMs, lockMs }, end),
    );
  if (!request.validateOnly) return transact((call) => writeOnce(call, write, stored));
  const field = request.answer.fields.find(({ message }) => message === AccessPreviewSchema);
  if (field === undefined) return transact(write, "rollback");
  const writeAndTell = async (call: WriteCall, tell: TellPreview): Promise<Answer | undefined> => {
    const answer = await write(call);
    const preview = await tell(call.written);
    return preview && Object.assign(answer, { [field.localName]: preview });
  };
  return previewInTurn(previewQueue, queued, request, (lockMs) =>
    previewAccess(caller, signal(), (tell) => transact((call) => writeAndTell(call, tell), "rollback", lockMs)),
  );
}

/**
 * Runs a write in the transaction of another one, which commits it, and has its request id and its turn.
 *
 * @throws Error when it is of another org, whose lock that transaction does not have.
 */
function writeJoined<Answer>(
  { group, written }: JoinedWrite,
  request: WriteRequest,
  write: (call: WriteCall) => Promise<Answer>,
): Promise<Answer> {
  const { org, requestId, validateOnly } = request;
  if (org?.by !== "id" || org.value !== group.org.id || requestId !== "" || validateOnly)
    throw new Error("a write joins another one only with the id of its org, and without options of its own");
  // What the writes before it have changed is read again.
  group.calledAt = performance.now();
  return write({ db: group.db, group, request, written });
}

/** @throws RequestIdInUse in a group. */
async function writeOnce<Answer extends Message>(
  call: WriteCall,
  write: (call: WriteCall) => Promise<Answer>,
  stored: (answer: Answer) => Message,
): Promise<Answer> {
  const { request } = call;
  if (request.requestId === "") return write(call);
  await lockRequestId(call);
  const { before, now } = await findAnswer(call);
  // The fingerprint has the method.
  if (before !== undefined) return before as Answer;
  const answer = await write(call);
  keepAnswer(call, stored(answer), now);
  return answer;
}

/** Locks a request id until the transaction ends, so that repeated requests wait for it. */
async function lockRequestId({ db, group, request: { caller, requestId } }: WriteCall): Promise<void> {
  const key = sql`hashtextextended(${`${caller.memberId} ${requestId}`}, 0)`;
  if (group === undefined) {
    // Before any other lock.
    db.readWithNext(sql`select pg_advisory_xact_lock(${key})`.compile(db));
    return;
  }
  // The group holds the lock of its org. Writes that wait for it may already have locked their request ids.
  const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_xact_lock(${key}) as locked`.execute(db);
  if (rows[0]?.locked !== true) throw new RequestIdInUse();
}

/** Finds the answer to a request that this one repeats, and reads the clock of the database. */
async function findAnswer({
  db,
  request: { caller, requestId, fingerprint, answer },
}: WriteCall): Promise<{ readonly before: Message | undefined; readonly now: number }> {
  const row = await db
    .selectFrom(sql<{ now: number }>`(select ${clockMs} as now)`.as("clock"))
    .leftJoin("write_requests", (join) =>
      join
        .on("customer_id", "=", caller.customerId)
        .on("org_id", "=", caller.orgId)
        .on("actor_id", "=", caller.memberId)
        .on("request_id", "=", requestId),
    )
    .select(["fingerprint", "answer", "create_time", "now"])
    .executeTakeFirstOrThrow();
  const { now } = row;
  if (row.answer === null || row.fingerprint === null || row.create_time === null) return { before: undefined, now };
  if (row.create_time.getTime() <= now - keptAnswerMs) return { before: undefined, now };
  if (fingerprint().equals(row.fingerprint)) return { before: fromBinary(answer, row.answer), now };
  throw invalidField("request_id", "was already used for another request; each request needs its own id", "request_id");
}

/** Keeps an answer, with the next statement. */
function keepAnswer(
  { db, request: { caller, requestId, fingerprint, answer: desc } }: WriteCall,
  answer: Message,
  now: number,
): void {
  const values = {
    fingerprint: fingerprint(),
    answer: Buffer.from(toBinary(desc, answer)),
    create_time: new Date(now),
  };
  const insert = db
    .insertInto("write_requests")
    .values({
      customer_id: caller.customerId,
      org_id: caller.orgId,
      actor_id: caller.memberId,
      request_id: requestId,
      ...values,
    })
    .onConflict((conflict) => conflict.constraint("write_requests_pkey").doUpdateSet(values));
  db.sendWithNext(insert.compile());
}

/**
 * Returns a hash of a request without its id. The order of map entries and the leading slash of paths do not matter. It is not a hash
 * of the JSON or binary form, because these reject some messages, such as one with an invalid field mask.
 */
export function fingerprintOf(method: string, desc: DescMessage, request: Message): Buffer {
  const canonical = JSON.stringify([method, toCanonical({ ...request, requestId: "" }, desc)]);
  return createHash("sha256").update(canonical).digest();
}

/** @param desc of the message, or of those in the list or map; undefined for another value. */
function toCanonical(value: unknown, desc: DescMessage | undefined): unknown {
  if (typeof value === "bigint") return { bigint: String(value) };
  if (typeof value === "number") return String(value);
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => toCanonical(item, desc));
  // Unset fields are left out, so that a newer version with more fields computes the same fingerprint.
  const fields = "$typeName" in value ? desc?.field : undefined;
  const entries = Object.entries(value).filter(
    ([key, item]) => !("$typeName" in value) || !isUnset(item, fields?.[key]),
  );
  return entries
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, item]) => [
      key,
      toCanonical(withoutSlash(item, fields?.[key]), fields === undefined ? desc : fields[key]?.message),
    ]);
}

/** Returns the value of a field, without the leading slash if it is a path or a list of paths. */
function withoutSlash(value: unknown, field: DescField | undefined): unknown {
  if (field === undefined || !/(?:^|_)paths?$/.test(field.name)) return value;
  if (Array.isArray(value)) return value.map((item) => withoutSlash(item, field));
  return typeof value === "string" && value.startsWith("/") ? value.slice(1) : value;
}

/** Whether a message field is unset, or has its default value and means the same then. */
function isUnset(value: unknown, field: DescField | undefined): boolean {
  if (value === undefined) return true;
  if (field?.presence === FeatureSet_FieldPresence.EXPLICIT) return false;
  if (value === "" || value === 0 || value === 0n || value === false) return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

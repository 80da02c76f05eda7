// Whether a change shows what its proof has: the message is made once more, of what is proved alone, by the function that makes it for callers.
import { type JsonObject, fromJson, toJson } from "@bufbuild/protobuf";
import { type Change, ChangeSchema } from "../../../gen/iam/v1alpha/change_pb.ts";
import { canonicalJson } from "../../changes/canonical-json.ts";
import type { Proof } from "../../changes/entry-proof.ts";
import { type OfFields, type Recorded, committedFields } from "../../changes/entry-record.ts";
import { eraseMethods } from "../../changes/erase-from-log.ts";
import type { LoggedMessage } from "./logged-messages.ts";
import { nameless, originless, toChange } from "./message.ts";
import type { ChangeRow } from "./store.ts";

/** What a record is, once it is read. */
type ReadRecord = Omit<Recorded, "end_time" | "org_id" | "customer_id"> &
  OfFields<string> & {
    readonly end_time: string | null;
    readonly org_id: string | null;
    /** In the log of a customer, which has no org. */
    readonly customer_id?: string;
  };

/** Those that are not of the entry. */
const ownFields: ReadonlySet<string> = new Set(["proof", "withheld_fields", "erased_fields"]);

/**
 * Returns the problems of a change with the view `PROVED` whose texts are those of its record.
 *
 * @param shown the change in JSON, as it was exported.
 */
export function compareProof(shown: JsonObject, proof: Proof, loggedMessage: LoggedMessage): string[] {
  let change: Change;
  try {
    // Nothing proves a field that there is not.
    change = fromJson(ChangeSchema, shown);
  } catch (error) {
    return [`it is no change: ${error instanceof Error ? error.message : "it is damaged"}`];
  }
  const record = JSON.parse(proof.record) as ReadRecord;
  const all = { resource: true, origin: true, states: true, proof: false };
  const [found, proved] = [change, toChange(rowOf(record, proof), all, loggedMessage)].map(
    (each) => toJson(ChangeSchema, each, { useProtoFieldName: true }) as JsonObject,
  ) as [JsonObject, JsonObject];
  const names = Object.keys({ ...proved, ...found }).filter((name) => !ownFields.has(name));
  return [
    ...names
      .filter((name) => canonicalJson(found[name]) !== canonicalJson(proved[name]))
      .map((name) => `its ${name} is not what is proved`),
    ...missing(change, record, proof),
  ];
}

/** Each field of a record is either proved or said to be missing. */
function missing({ withheldFields, erasedFields }: Change, record: ReadRecord, { texts }: Proof): string[] {
  const named = new Set([...withheldFields, ...erasedFields]);
  return committedFields.flatMap((field) => {
    const isMissing = record[field] !== null && texts[field] === undefined;
    if (isMissing === named.has(field)) return [];
    return isMissing
      ? [`its ${field} is missing, and not said to be withheld or erased`]
      : [`its ${field} is said to be withheld or erased, and is not missing`];
  });
}

/** Returns the entry, as far as it is proved. */
function rowOf(record: ReadRecord, { texts }: Proof): ChangeRow {
  const read = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
  const { end_time: endTime, time, customer_id: customerId = "" } = record;
  return {
    ...record,
    org_id: record.org_id ?? customerId,
    customer_id: customerId,
    ...nameless,
    ...originless,
    ...(read(texts.origin) as Partial<typeof originless>),
    org_delete_time: null,
    actor_delete_time: null,
    impersonator_delete_time: null,
    resource_path: (read(texts.resource_path) as string | undefined) ?? "",
    before: (read(texts.before) as object | undefined) ?? null,
    after: (read(texts.after) as object | undefined) ?? null,
    time: new Date(time),
    time_text: time,
    end_time: endTime === null ? null : new Date(endTime),
    type: typeOf(record),
    hash: null,
    salt: null,
    erased: null,
    is_left_out: false,
  };
}

function typeOf(record: ReadRecord): ChangeRow["type"] {
  const { method, resource_type: type, end_time: endTime, before, after } = record;
  if (eraseMethods.includes(method)) return "ERASED";
  if (type === "ChangeLog" || type === "SupportAccess") return "READ";
  if (endTime !== null) return "EXPIRED";
  if (before === null) return "CREATED";
  return after === null ? "DELETED" : "UPDATED";
}

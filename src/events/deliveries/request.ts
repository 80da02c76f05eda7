// What is sent: the body and the headers of a request, in each format, and its signature.
import { toJsonString } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import packageJson from "../../../package.json" with { type: "json" };
import { type Change, ChangeSchema, Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import { type OrgKey, isLogOfCustomer } from "../../database/org-key.ts";
import type { Webhooks } from "../../database/webhook-tables.ts";
import { type SigningKey, signatureWith } from "../webhooks/signing-key.ts";

/** The body of a request, which is the same at each try for a receiver who may see the same. */
export interface Content {
  /** The `webhook-id`, the same at each try. */
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A Change, and how it is written in JSON. */
export interface Written {
  readonly change: Change;
  readonly line: string;
}

type Place = Pick<Change, "revision" | "position">;

/** Returns the id of a Change, which no other one of any org has. It has no dot, which separates it from the rest of what is signed. */
const idOf = ({ revision, position }: Place): string => `${revision}-${position}`;

/** Returns the id of the request that has these Changes. */
export function messageId(changes: readonly [Place, ...Place[]]): string {
  const [first, last] = [changes[0], changes.at(-1) ?? changes[0]];
  return first === last ? idOf(first) : `${idOf(first)}_${idOf(last)}`;
}

export const write = (change: Change): Written => ({
  change,
  line: toJsonString(ChangeSchema, change, { useProtoFieldName: true }),
});

/** @param log which is the source of CloudEvents. */
export function contentOf(
  format: Webhooks["format"],
  log: OrgKey,
  [first, ...others]: readonly [Written, ...Written[]],
): Content {
  const { change, line } = first;
  const id = messageId([change, ...others.map((each) => each.change)]);
  const event = { id, log, type: typeOf(change), time: timeOf(change) };
  switch (format) {
    case "STANDARD":
      return { id, body: standardBody(event, line), headers: json };
    case "CLOUDEVENTS":
      return { id, body: line, headers: { ...cloudEvent(event), "ce-subject": encodeHeader(change.resourcePath) } };
    case "NDJSON_BATCH":
      return { id, body: [first, ...others].map((each) => `${each.line}\n`).join(""), headers: lines };
  }
}

/** Returns what `:test` sends. */
export function testContent(format: Webhooks["format"], log: OrgKey, id: string, time: Date): Content {
  const event = { id, log, type: "webhook.test", time: time.toISOString() };
  const text = standardBody(event, "{}");
  switch (format) {
    case "STANDARD":
      return { id, body: text, headers: json };
    case "CLOUDEVENTS":
      return { id, body: "{}", headers: cloudEvent(event) };
    case "NDJSON_BATCH":
      return { id, body: `${text}\n`, headers: lines };
  }
}

const json = { "content-type": "application/json" };
const lines = { "content-type": "application/x-ndjson" };

/** What each format says of an event. */
interface Event {
  readonly id: string;
  readonly log: OrgKey;
  readonly type: string;
  readonly time: string;
}

/** @param data in JSON. */
const standardBody = ({ type, time }: Event, data: string): string =>
  `{"type":${JSON.stringify(type)},"timestamp":"${time}","data":${data}}`;

const cloudEvent = ({ id, log, type, time }: Event) => ({
  ...json,
  "ce-specversion": "1.0",
  "ce-id": id,
  "ce-source": `/${isLogOfCustomer(log) ? "customers" : "orgs"}/@${log.id}/changes`,
  "ce-type": `dev.tenantry.${type}`,
  "ce-time": time,
});

/**
 * Returns all headers of a request.
 *
 * @param keys with which it is signed, each for itself.
 * @param head the end of the log, which is signed by itself.
 */
export function headersOf(
  { id, body, headers }: Content,
  keys: readonly SigningKey[],
  time: Date,
  head?: string,
): Record<string, string> {
  const timestamp = String(Math.floor(time.getTime() / 1000));
  const signatures = keys.map((key) => signatureWith(key, `${id}.${timestamp}.${body}`));
  return {
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": `tenantry/${packageJson.version}`,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
    ...(head !== undefined && { "tenantry-log-head": head }),
  };
}

/** Returns the type of an event: `api_key.created`. */
function typeOf({ resourceType, type }: Change): string {
  const noun = resourceType.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_");
  return `${noun}.${typeNames.get(type) ?? ""}`.toLowerCase();
}

const typeNames = new Map<Change_Type, string>(Object.entries(Change_Type).map(([name, type]) => [type, name]));

const timeOf = ({ time }: Change): string => (time === undefined ? "" : timestampDate(time).toISOString());

/** Encodes a value of CloudEvents for a header (HTTP Protocol Binding for CloudEvents 1.0, 3.1.3.2). */
const encodeHeader = (text: string): string =>
  text.replaceAll(/[^\x21\x23\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character).replace(/^"$/, "%22"));

// What is sent: the body and the headers of a request, in each format, and its signature.
import { createHmac } from "node:crypto";
import { toJsonString } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import packageJson from "../../../package.json" with { type: "json" };
import { type Change, ChangeSchema, Change_Type } from "../../../gen/iam/v1alpha/change_pb.ts";
import type { Webhooks } from "../../database/webhook-tables.ts";

/** The body of a request, which is the same at each try for a receiver who may see the same. */
export interface Content {
  /** The `webhook-id`, the same at each try. */
  readonly id: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

type Place = Pick<Change, "revision" | "position">;

/** Returns the id of a Change, which no other one of any org has. It has no dot, which separates it from the rest of what is signed. */
const idOf = ({ revision, position }: Place): string => `${revision}-${position}`;

/** Returns the id of the request that has these Changes. */
export function messageId(changes: readonly [Place, ...Place[]]): string {
  const [first, last] = [changes[0], changes.at(-1) ?? changes[0]];
  return first === last ? idOf(first) : `${idOf(first)}_${idOf(last)}`;
}

export const toLine = (change: Change): string => toJsonString(ChangeSchema, change, { useProtoFieldName: true });

/** @param orgId of the log, which is the source of CloudEvents. */
export function contentOf(format: Webhooks["format"], orgId: string, changes: readonly [Change, ...Change[]]): Content {
  const id = messageId(changes);
  const [change] = changes;
  switch (format) {
    case "STANDARD": {
      const timestamp = timeOf(change);
      const body = `{"type":${JSON.stringify(typeOf(change))},"timestamp":"${timestamp}","data":${toLine(change)}}`;
      return { id, body, headers: json };
    }
    case "CLOUDEVENTS":
      return {
        id,
        body: toLine(change),
        headers: {
          ...json,
          "ce-specversion": "1.0",
          "ce-id": id,
          "ce-source": `/orgs/@${orgId}/changes`,
          "ce-type": `dev.tenantry.${typeOf(change)}`,
          "ce-time": timeOf(change),
          "ce-subject": encodeHeader(change.resourcePath),
        },
      };
    case "NDJSON_BATCH":
      return {
        id,
        body: changes.map((each) => `${toLine(each)}\n`).join(""),
        headers: { "content-type": "application/x-ndjson" },
      };
  }
}

/** Returns what `:test` sends. */
export function testContent(format: Webhooks["format"], orgId: string, id: string, time: Date): Content {
  const timestamp = time.toISOString();
  const type = "webhook.test";
  const ofEvent = {
    "ce-specversion": "1.0",
    "ce-id": id,
    "ce-source": `/orgs/@${orgId}/changes`,
    "ce-type": `dev.tenantry.${type}`,
    "ce-time": timestamp,
  };
  const text = JSON.stringify({ type, timestamp, data: {} });
  switch (format) {
    case "STANDARD":
      return { id, body: text, headers: json };
    case "CLOUDEVENTS":
      return { id, body: "{}", headers: { ...json, ...ofEvent } };
    case "NDJSON_BATCH":
      return { id, body: `${text}\n`, headers: { "content-type": "application/x-ndjson" } };
  }
}

const json = { "content-type": "application/json" };

/** Returns all headers of a request. @param secrets the keys with which it is signed, each for itself. */
export function headersOf(
  { id, body, headers }: Content,
  secrets: readonly Buffer[],
  time: Date,
): Record<string, string> {
  const timestamp = String(Math.floor(time.getTime() / 1000));
  const signatures = secrets.map((key) => `v1,${sign(key, `${id}.${timestamp}.${body}`)}`);
  return {
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": `tenantry/${packageJson.version}`,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

const sign = (key: Buffer, text: string): string => createHmac("sha256", key).update(text).digest("base64");

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

import type { Field } from "./contract.ts";

const text = (name: string, help: string): Field => ({ name, type: "string", help });
const flag = (name: string, help: string): Field => ({ name, type: "boolean", help });

/** The fields of requests that mean the same in all methods. */
export const sharedFields: Readonly<Record<string, Field>> = {
  filter: text("filter", "List only what matches, such as 'state = ACTIVE'"),
  order_by: text("order_by", "Sort by fields, such as 'create_time desc'"),
  page_size: { name: "page_size", type: "integer", help: "How many to read with each call" },
  page_token: text("page_token", "Where to continue a list"),
  show_deleted: flag("show_deleted", "List also what is deleted"),
  update_mask: text("update_mask", "Which fields to change; those that are given if left out"),
  allow_missing: flag("allow_missing", "Do not fail if it does not exist"),
  validate_only: flag("validate_only", "Say what would happen, and change nothing"),
  request_id: text("request_id", "A UUID that makes a retry safe; one is made for each call"),
  as_of_revision: text("as_of_revision", "Answer as of this revision of the org"),
  as_of_time: { name: "as_of_time", type: "time", help: "Answer as of this time" },
  etag: text("etag", "Fail if it has changed since it was read with this etag"),
};

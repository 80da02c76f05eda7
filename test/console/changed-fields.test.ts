import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { changedFields } from "../../console/src/calls/changed-fields.ts";
import { WebhookSchema, Webhook_Format } from "../../gen/iam/v1alpha/webhook_pb.ts";

const fields = ["display_name", "description", "url", "format", "hold_retention"];
const before = create(WebhookSchema, {
  displayName: "Audit",
  description: "Keeps all",
  url: "https://hooks.example.com/",
  format: Webhook_Format.STANDARD,
});

test("only fields with another value are changed, also those that are emptied", () => {
  const after = { displayName: "Audit", description: "", url: "https://hooks.example.com/", holdRetention: true };
  const named = (format: Webhook_Format) => changedFields(WebhookSchema, before, { ...after, format }, fields);
  expect(named(Webhook_Format.STANDARD)).toEqual(["description", "hold_retention"]);
  expect(named(Webhook_Format.NDJSON_BATCH)).toEqual(["description", "format", "hold_retention"]);
});

test("a field that a form does not have is never changed", () => {
  expect(changedFields(WebhookSchema, before, {}, ["description"])).toEqual(["description"]);
});

test("labels in another order are the same", () => {
  const labelled = create(WebhookSchema, { labels: { env: "dev", tier: "2" } });
  const named = (labels: Record<string, string>) => changedFields(WebhookSchema, labelled, { labels }, ["labels"]);
  expect(named({ tier: "2", env: "dev" })).toEqual([]);
  expect(named({ tier: "2", env: "live" })).toEqual(["labels"]);
});

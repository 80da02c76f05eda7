// Webhooks in the file of an org: without their secrets, and delivering for whoever applied them.
import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Webhook_State as State } from "../../gen/iam/v1alpha/webhook_pb.ts";
import { type WebhookPlace, onlyGroups, openWebhookPlace, pathsOf } from "../events/webhooks/place.ts";
import { startReceiver } from "../events/webhooks/receiver.ts";
import { failureOf } from "../support/failure.ts";
import { type Files, all, filesOf } from "./files.ts";

let place: WebhookPlace;
let files: Files;

beforeAll(async () => {
  place = await openWebhookPlace();
  files = filesOf(place.company.org.path, place.server.url, place.owner.key, "gRPC");
});
afterAll(() => place.close());

/** The org as it is, with these webhooks. */
async function fileWith(...webhooks: JsonObject[]): Promise<JsonObject> {
  return { ...(await files.export()), webhooks };
}

test("a webhook of a file delivers what follows, and goes with its line", async () => {
  const { owner, company } = place;
  const receiver = await startReceiver();
  const hook = { name: "audit", url: receiver.url, filter: onlyGroups, labels: { team: "sec" } };
  expect((await files.plan(await fileWith(hook))).lines).toEqual(["CREATE webhooks/audit"]);
  await files.apply(await fileWith(hook));
  expect((await files.export())["webhooks"]).toEqual([hook]);
  const [path] = await place.createGroups(1);
  await expect.poll(() => pathsOf(receiver.received)).toEqual([path]);
  const { memberPath, secret } = await owner.webhooks.getWebhook({ path: `${company.org.path}/webhooks/audit` });
  const { id } = await owner.members.getMember({ path: owner.path });
  expect(memberPath.endsWith(`/@${id}`)).toBe(true);
  expect(secret).toBeUndefined();

  const second = await startReceiver();
  const moved = { ...hook, url: second.url, format: "NDJSON_BATCH", hold_retention: true };
  expect((await files.plan(await fileWith(moved))).lines).toEqual(["UPDATE webhooks/audit url format hold_retention"]);
  await files.apply(await fileWith(moved));
  expect((await files.export())["webhooks"]).toEqual([moved]);
  const without = await fileWith();
  expect((await files.plan(without, all)).lines).toEqual(["DELETE webhooks/audit"]);
  await files.apply(without, all);
  expect((await files.export())["webhooks"]).toBeUndefined();
});

test("what is the standard is left out, and a pause is not undone by a file", async () => {
  const { owner, company } = place;
  const { url } = await startReceiver();
  const said = { name: "said", url, format: "STANDARD", signature: "HMAC_SHA256" };
  await files.apply(await fileWith(said));
  const path = `${company.org.path}/webhooks/said`;
  await owner.webhooks.pauseWebhook({ path });
  expect((await files.export())["webhooks"]).toEqual([{ name: "said", url }]);
  expect((await files.plan(await fileWith(said))).lines).toEqual([]);
  await files.apply(await fileWith({ ...said, description: "Still." }));
  expect(await owner.webhooks.getWebhook({ path })).toMatchObject({ state: State.PAUSED, description: "Still." });
  const signed = await failureOf(files.plan(await fileWith({ ...said, signature: "ED25519" })));
  expect(signed.fields).toEqual([expect.stringMatching(/^org_file\.webhooks\[0\]\.signature$/)]);
});

test("an address that the service does not deliver to is refused, and nothing is changed", async () => {
  const before = await files.export();
  const inside = { name: "inside", url: "http://10.0.0.1/" };
  const failure = await failureOf(files.apply({ ...before, groups: ["new-one"], webhooks: [inside] }));
  expect(failure.message).toContain("create webhooks/inside");
  expect(await files.export()).toEqual(before);
});

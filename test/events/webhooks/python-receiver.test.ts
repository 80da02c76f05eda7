// Delivers to examples/receiver.py, which verifies signatures with nothing but Python.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Webhook_Format, Webhook_Signature, WebhookDelivery_State } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { type WebhookPlace, openWebhookPlace } from "./place.ts";
import { hasPython, startPython } from "./python.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

const { STANDARD, CLOUDEVENTS, NDJSON_BATCH } = Webhook_Format;
const { HMAC_SHA256, ED25519 } = Webhook_Signature;

test.skipIf(!hasPython).each([
  [STANDARD, HMAC_SHA256],
  [CLOUDEVENTS, HMAC_SHA256],
  [NDJSON_BATCH, HMAC_SHA256],
  [STANDARD, ED25519],
])("format %i with the signature %i is received, each change once and in order", async (format, signature) => {
  const { owner } = place;
  const created = await place.createWebhook({ url: "http://127.0.0.1:1/" }, { format, signature });
  const { path, secret = created.publicKey } = created;
  const receiver = await startPython("receiver.py", secret);
  await owner.webhooks.updateWebhook({ path, webhook: { url: receiver.url } });
  expect(await owner.webhooks.testWebhook({ path })).toMatchObject({ statusCode: 204 });
  const paths = await place.createGroups(2);
  const printed = (): unknown[] =>
    receiver.lines().map((line) => (JSON.parse(line) as { resource_path: string }).resource_path);
  await expect.poll(printed).toEqual(paths);
  // With another secret, it refuses what comes.
  await owner.webhooks.rotateWebhook({ path, overlap: { seconds: 0n } });
  const refused = await owner.webhooks.testWebhook({ path });
  expect(refused).toMatchObject({ state: WebhookDelivery_State.FAILED, statusCode: 401 });
});

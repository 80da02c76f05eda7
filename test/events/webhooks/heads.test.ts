// Tests the signed end of the log that goes out with each request.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Change_View } from "../../../gen/iam/v1alpha/change_pb.ts";
import { Webhook_Format } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { readHead } from "../../../src/changes/signed-head.ts";
import { required } from "../../../src/errors/required.ts";
import { type WebhookPlace, openWebhookPlace } from "./place.ts";
import { type Received, answerWith, accept, startReceiver } from "./receiver.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

const jwsOf = ({ headers }: Received): string => String(headers["tenantry-log-head"]);

test("each request has the end of the log, signed by a published key, once a minute for all of an org", async () => {
  const { company, owner, server } = place;
  const failing = await startReceiver(answerWith(500));
  const receiver = await startReceiver();
  const first = await place.createWebhook(failing, { format: Webhook_Format.CLOUDEVENTS });
  await place.createWebhook(receiver);
  await place.createGroups(2);
  await expect.poll(() => receiver.received.length).toBe(2);
  await expect.poll(() => failing.received.length).toBe(1);
  failing.answer = accept;
  await place.passWait(first);
  await expect.poll(() => failing.received.length).toBe(3);
  const heads = new Set([...receiver.received, ...failing.received].map(jwsOf));
  expect(heads.size).toBe(1);
  const keys = await (await fetch(`${server.url}/.well-known/log-keys.json`)).json();
  const head = await readHead(required([...heads][0]), keys as Parameters<typeof readHead>[1]);
  expect(head).toMatchObject({ logId: company.org.id, isOfCustomer: false });
  const { changes } = await owner.changes.listChanges({ parentPath: company.org.path, view: Change_View.PROVED });
  expect(changes.find(({ revision }) => revision === head.revision)?.proof?.hash).toBe(head.hash);
});

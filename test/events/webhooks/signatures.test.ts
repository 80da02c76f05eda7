// Tests webhooks that sign with a key of their own (Ed25519, `v1a` of Standard Webhooks). The package standardwebhooks knows `v1` only, so
// Node.js verifies here, and Python in python-receiver.test.ts.
import { createPublicKey, verify } from "node:crypto";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Webhook_Signature } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { required } from "../../../src/errors/required.ts";
import { type WebhookPlace, openWebhookPlace } from "./place.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

const { ED25519, HMAC_SHA256 } = Webhook_Signature;

/** The signatures of a request that hold, by the keys `whpk_...`, and the versions of all. */
function verified({ headers, body }: Received, publicKeys: readonly string[]) {
  const signed = Buffer.from(`${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`);
  const signatures = String(headers["webhook-signature"])
    .split(" ")
    .map((each) => each.split(","));
  const keys = publicKeys.map((text) => {
    const x = Buffer.from(text.replace("whpk_", ""), "base64").toString("base64url");
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  });
  return {
    versions: signatures.map(([version]) => version),
    keys: publicKeys.filter((_, index) =>
      signatures.some(
        ([version, value = ""]) =>
          version === "v1a" && verify(null, signed, required(keys[index]), Buffer.from(value, "base64")),
      ),
    ),
  };
}

async function send(receiver: Receiver): Promise<Received> {
  const { length } = receiver.received;
  await place.createGroups(1);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(length);
  return required(receiver.received.at(-1));
}

test("receivers verify with the public key, which everybody who reads the webhook sees, and no secret is shown", async () => {
  const receiver = await startReceiver();
  const created = await place.createWebhook(receiver, { signature: ED25519 });
  expect(created).toMatchObject({ signature: ED25519, publicKey: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/) });
  expect([created.secret, created.previousPublicKey]).toEqual([undefined, ""]);
  expect(await place.owner.webhooks.getWebhook({ path: created.path })).toEqual(created);
  const received = await send(receiver);
  expect(verified(received, [created.publicKey])).toEqual({ versions: ["v1a"], keys: [created.publicKey] });
  const changed = { ...received, body: `${received.body} ` };
  expect(verified(changed, [created.publicKey]).keys).toEqual([]);
  const other = await place.createWebhook(receiver, { signature: ED25519 });
  expect(verified(received, [other.publicKey]).keys).toEqual([]);
});

test("with keys that are rotated, requests are signed with both until the old one ends", async () => {
  const receiver = await startReceiver();
  const { path, publicKey: first } = await place.createWebhook(receiver, { signature: ED25519 });
  const { publicKey: second, previousPublicKey } = await place.owner.webhooks.rotateWebhook({ path });
  expect(previousPublicKey).toBe(first);
  expect(verified(await send(receiver), [first, second])).toEqual({ versions: ["v1a", "v1a"], keys: [first, second] });
  await place.owner.webhooks.rotateWebhook({ path, overlap: { seconds: 0n } });
  expect(verified(await send(receiver), [first, second])).toEqual({ versions: ["v1a"], keys: [] });
});

test("a rotation changes from one kind of signature to the other, and an update does not", async () => {
  const receiver = await startReceiver();
  const { path, secret = "" } = await place.createWebhook(receiver);
  const change = { path, webhook: { signature: ED25519 } };
  await expect(place.owner.webhooks.updateWebhook(change)).rejects.toThrow("webhook.signature");
  const rotated = await place.owner.webhooks.rotateWebhook({ path, signature: ED25519 });
  expect([rotated.signature, rotated.secret]).toEqual([ED25519, undefined]);
  const received = await send(receiver);
  expect(verified(received, [rotated.publicKey])).toEqual({ versions: ["v1a", "v1"], keys: [rotated.publicKey] });
  new StandardWebhook(secret).verify(received.body, received.headers as Record<string, string>);
  const back = await place.owner.webhooks.rotateWebhook({ path, signature: HMAC_SHA256, overlap: { seconds: 0n } });
  expect([back.signature, back.publicKey]).toEqual([HMAC_SHA256, ""]);
  const last = await send(receiver);
  expect(verified(last, []).versions).toEqual(["v1"]);
  new StandardWebhook(back.secret ?? "").verify(last.body, last.headers as Record<string, string>);
});

test("what a server of an earlier version has rotated, which knows no public keys, signs as what it is", async () => {
  const { owner, sql } = place;
  const receiver = await startReceiver();
  const pair = await place.createWebhook(receiver, { signature: ED25519 });
  await owner.webhooks.rotateWebhook({ path: pair.path });
  await sql.query("update webhooks set previous_public_key = null where id = $1", [pair.id]);
  expect(verified(await send(receiver), [pair.publicKey])).toEqual({
    versions: ["v1a", "v1a"],
    keys: [pair.publicKey],
  });
  await owner.webhooks.deleteWebhook({ path: pair.path });
  const { id, secret = "" } = await place.createWebhook(receiver);
  await sql.query("update webhooks set public_key = sealed_secret where id = $1", [id]);
  const { body, headers } = await send(receiver);
  new StandardWebhook(secret).verify(body, headers as Record<string, string>);
});

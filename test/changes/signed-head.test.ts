import { exportJWK, generateKeyPair } from "jose";
import { expect, test } from "vitest";
import { createSignHead, readHead } from "../../src/changes/signed-head.ts";

const end = {
  logId: "01980f5e-7c1a-7b3e-9c55-3f0f6e1d2a4b",
  isOfCustomer: false,
  revision: "00000000-0000-0732-9f3c-5b21c7e40d18",
  time: "2029-12-31T23:59:59.000001Z",
  timeline: null,
  chainStart: "00000000-0000-0001-9f3c-5b21c7e40d18",
  hash: "a".repeat(64),
};

test.each([
  ["ES256", false],
  ["RS256", false],
  ["EdDSA", true],
] as const)("a head signed with %s says what was signed, of a customer: %s", async (algorithm, isOfCustomer) => {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const key = { id: "one", algorithm, key: privateKey };
  const jws = await createSignHead(
    () => key,
    () => "https://iam.example.com",
  )({ ...end, isOfCustomer }, 1_893_455_999_999);
  const signed = { ...end, isOfCustomer, issuer: "https://iam.example.com", issuedAt: 1_893_455_999 };
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: "one", alg: algorithm }] };
  expect(await readHead(jws, keys)).toEqual(signed);
  expect(await readHead(jws, undefined)).toEqual(signed);
  await expect(readHead(jws, { keys: [] })).rejects.toThrow("its key one is not among the keys");
  await expect(readHead("no head", keys)).rejects.toThrow("it is no JSON Web Signature");
});

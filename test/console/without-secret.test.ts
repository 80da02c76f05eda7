import { expect, test } from "vitest";
import { withoutSecret } from "../../console/src/app/without-secret.ts";

const prefix = "tenantry_0123456789Ab";
const secret = `${prefix}${"x".repeat(38)}`;

test.each([
  secret,
  `${prefix}…`,
  `TENANTRY_API_KEY=${secret}`,
  `tenantry_api_key: "${secret}"`,
  `Authorization: Bearer ${secret}`,
  `curl -H 'Authorization: Bearer ${secret}' https://iam.example.com`,
  `'${secret}'`,
  `${secret} ${secret}`,
])("of %j only the prefix of the key is sent", (text) => {
  expect(withoutSecret(text)).toBe(prefix);
});

test.each(["", "alice", "tenantry_0123", "https://iam.example.com/console/orgs/tenantry"])("%j is sent", (text) => {
  expect(withoutSecret(text)).toBe(text);
});

import { beforeAll, describe, expect, test } from "vitest";
import { createApiKey, parseApiKey } from "../../src/identity/api-key.ts";
import { createRecentOrgs, findRecentHead } from "../../src/identity/recent-orgs.ts";
import type { Caller } from "../../src/identity/caller.ts";
import type { Installation } from "../../src/identity/installation.ts";
import { openInstallation } from "../../src/installation/open-installation.ts";
import type { MemberRow } from "../../src/iam/members/store.ts";
import type { OrgRow } from "../../src/iam/orgs/store.ts";
import { addApiKey, addMember, addOrg, markDeleted } from "../database/sample-rows.ts";
import { useSharedDatabase } from "../database/shared-database.ts";
import { authenticateKeys } from "./authenticate-keys.ts";
import { rejectionOf } from "../paths/service-failure.ts";
import { required } from "../../src/errors/required.ts";
import { apiKeyChecksum } from "./api-key-checksum.ts";

const database = useSharedDatabase();
const used: Caller[] = [];
let authenticate: (authorization: string | null) => Promise<Caller>;
let installation: Installation;
let operatorKey = "";
const recentOrgs = createRecentOrgs();

beforeAll(async () => {
  installation = await openInstallation(database(), (secret) => {
    operatorKey = secret;
    return Promise.resolve();
  });
  const authenticateFrom = authenticateKeys(database(), recentOrgs, (caller) => used.push(caller));
  authenticate = (authorization) => authenticateFrom(authorization, null);
});

let serial = 0;

interface Issued {
  readonly org: OrgRow;
  readonly member: MemberRow;
  readonly keyId: string;
  readonly secret: string;
}

/** Creates a member with an API key, in a new org. */
async function issueKey(expireTime: Date | null = null): Promise<Issued> {
  serial++;
  const org = await addOrg(database(), `org-${serial}`);
  const member = await addMember(database(), org, "robot");
  const { id, secret } = await addApiKey(database(), org, member, "ci", expireTime);
  return { org, member, keyId: id, secret };
}

const invalid = {
  reason: "TOKEN_INVALID",
  message:
    "the bearer token is not valid: it is mistyped, is of another issuer, has expired, or was deleted or revoked",
};

describe("a caller with a valid key", () => {
  test("is the member of the key, with the revision of the org and the time of the database", async () => {
    const { org, member, keyId, secret } = await issueKey();
    const { revision } = await database()
      .reads.selectFrom("orgs")
      .select("revision")
      .where("id", "=", org.id)
      .executeTakeFirstOrThrow();
    const { time, ...caller } = await authenticate(`Bearer ${secret}`);
    expect(caller).toEqual({
      memberId: member.id,
      orgId: org.id,
      customerId: org.customer_id,
      credentialId: keyId,
      credentialExpireTime: null,
      grantsUntil: null,
      scopes: undefined,
      projectId: undefined,
      allowedAddresses: undefined,
      impersonator: undefined,
      clientId: parseApiKey(secret),
      token: undefined,
      orgHead: { revision, readAt: expect.any(Number) as number },
      recentHeads: [],
    });
    expect(Math.abs(time - Date.now())).toBeLessThan(60_000);
  });

  test("comes with the heads of the orgs that it asked about last, as they are now", async () => {
    const { secret } = await issueKey();
    const names = ["a", "b", "c", "d", "e"].map((letter) => `asked-${letter}`);
    const orgs = await Promise.all(names.map((name) => addOrg(database(), name)));
    for (const { id } of orgs) recentOrgs.add(parseApiKey(secret) ?? "", id);
    await addMember(database(), orgs[1] as OrgRow, "newcomer");
    const now = await database()
      .reads.selectFrom("orgs")
      .select(["name", "revision"])
      .where("name", "in", names)
      .execute();

    const caller = await authenticate(`Bearer ${secret}`);
    const headOf = (value: string) => findRecentHead(caller, { by: "name", value });
    expect(headOf("asked-a")).toBeUndefined();
    for (const name of names.slice(1)) {
      const { revision } = now.find((org) => org.name === name) ?? {};
      expect(headOf(name)).toMatchObject({
        revision,
        now: expect.closeTo(caller.time, -2) as number,
        readAt: caller.orgHead.readAt,
      });
    }
  });

  test("does not find a deleted org by its name, which another may have by now", async () => {
    const { secret } = await issueKey();
    const org = await addOrg(database(), "asked-and-deleted");
    recentOrgs.add(parseApiKey(secret) ?? "", org.id);
    await markDeleted(database(), "orgs", org);
    const caller = await authenticate(`Bearer ${secret}`);
    expect(findRecentHead(caller, { by: "name", value: "asked-and-deleted" })).toBeUndefined();
    expect(findRecentHead(caller, { by: "id", value: org.id })).toMatchObject({ id: org.id });
  });

  test("is authenticated while the org is suspended, because authorization decides on each call", async () => {
    const { org, member, secret } = await issueKey();
    await database().writes.updateTable("orgs").set({ state: "SUSPENDED" }).where("id", "=", org.id).execute();
    expect(await authenticate(`Bearer ${secret}`)).toMatchObject({ memberId: member.id });
  });

  test("is the operator, with the key of the first start", async () => {
    const caller = await authenticate(`Bearer ${operatorKey}`);
    expect(caller).toMatchObject({ memberId: installation.operatorId, orgId: installation.systemOrgId });
  });

  test.each(["bearer", "BEARER", "bEaReR"])("can write the scheme in any case: %s", async (scheme) => {
    const { member, secret } = await issueKey();
    expect(await authenticate(`${scheme} ${secret}`)).toMatchObject({ memberId: member.id });
  });

  test("can add spaces", async () => {
    const { member, secret } = await issueKey();
    expect(await authenticate(`  Bearer    ${secret}  `)).toMatchObject({ memberId: member.id });
  });

  test("is authenticated until the key expires", async () => {
    const { member, secret } = await issueKey(new Date(Date.now() + 60_000));
    expect(await authenticate(`Bearer ${secret}`)).toMatchObject({ memberId: member.id });
  });

  test("is reported once as a use of the key", async () => {
    const { keyId, secret } = await issueKey();
    used.length = 0;
    const caller = await authenticate(`Bearer ${secret}`);
    expect(used).toEqual([caller]);
    expect(caller.credentialId).toBe(keyId);
  });

  test("is distinguished from concurrent callers", async () => {
    const issued = await Promise.all(Array.from({ length: 8 }, () => issueKey()));
    const calls = Array.from({ length: 400 }, (_, index) => issued[index % issued.length] as Issued);
    const callers = await Promise.all(calls.map(({ secret }) => authenticate(`Bearer ${secret}`)));
    expect(callers.map((caller) => caller.credentialId)).toEqual(calls.map(({ keyId }) => keyId));
  });

  test("is not taken for a caller that guesses the secret of its key at the same time", async () => {
    const { keyId, secret } = await issueKey();
    const body = `${secret.slice(0, -7)}${secret.at(-7) === "x" ? "y" : "x"}`;
    const guess = body + apiKeyChecksum(body);
    const [before, caller, after] = await Promise.allSettled(
      [guess, secret, guess].map((text) => authenticate(`Bearer ${text}`)),
    );
    expect(caller).toMatchObject({ status: "fulfilled", value: { credentialId: keyId } });
    for (const refused of [before, after]) expect(refused).toMatchObject({ status: "rejected", reason: invalid });
  });

  test("shares what was read with concurrent calls, and with no later one", async () => {
    const { secret } = await issueKey();
    const [one, other] = await Promise.all([authenticate(`Bearer ${secret}`), authenticate(`Bearer ${secret}`)]);
    expect(other).toBe(one);
    const later = await authenticate(`Bearer ${secret}`);
    expect(later.orgHead.readAt).toBeGreaterThan(required(one).orgHead.readAt);
  });
});

describe("a caller is rejected", () => {
  test("without credentials", async () => {
    expect(await rejectionOf(authenticate(null))).toMatchObject({
      reason: "TOKEN_MISSING",
      message: "the request has no credentials: send Authorization: Bearer <API key or access token>",
    });
  });

  test.each(["", " ", "Bearer", "Bearer ", "Basic b3A6eA==", "Token x", "Bearer a b", "x", "Bearer,x", "Bearer\tx"])(
    "with another scheme or no token: %j",
    async (authorization) => {
      expect(await rejectionOf(authenticate(authorization))).toMatchObject({
        reason: "TOKEN_INVALID",
        message: "the Authorization header must have the form: Bearer <API key or access token>",
      });
    },
  );

  test.each(["x", "tenantry_", "eyJhbGciOiJIUzI1NiJ9.e30.x", "@", "undefined", "\0", "💥", "x".repeat(100_000)])(
    "with a malformed key",
    async (token) => {
      expect(await rejectionOf(authenticate(`Bearer ${token}`))).toMatchObject(invalid);
    },
  );

  test("with a key that was never issued", async () => {
    expect(await rejectionOf(authenticate(`Bearer ${createApiKey().secret}`))).toMatchObject(invalid);
  });

  test("with a typo in the key", async () => {
    const { secret } = await issueKey();
    expect(await rejectionOf(authenticate(`Bearer ${secret.slice(0, -1)}!`))).toMatchObject(invalid);
  });

  test("with the prefix of an existing key, and another secret", async () => {
    const { secret } = await issueKey();
    const body = secret.slice(0, 21) + createApiKey().secret.slice(21, 53);
    const forged = body + apiKeyChecksum(body);
    expect(await rejectionOf(authenticate(`Bearer ${forged}`))).toMatchObject(invalid);
  });

  test("with an expired key", async () => {
    const { secret } = await issueKey(new Date(Date.now() - 1_000));
    expect(await rejectionOf(authenticate(`Bearer ${secret}`))).toMatchObject({
      reason: "TOKEN_INVALID",
      message: "the API key has expired",
    });
  });

  test("with a deleted key", async () => {
    const { keyId, secret } = await issueKey();
    await database().writes.deleteFrom("api_keys").where("id", "=", keyId).execute();
    expect(await rejectionOf(authenticate(`Bearer ${secret}`))).toMatchObject(invalid);
  });

  test.each(["SUSPENDED", "INVITED"] as const)(
    "while the member is %s, and authenticated again afterwards",
    async (state) => {
      const { member, secret } = await issueKey();
      const setState = (value: "ACTIVE" | typeof state) =>
        database()
          .writes.updateTable("members")
          .set({ state: value, invitation_expire_time: value === "INVITED" ? new Date("2100-01-01") : null })
          .where("id", "=", member.id)
          .execute();
      await setState(state);
      expect(await rejectionOf(authenticate(`Bearer ${secret}`))).toMatchObject(invalid);
      await setState("ACTIVE");
      expect(await authenticate(`Bearer ${secret}`)).toMatchObject({ memberId: member.id });
    },
  );

  test("after the member was deleted", async () => {
    const { member, secret } = await issueKey();
    await markDeleted(database(), "members", member);
    expect(await rejectionOf(authenticate(`Bearer ${secret}`))).toMatchObject(invalid);
  });

  test("after the org was deleted", async () => {
    const { org, secret } = await issueKey();
    await markDeleted(database(), "orgs", org);
    expect(await rejectionOf(authenticate(`Bearer ${secret}`))).toMatchObject(invalid);
  });

  test("without reporting a use of the key", async () => {
    const { member, secret } = await issueKey();
    const expired = await issueKey(new Date(Date.now() - 1_000));
    await markDeleted(database(), "members", member);
    used.length = 0;
    await rejectionOf(authenticate(`Bearer ${secret}`));
    await rejectionOf(authenticate(`Bearer ${expired.secret}`));
    expect(used).toEqual([]);
  });
});

// What is not a token of this service, although it looks like one.
import { createHmac, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { type JWK, SignJWT, decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import { readSecretKeys } from "../../../src/installation/secret-keys-file.ts";
import { createSealer } from "../../../src/identity/sealer.ts";
import { uniqueName } from "../../support/api.ts";
import { openSqlClient } from "../../support/sql.ts";
import { issuer } from "../../support/test-server.ts";
import {
  type SharedTokenServers,
  createTokenMember,
  exchangeKey,
  sendForm,
  sharedTokenServers,
  statusWith,
} from "../../support/token-servers.ts";

let place: SharedTokenServers;
let org: string;
let token: string;
/** The header and the claims of that token. */
let header: Record<string, unknown>;
let claims: Record<string, unknown>;
let publicKey: JWK;
/** The service's own private key: some attacks suppose that the service signs what an attacker wants. */
let privateKey: ReturnType<typeof createPrivate>;

const createPrivate = (jwk: object) => ({ key: jwk, format: "jwk" }) as const;

beforeAll(async () => {
  place = await sharedTokenServers();
  org = (await place.api.orgs.createOrg({ org: { name: uniqueName("acme") } })).path;
  const member = await createTokenMember(place.api, org);
  token = await exchangeKey(place.servers[0], member.key);
  header = { ...decodeProtectedHeader(token) };
  claims = { ...decodeJwt(token) };
  const keys = (await (await fetch(`${place.servers[0].url}/.well-known/jwks.json`)).json()) as { keys: JWK[] };
  publicKey = keys.keys.find(({ kid }) => kid === header["kid"]) ?? {};
  const sql = await openSqlClient(place.servers[0].databaseUrl);
  const rows = await sql.query("select sealed_key from signing_keys where id = $1", [header["kid"]]);
  await sql.close();
  const sealer = createSealer((await readSecretKeys("", place.secretKeysFile)).keys);
  const opened = sealer.open("signing key", String(header["kid"]), rows[0]?.["sealed_key"] as Buffer);
  privateKey = createPrivate(JSON.parse(String(opened)) as object);
});

const encode = (value: object | string): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Signs whatever is given with the service's own key. */
function forge(head: object | string, payload: object | string): string {
  const input = `${encode(head)}.${encode(payload)}`;
  const signature = sign("sha256", Buffer.from(input), { ...privateKey, dsaEncoding: "ieee-p1363" } as never);
  return `${input}.${signature.toString("base64url")}`;
}

/** Expects that the API refuses a text, and that introspection knows nothing about it. */
async function expectRefused(text: string): Promise<void> {
  const [server] = place.servers;
  expect(await statusWith(server, text, org)).toBe(401);
  const { body } = await sendForm(server, "introspect", { token: text, client_secret: server.operatorKey });
  expect(body["active"]).toBe(false);
}

test("the service's own key signs what the service accepts, so that the other attacks fail for their own reason", async () => {
  expect(await statusWith(place.servers[0], forge(header, claims), org)).toBe(200);
});

describe("algorithm confusion", () => {
  test.each(["none", "None", "nOnE", ""])("the algorithm %j is refused", async (alg) => {
    await expectRefused(`${encode({ ...header, alg })}.${encode(claims)}.`);
    await expectRefused(`${encode({ ...header, alg })}.${encode(claims)}.${token.split(".")[2]}`);
  });

  test("HS256 with the public key as the secret is refused", async () => {
    const key = createPublicKey({ key: publicKey as never, format: "jwk" });
    const secrets = [
      key.export({ type: "spki", format: "pem" }),
      key.export({ type: "spki", format: "der" }),
      JSON.stringify(publicKey),
    ];
    for (const secret of secrets) {
      const input = `${encode({ ...header, alg: "HS256" })}.${encode(claims)}`;
      await expectRefused(`${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`);
    }
  });

  test("another algorithm, with a key of its own, is refused", async () => {
    const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const input = `${encode({ ...header, alg: "RS256" })}.${encode(claims)}`;
    await expectRefused(`${input}.${sign("sha256", Buffer.from(input), rsa).toString("base64url")}`);
  });
});

describe("key tricks", () => {
  test.each([
    "../../../../dev/null",
    "/etc/passwd",
    "https://attacker.example/jwks.json",
    "' or '1'='1",
    "",
    "00000000-0000-7000-8000-000000000000",
    "__proto__",
    "constructor",
  ])("the key id %j is refused", async (kid) => {
    await expectRefused(forge({ ...header, kid }, claims));
  });

  test("a header without a key id, or with one that is no text, is refused", async () => {
    const { kid, ...rest } = header;
    await expectRefused(forge(rest, claims));
    await expectRefused(forge({ ...rest, kid: [kid] }, claims));
    await expectRefused(forge({ ...rest, kid: { toString: kid } }, claims));
  });

  test("a key in the header, or the address of one, is refused", async () => {
    const own = await generateKeyPair("ES256", { extractable: true });
    const jwk = await exportJWK(own.publicKey);
    const more = { jwk, jku: "https://attacker.example/jwks.json", x5u: "https://attacker.example/x5", x5c: ["AA=="] };
    for (const [name, value] of Object.entries(more)) {
      await expectRefused(
        await new SignJWT(claims).setProtectedHeader({ ...header, [name]: value } as never).sign(own.privateKey),
      );
      await expectRefused(forge({ ...header, [name]: value }, claims));
    }
  });

  test("critical headers are refused", async () => {
    await expectRefused(forge({ ...header, crit: ["exp"], exp: 1 }, claims));
    await expectRefused(forge({ ...header, crit: ["b64"], b64: false }, claims));
  });
});

describe("claims", () => {
  test.each(["exp", "iat", "iss", "aud", "sub", "org", "sid", "jti", "gen"])(
    "a token without %s is refused",
    async (name) => {
      const { [name]: _left, ...rest } = claims;
      await expectRefused(forge(header, rest));
    },
  );

  test.each([
    { iss: "https://iam.example.com/" },
    { iss: "https://attacker.example" },
    { aud: "https://other.example.com" },
    { act: null },
    { act: "somebody" },
    { act: {} },
    { act: { sub: "somebody", gen: "0" } },
    { act: { sub: "01990000-0000-7000-8000-00000000dead", gen: "0" } },
    { allowed_addresses: "0.0.0.0/0" },
    { allowed_addresses: [1] },
    { exchanged_from: null },
    { exchanged_from: "01990000-0000-7000-8000-00000000dead" },
    { exchanged_from: ["somebody"] },
    { exchanged_from: [1] },
    { aud: [issuer, "https://other.example.com"] },
    { aud: [issuer] },
    { exp: 1 },
    { exp: "9999999999" },
    { exp: null },
    { exp: Number.MAX_VALUE },
    { exp: Math.floor(Date.now() / 1_000) + 43_300 },
    { exp: -1 },
    { sub: "01990000-0000-7000-8000-00000000dead" },
    { sub: "x' or '1'='1" },
    { org: "01990000-0000-7000-8000-00000000dead" },
    { gen: "01990000-0000-7000-8000-00000000dead" },
    { gen: null },
    { sid: "" },
    { jti: 1 },
  ])("a token with %j is refused", async (changed) => {
    await expectRefused(forge(header, { ...claims, ...changed }));
  });

  test("a token of another type is refused", async () => {
    for (const typ of ["JWT", "id+jwt", "application/at+jwt", "AT+JWT", undefined]) {
      await expectRefused(forge({ ...header, typ }, claims));
    }
  });

  test.each(["null", "[]", '"text"', "{", "1", ""])("the payload %j is refused", async (payload) => {
    await expectRefused(forge(header, payload));
  });
});

describe("several texts of one token", () => {
  test("with other encodings of its parts are refused", async () => {
    const [head = "", payload = "", signature = ""] = token.split(".");
    const last = signature.at(-1) ?? "";
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const others = [1, 2, 3].map((bits) => alphabet[alphabet.indexOf(last) ^ bits] ?? "");
    for (const other of others) await expectRefused(`${head}.${payload}.${signature.slice(0, -1)}${other}`);
    await expectRefused(`${head}.${payload}.${signature}=`);
    await expectRefused(`${head}=.${payload}.${signature}`);
    await expectRefused(`${head}.${payload}.${signature}.`);
    await expectRefused(`${head}.${payload}.${signature}.${signature}`);
    await expectRefused(`${head}.${payload}`);
  });

  test("with the other signature that ECDSA allows end with it", async () => {
    const [head, payload, signature = ""] = token.split(".");
    const order = BigInt("0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    const bytes = Buffer.from(signature, "base64url");
    const s = BigInt(`0x${bytes.subarray(32).toString("hex")}`);
    const mirrored = Buffer.concat([
      bytes.subarray(0, 32),
      Buffer.from((order - s).toString(16).padStart(64, "0"), "hex"),
    ]);
    const other = `${head}.${payload}.${mirrored.toString("base64url")}`;
    const [server] = place.servers;
    expect(await statusWith(server, other, org)).toBe(200);
    await sendForm(server, "revoke", { token: other });
    for (const each of place.servers) {
      expect(await statusWith(each, other, org)).toBe(401);
      expect(await statusWith(each, token, org)).toBe(401);
    }
  });

  test("that are too long are refused without a look at them", async () => {
    await expectRefused(forge(header, { ...claims, padding: "x".repeat(5_000) }));
  });
});

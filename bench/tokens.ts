// Benchmarks access tokens: a Get and a check with a token compared with the same with an API key, also with 1,000,000 sessions;
// tokens issued and sessions refreshed; and verification in process. Run with `npm run bench:tokens` or
// `npm run bench:tokens -- --seconds 1 --rounds 31`.
//
// The service runs on the first core; the load and PostgreSQL run on the second. Each round runs all cases in turn, and a ratio is
// the median of the ratios of the rounds, so that other load on the machine affects both sides. What 1,000,000 sessions cost is
// the ratio to the API key, which reads no session, before and after they are inserted.
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type CryptoKey, generateKeyPair } from "jose";
import pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { createAccessTokens } from "../src/identity/tokens/access-token.ts";
import { type Figures, median, printTable } from "./figures.ts";
import { type HttpRequest, loadHttp } from "./load-http.ts";
import { pinToCore } from "./pin-to-core.ts";
import { startBench } from "./start-bench.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "0.5" },
    rounds: { type: "string", default: "15" },
    sessions: { type: "string", default: "1000,1000000" },
    connections: { type: "string", default: "128" },
  },
});
const milliseconds = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const connections = Number(values.connections);

/** How many sessions are refreshed at a time. */
const refreshing = 16;

pinToCore(process.pid, 1);
const bench = await startBench();
const sql = new pg.Client({ connectionString: bench.databaseUrl });
await sql.connect();
try {
  const key = await createCaller();
  await measureVerification();
  let inserted = 0;
  for (const count of values.sessions.split(",").map(Number)) {
    await insertSessions(count - inserted);
    inserted = count;
    await measureCalls(key, count);
  }
} finally {
  await sql.end();
  await bench.stop();
}

async function post(path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const headers = { authorization: `Bearer ${bench.key}`, "content-type": "application/json" };
  const response = await fetch(`${bench.url}/iam/v1alpha/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, string>;
}

/** Creates an application that may read the org, and returns its API key. */
async function createCaller(): Promise<string> {
  const { path = "" } = await post("orgs/acme/members", { name: "caller", type: "APPLICATION" });
  await post("orgs/acme/roleBindings", { name: "caller", role_path: "/roles/viewer", subject_path: path });
  const { secret = "" } = await post(`${path.slice(1)}/apiKeys`, { name: "bench" });
  return secret;
}

async function insertSessions(count: number): Promise<void> {
  await sql.query(
    `insert into sessions (customer_id, org_id, member_id, id, client_id, user_agent, expire_time, changed_revision)
      select customer_id, org_id, id, gen_random_uuid(), 'bench', 'bench', now() + interval '30 days', gen_random_uuid()
      from (select customer_id, org_id, id from members where name like 'member-%') as member,
        generate_series(1, $1::int / 1000)`,
    [count],
  );
  await sql.query("vacuum analyze sessions");
}

async function sendForm(form: Record<string, string>): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${bench.url}/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, string>;
}

function exchange(key: string, scope = "*"): Promise<Readonly<Record<string, string>>> {
  return sendForm({ grant_type: "client_credentials", client_secret: key, scope });
}

/** Compares calls with a token and with an API key, in pairs. */
async function measureCalls(key: string, sessions: number): Promise<void> {
  const { access_token: token = "" } = await exchange(key);
  const check = {
    subject_path: "/orgs/acme/members/caller",
    permission: "iam.members.get",
    resource_path: "/orgs/acme",
  };
  const requests = (credential: string): Record<string, HttpRequest> => {
    const headers = { authorization: `Bearer ${credential}` };
    const json = { ...headers, "content-type": "application/json" };
    return {
      Get: { method: "GET", path: `/iam/v1alpha/${bench.get}`, headers },
      check: { method: "POST", path: "/iam/v1alpha/access:check", headers: json, body: JSON.stringify(check) },
    };
  };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ grant_type: "client_credentials", client_secret: key }).toString();
  const issue: HttpRequest = { method: "POST", path: "/oauth2/token", headers: form, body };
  const load = (request: HttpRequest) => (ms: number) => loadHttp(bench.url, request, connections, ms);
  const cases: Record<string, (ms: number) => Promise<number>> = {};
  for (const [name, request] of Object.entries(requests(key))) cases[`${name} with an API key`] = load(request);
  for (const [name, request] of Object.entries(requests(token))) cases[`${name} with a token`] = load(request);
  cases["tokens issued"] = load(issue);
  cases["sessions refreshed"] = await createRefresh(key);
  const samples = new Map(Object.keys(cases).map((name) => [name, [] as Sample[]]));
  for (const run of Object.values(cases)) await run(Math.min(milliseconds, 1500)); // warm up
  for (let round = 0; round < rounds; round++) {
    // The order alternates, so that neither side of a pair is always first.
    const order = round % 2 === 0 ? Object.entries(cases) : Object.entries(cases).toReversed();
    for (const [name, run] of order) samples.get(name)?.push(await sample(run));
  }
  const figuresOf = (of: keyof Sample): Figures[] =>
    Object.keys(cases).map((name) => {
      const spread = (samples.get(name) ?? []).map((each) => each[of]);
      const baseline = samples.get(name.startsWith("check") ? "check with an API key" : "Get with an API key") ?? [];
      const ratio = median(spread.map((rate, at) => rate / (baseline[at]?.[of] ?? 1)));
      return { name, rate: median(spread), ratio, spread };
    });
  const title = `${sessions} sessions, ${connections} connections, ${rounds} rounds of ${values.seconds} s`;
  printTable(title, "requests/s", "of an API key", figuresOf("rate"));
  printTable("by the time of the service's processor", "requests/s", "of an API key", figuresOf("ofProcessor"));
}

interface Sample {
  /** Requests per second. */
  readonly rate: number;
  /** Requests per second of processor time of the service, which other load on the machine affects little. */
  readonly ofProcessor: number;
}

async function sample(run: (ms: number) => Promise<number>): Promise<Sample> {
  const [usedBefore, startedAt] = [await processorSeconds(), performance.now()];
  const rate = await run(milliseconds);
  const count = (rate * (performance.now() - startedAt)) / 1000;
  return { rate, ofProcessor: count / ((await processorSeconds()) - usedBefore) };
}

/** Returns the processor time that the service has used, in seconds. */
async function processorSeconds(): Promise<number> {
  const stat = await readFile(`/proc/${bench.pid}/stat`, "utf8");
  // The name of the process, in brackets, may contain spaces. The 14th and 15th fields are in ticks of 10 ms.
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number);
  return (user + system) / 100;
}

/** Starts sessions and returns the function that refreshes them, each one after the other. */
async function createRefresh(key: string): Promise<(ms: number) => Promise<number>> {
  const started = Array.from({ length: refreshing }, () => exchange(key, "offline_access"));
  const tokens = (await Promise.all(started)).map((answer) => answer["refresh_token"] ?? "");
  return async (ms) => {
    const startedAt = performance.now();
    let count = 0;
    await Promise.all(
      tokens.map(async (_token, at) => {
        while (performance.now() < startedAt + ms) {
          const answer = await sendForm({ grant_type: "refresh_token", refresh_token: tokens[at] ?? "" });
          tokens[at] = answer["refresh_token"] ?? "";
          count++;
        }
      }),
    );
    return count / ((performance.now() - startedAt) / 1000);
  };
}

/** Measures how long the verification of a token takes that was verified before, and of one that was not. */
async function measureVerification(): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const id = uuidv7();
  const key = (cryptoKey: CryptoKey) => ({ id, algorithm: "ES256" as const, key: cryptoKey });
  const keys = {
    signingKey: () => key(privateKey),
    find: () => Promise.resolve(key(publicKey)),
    has: () => true,
  };
  const made = () => createAccessTokens(keys, () => "https://iam.example.com");
  const whole = {
    scopes: undefined,
    projectId: undefined,
    allowedAddresses: undefined,
    clientOrgId: undefined,
    impersonator: undefined,
    exchangedFrom: [],
  };
  const grant = { memberId: id, orgId: id, sessionId: id, clientId: "bench", gen: null, credentialExpireTime: null };
  const tokens = made();
  const texts: string[] = [];
  for (let number = 0; number < 2_000; number++) {
    texts.push((await tokens.issue({ ...grant, ...whole }, Date.now(), 3_600)).text);
  }
  const verifyAll = async (): Promise<number> => {
    const startedAt = performance.now();
    for (const text of texts) await tokens.verify(text);
    return ((performance.now() - startedAt) * 1000) / texts.length;
  };
  const first = await verifyAll();
  const again: number[] = [];
  for (let round = 0; round < 50; round++) again.push(await verifyAll());
  console.log(`verification: ${first.toFixed(1)} µs, ${median(again).toFixed(2)} µs when it was verified before`);
}

// What each kind of credential makes, confirms and widens of the ways to act as a member: the table of docs/security.md, attempt by
// attempt.
import { readFileSync } from "node:fs";
import type { Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { services } from "../../src/rpc/services.ts";
import { createApi } from "../support/api.ts";
import { required } from "../../src/errors/required.ts";
import { failureOf } from "../support/failure.ts";
import { openSqlClient } from "../support/sql.ts";
import { type TestServer, startTestServer } from "../support/test-server.ts";
import { sharedTokenServers } from "../support/token-servers.ts";
import { type Paths, callMethodWhenFree, callsOf, eachOf, unaryMethods } from "./every-call.ts";
import { createEveryPlace } from "./every-place.ts";
import { type Attempt, Refused, attempts } from "./way-attempts.ts";
import { type WayCaller, type WayCast, kinds, openWayCast } from "./way-cast.ts";

type Verdict = "●" | "○" | "·";

interface Row {
  readonly way: string;
  readonly method: string;
  readonly cells: Readonly<Record<string, Verdict>>;
}

const rows = readTable();

function readTable(): Row[] {
  const text = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  const cellsOf = (line = "") =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [, , ...names] = cellsOf(lines[0]);
  return lines.slice(2).flatMap((line) => {
    const [way = "", methods = "", ...cells] = cellsOf(line);
    const verdicts = Object.fromEntries(names.map((name, index) => [name, cells[index] as Verdict]));
    return methods.split(", ").map((method) => ({ way, method, cells: verdicts }));
  });
}

test("the table has a column for each kind of credential, and each method of it is attempted", () => {
  for (const { cells } of rows) expect(Object.keys(cells)).toEqual(Object.keys(kinds));
  const attempted = Object.entries(attempts).flatMap(([way, byMethod]) =>
    Object.keys(byMethod).map((method) => `${way}: ${method}`),
  );
  expect(rows.map(({ way, method }) => `${way}: ${method}`)).toEqual(attempted);
});

/** A lack of permission is no verdict: all members of the cast may call all methods. */
async function refuses(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return false;
  } catch (thrown) {
    if (thrown instanceof Refused) return true;
    const { reason, metadata, message } = await failureOf(call);
    expect(["GRANT_EXCEEDS_OWN", "FIELD_INVALID", "PERMISSION_DENIED"], message).toContain(reason);
    if (reason === "PERMISSION_DENIED") expect(metadata["permission"], message).toBeUndefined();
    return true;
  }
}

async function judge(
  { furthest, within }: Attempt,
  callerOf: () => Promise<WayCaller>,
  cast: WayCast,
): Promise<Verdict> {
  const widest = await Promise.all(
    furthest.map(async (attempt) => {
      const caller = await callerOf();
      let isWithin = false;
      const call = attempt(caller, cast).then((result) => (isWithin = result === "within"));
      if (await refuses(call)) return "·";
      return isWithin ? "○" : "●";
    }),
  );
  const [verdict = "·", ...others] = new Set(widest);
  expect(others).toEqual([]);
  if (verdict !== "·") return verdict;
  for (const attempt of within) if (!(await refuses(attempt(await callerOf(), cast)))) return "○";
  return "·";
}

describe.each(Object.entries(kinds))("with %s", (name, kind) => {
  let cast: WayCast;
  let caller: WayCaller;
  beforeAll(async () => {
    cast = await openWayCast(await sharedTokenServers());
    caller = await kind(cast);
  });
  afterAll(() => cast.close());

  /** Returns a credential of the kind: one for all attempts, except for those that rotate it. */
  const callerFor = (method: string): Promise<WayCaller> =>
    method === "RotateApiKey" ? kind(cast) : Promise.resolve(caller);

  test.each(rows)("$way by $method", async ({ way, method, cells }) => {
    const attempt = attempts[way]?.[method];
    expect(attempt && (await judge(attempt, () => callerFor(method), cast))).toBe(cells[name]);
  });
});

describe("each method that is not in the table makes no way", () => {
  const inTable = new Set(rows.map(({ method }) => method.split(" ")[0]));
  const all = unaryMethods(services);
  const isInTable = ({ method }: (typeof all)[number]): boolean => inTable.has(method.name);

  let server: TestServer;
  let transport: Transport;
  let paths: Paths;
  beforeAll(async () => {
    server = await startTestServer();
    const api = createApi("gRPC", server.url, server.operatorKey);
    ({ transport } = api);
    paths = await createEveryPlace(api, await api.orgs.createOrg({ org: { name: "acme" } }));
    const sql = await openSqlClient(server.databaseUrl);
    await sql.query(guards);
    await sql.close();
  });
  afterAll(() => server.close());

  type Outcome = "makes a way" | "makes none" | `is refused: ${string}`;

  /** Calls a method on everything that is there. */
  async function outcomeOf({ method, rules }: (typeof all)[number]): Promise<Outcome> {
    const outcomes: Outcome[] = [];
    for (const { about, request } of callsOf(method, rules, paths)) {
      if (about !== "present") continue;
      const failure = await callMethodWhenFree(transport, method, request).then(
        () => undefined,
        (error: unknown) => failureOf(Promise.reject(error)),
      );
      if (failure?.reason === "INTERNAL") return "makes a way";
      outcomes.push(failure === undefined ? "makes none" : `is refused: ${failure.message}`);
    }
    return outcomes.find((outcome) => outcome === "makes none") ?? required(outcomes[0]);
  }

  test.concurrent.each(all.filter((each) => !isInTable(each) && !apart.has(each.method.name)))(
    "$name",
    async (each) => {
      const { name } = each.method;
      const mayBeRefused = /^(Batch)?(Activate|Delete|Purge|Suspend|Undelete)/.test(name) || refusedHere.has(name);
      expect(await outcomeOf(each)).toMatch(mayBeRefused ? /^(makes none|is refused)/ : /^makes none$/);
    },
  );

  test("and those in the table are found by what they write", async () => {
    const found: string[] = [];
    // All others are called above.
    const rest = all.filter((each) => isInTable(each) || apart.has(each.method.name));
    await eachOf(rest, async (each) => {
      if ((await outcomeOf(each)) === "makes a way") found.push(each.method.name);
    });
    const makers = ["ApiKey", "Client", "Identity"].map((one) => `Create${one}`);
    const batches = ["ApiKeys", "Clients", "Identities"].map((many) => `BatchCreate${many}`);
    expect(found.toSorted()).toEqual(
      [...batches, ...makers, "InviteMember", "RotateApiKey", "RotateClient"].toSorted(),
    );
    expect(found.filter((name) => !inTable.has(name))).toEqual([]);
  });
});

/**
 * Methods that are refused without a token, a plan and a revision that were made. The credential of the first one is the refresh token of
 * the request, in whose session the next one is; the others call the methods for what is in files, in which there are no keys and
 * identities.
 */
const apart: ReadonlySet<string> = new Set(["RefreshToken", "ApplyOrg", "RollbackOrg"]);

/** What the place is not in the state for: a claim that holds, a member that is purged, another group, a type without resources. */
const refusedHere = new Set([
  // The operator is no member of the org, and the request waits.
  "CreateAccessRequest",
  "EndAccessRequest",
  "EraseContact",
  "EraseMember",
  "ReplayWebhook",
  "CompleteOperation",
  "FailOperation",
  "RenewOperation",
  "CreateSubgroup",
  "BatchCreateSubgroups",
  "UpdateResourceType",
]);

/** Fails each statement that writes what one can act with, even if it would be rolled back. */
const guards = `
create function refuse_way() returns trigger language plpgsql as $$ begin raise exception 'a way to act'; end $$;
${[
  "api_keys",
  "sessions",
  "identities",
  "sign_in_links",
  "invitations",
  "browser_sessions",
  "authorization_codes",
  "clients",
]
  .map((table) => `create trigger refuse_way before insert on ${table} for each row execute function refuse_way();`)
  .join("\n")}
create trigger refuse_more before update on api_keys for each row
  when ((old.hash, old.grants_until, old.scopes, old.allowed_addresses) is distinct from
    (new.hash, new.grants_until, new.scopes, new.allowed_addresses)
    or coalesce(new.expire_time, 'infinity') > coalesce(old.expire_time, 'infinity')) execute function refuse_way();
create trigger refuse_more before update on sessions for each row
  when ((old.scopes, old.project_id, old.allowed_addresses, old.identity_id, old.token_gen) is distinct from
    (new.scopes, new.project_id, new.allowed_addresses, new.identity_id, new.token_gen)
    or new.expire_time > old.expire_time) execute function refuse_way();
create trigger refuse_more before update on identities for each row
  when ((old.member_id, old.provider_id, old.subject) is distinct from (new.member_id, new.provider_id, new.subject))
  execute function refuse_way();
create trigger refuse_more before update on clients for each row
  when ((old.redirect_uris, old.scopes, old.secret_hash) is distinct from (new.redirect_uris, new.scopes, new.secret_hash))
  execute function refuse_way();`;

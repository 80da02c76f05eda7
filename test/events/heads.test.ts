// Tests the signed ends of logs: where they are shown, to whom, and what a check of an export finds with them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JsonObject, toJson } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { type JSONWebKeySet, decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChangeSchema, Change_View, ChangesHeadSchema } from "../../gen/iam/v1alpha/change_pb.ts";
import { TokensService } from "../../gen/iam/v1alpha/token_pb.ts";
import { hashOf } from "../../src/changes/entry-record.ts";
import { readHead } from "../../src/changes/signed-head.ts";
import { required } from "../../src/errors/required.ts";
import { verifyFile } from "../../src/cli/verify-file.ts";
import { type Caller, type Company, openCompany } from "../access/callers.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createTransport, overFirst, protocols } from "../support/transports.ts";
import { startLogVerifier } from "./log-verifier.ts";

let server: SharedServer;
let folder: string;
let keysFile: string;
let verifier: ReturnType<typeof startLogVerifier>;
let keys: JSONWebKeySet;
beforeAll(async () => {
  server = await sharedServer();
  folder = await mkdtemp(join(tmpdir(), "heads-"));
  keysFile = join(folder, "keys.json");
  keys = (await (await fetch(`${server.url}/.well-known/log-keys.json`)).json()) as JSONWebKeySet;
  await writeFile(keysFile, JSON.stringify(keys));
  verifier = startLogVerifier();
});
afterAll(async () => {
  verifier.close();
  await rm(folder, { recursive: true });
});

/** Checks lines with both programs. Returns what each has printed, and its number of faults. */
async function check(lines: readonly object[], heads: readonly string[] = []) {
  const file = join(folder, "changes.ndjson");
  await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const printed: string[] = [];
  const { faults } = await verifyFile(file, { keys: keysFile, head: heads }, (line) => printed.push(line));
  const python = await verifier.verify([file, "--keys", keysFile, ...heads.flatMap((head) => ["--head", head])]);
  return {
    faults,
    printed: printed.join("\n"),
    python,
    pythonFaults: Number(/(\d+) faults$/m.exec(python)?.[1]),
  };
}

const toLine = (schema: typeof ChangeSchema | typeof ChangesHeadSchema, message: never): JsonObject =>
  toJson(schema as typeof ChangeSchema, message, { useProtoFieldName: true }) as JsonObject;

/** Exports the log of an org as examples/log/export.py does. */
async function exportLog({ changes }: Caller, parentPath: string): Promise<JsonObject[]> {
  const request = { parentPath, orderBy: "time", view: Change_View.PROVED, pageSize: 1000 };
  const page = await changes.listChanges(request);
  const head = page.head === undefined ? [] : [{ head: toLine(ChangesHeadSchema, page.head as never) }];
  return [...head, ...page.changes.map((change) => toLine(ChangeSchema, change as never))];
}

describe.each(overFirst(protocols))("over %s, the end of a log", (protocol) => {
  let company: Company;
  let owner: Caller;
  let parentPath: string;
  beforeAll(async () => {
    company = await openCompany(protocol, server);
    owner = await company.joinAs("owner");
    parentPath = company.org.path;
  });

  test("is signed by a published key, and moves with the log", async () => {
    const before = await owner.changes.getChangesHead({ parentPath });
    await owner.groups.createGroup({ parentPath, group: { name: uniqueName("devs") } });
    const after = await owner.changes.getChangesHead({ parentPath });
    const [last] = (await owner.changes.listChanges({ parentPath, filter: "type != READ", view: Change_View.PROVED }))
      .changes;
    expect(after).toMatchObject({
      orgPath: `/orgs/@${company.org.id}`,
      revision: last?.revision,
      hash: last?.proof?.hash,
    });
    expect(after.time).toEqual(last?.time);
    expect(after.revision > before.revision).toBe(true);
    const { logId, revision, hash, timeline } = await readHead(after.jws, keys);
    expect({ logId, revision, hash, timeline }).toEqual({
      logId: company.org.id,
      revision: after.revision,
      hash: after.hash,
      timeline: 1,
    });
    expect(decodeProtectedHeader(after.jws).typ).toBe("log-head+jwt");
    expect(decodeJwt(after.jws)).not.toHaveProperty("aud");
  });

  test("is shown to who may list changes, and to nobody else", async () => {
    const viewer = await company.join(uniqueName("nobody"));
    expect(await failureOf(viewer.changes.getChangesHead({ parentPath }))).toMatchObject({
      reason: "PERMISSION_DENIED",
      metadata: { permission: "iam.changes.list" },
    });
    expect(await failureOf(owner.changes.getChangesHead({ parentPath: "orgs/nowhere" }))).toMatchObject({
      reason: expect.stringMatching(/RESOURCE_NOT_FOUND|PERMISSION_DENIED/),
    });
  });

  test("is on the page of a proved list that has its change", async () => {
    const pageSize = 2;
    const list = async (orderBy: string, view: Change_View): Promise<(string | undefined)[]> => {
      const hashes: (string | undefined)[] = [];
      for (let pageToken = ""; ;) {
        const page = await owner.changes.listChanges({ parentPath, orderBy, view, pageSize, pageToken });
        if (page.head !== undefined) expect(page.changes.map(({ proof }) => proof?.hash)).toContain(page.head.hash);
        hashes.push(page.head?.hash);
        ({ nextPageToken: pageToken } = page);
        if (pageToken === "") return hashes;
      }
    };
    await owner.changes.listChanges({ parentPath });
    const { hash } = await owner.changes.getChangesHead({ parentPath });
    const ascending = await list("time", Change_View.PROVED);
    expect(ascending.length).toBeGreaterThan(2);
    expect(ascending).toEqual([...ascending.slice(1).map(() => undefined), hash]);
    expect(await list("time desc", Change_View.PROVED)).toEqual([hash, ...ascending.slice(1).map(() => undefined)]);
    expect(await list("time", Change_View.FULL)).toEqual(ascending.map(() => undefined));
  });
});

describe("a check of an export", () => {
  let company: Company;
  let owner: Caller;
  let lines: JsonObject[];
  let later: string;
  beforeAll(async () => {
    company = await openCompany("gRPC", server);
    owner = await company.joinAs("owner");
    const parentPath = company.org.path;
    await owner.members.createMember({ parentPath, member: { name: "alice", labels: { team: "é 🦖" } } });
    await owner.members.updateMember({ path: `${parentPath}/members/alice`, member: { name: "bob" } });
    await owner.members.deleteMember({ path: `${parentPath}/members/bob` });
    lines = await exportLog(owner, parentPath);
    later = join(folder, "later.json");
    const head = await owner.changes.getChangesHead({ parentPath });
    await writeFile(later, JSON.stringify(toLine(ChangesHeadSchema, head as never)));
  });

  test("finds nothing wrong, in both programs, and says what is signed", async () => {
    expect(lines[0]).toHaveProperty("head.jws");
    const { faults, printed, python, pythonFaults } = await check(lines, [later]);
    expect([printed, python]).toEqual([
      expect.stringContaining(" is signed up to "),
      expect.stringContaining(" is signed up to "),
    ]);
    expect([faults, pythonFaults]).toEqual([0, 0]);
  });

  test("finds a tail that was cut off, by the head in the export and by one that was kept", async () => {
    const [head, ...changes] = lines;
    const cut = await check([head ?? {}, ...changes.slice(0, -1)]);
    expect([cut.faults, cut.pythonFaults]).toEqual([1, 1]);
    expect(cut.printed).toContain("some were cut off or replaced");
    const unsigned = await check(changes.slice(0, -1), [later]);
    expect([unsigned.faults, unsigned.pythonFaults]).toEqual([1, 1]);
    const none = await check(changes.slice(0, -1));
    expect([none.faults, none.pythonFaults]).toEqual([0, 0]);
    expect(none.printed).toContain("no signed head: changes that were cut off at the end do not show");
  });

  test("takes the changes after a head that was kept, and finds those that do not follow it", async () => {
    const [, ...changes] = lines;
    await owner.groups.createGroup({ parentPath: company.org.path, group: { name: "devs" } });
    await owner.groups.deleteGroup({ path: `${company.org.path}/groups/devs` });
    const more = (await exportLog(owner, company.org.path)).slice(1 + changes.length);
    expect(more).toHaveLength(2);
    const next = await check(more, [later]);
    expect([next.faults, next.pythonFaults]).toEqual([0, 0]);
    const missing = await check(more.slice(1), [later]);
    expect([missing.faults, missing.pythonFaults]).toEqual([1, 1]);
  });

  test("refuses a head that was changed, of another type, or signed by nobody known", async () => {
    const { jws } = (lines[0]?.["head"] ?? {}) as { jws: string };
    const [header = "", payload = "", signature = ""] = jws.split(".");
    const said = JSON.parse(Buffer.from(payload, "base64url").toString()) as object;
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const tokens = createClient(TokensService, createTransport("gRPC", server.url, owner.key));
    const { accessToken: token } = await tokens.issueToken({});
    const forged = [
      [`${header}.${encode({ ...said, hash: "0".repeat(64) })}.${signature}`, "its signature is not that of its key"],
      [
        `${encode({ alg: "ES256", kid: "x", typ: "log-head+jwt" })}.${payload}.${signature}`,
        "its key x is not among the keys",
      ],
      [token, "its type is not log-head+jwt"],
    ] as const;
    for (const [head, problem] of forged) {
      const { faults, printed, python, pythonFaults } = await check([{ head: { jws: head } }, ...lines.slice(1)]);
      expect([faults, pythonFaults]).toEqual([1, 1]);
      expect([printed, python]).toEqual([expect.stringContaining(problem), expect.stringContaining(problem)]);
    }
  });

  test("finds a head of which its line shows something else, and what stands beside it", async () => {
    const [line = {}, ...changes] = lines;
    const head = line["head"] as JsonObject;
    const revision = "00000000-0000-0732-9f3c-5b21c7e40d18";
    const altered = [{ org_path: "/orgs/acme" }, { revision }, { time: "2020-01-01T00:00:00Z" }, { hash: "0" }];
    for (const each of altered) {
      const { faults, pythonFaults } = await check([{ head: { ...head, ...each } }, ...changes]);
      expect([each, faults, pythonFaults]).toEqual([each, 1, 1]);
    }
    // A page as the service answers it, which is no line of an export.
    const { faults, pythonFaults } = await check([{ head, changes }]);
    expect([faults, pythonFaults]).toEqual([1, 1]);
  });

  test("says where a file begins, and takes the hash of its first change for no proof of a head", async () => {
    const [line, ...changes] = lines;
    const { faults, printed, python } = await check(changes.slice(1));
    expect([faults, printed, python]).toEqual([
      0,
      expect.stringMatching(/the file begins with .* which is taken as it is/),
      expect.stringMatching(/the file begins with .* which is taken as it is/),
    ]);
    const hash = (required(changes.at(-1))["proof"] as { hash: string }).hash;
    const start = {
      org_id: company.org.id,
      revision: "00000000-0000-0732-9f3c-5b21c7e40d18",
      chain_start: "",
      timeline: null,
    };
    const [first, second] = [1, 2].map((position) => JSON.stringify({ ...start, position })) as [string, string];
    const forged = [{ proof: { record: first, hash } }, { proof: { record: second, hash: hashOf(hash, second) } }];
    const copied = await check([line ?? {}, ...forged]);
    expect([copied.faults, copied.pythonFaults]).toEqual([1, 1]);
  });

  test("finds a field that there is not, and one that is there by both of its names", async () => {
    const { actor_path: path = "", ...change } = lines.find(({ type }) => type === "UPDATED") ?? {};
    const more = await check([{ ...change, actor_path: path, actor: "mallory" }]);
    expect([more.faults, more.pythonFaults]).toEqual([1, 1]);
    const twice = await check([{ actor_path: `${company.org.path}/members/mallory`, ...change, actorPath: path }]);
    expect([twice.printed, twice.pythonFaults]).toEqual([expect.stringContaining("it is no change: "), 2]);
  });

  test("finds each field that shows something else than what is proved", async () => {
    const index = lines.findIndex(({ type }) => type === "UPDATED");
    const change = lines[index] ?? {};
    const altered: Record<string, unknown> = {
      org_path: "/orgs/acme",
      customer_path: "/customers/acme",
      revision: "00000000-0000-0732-9f3c-5b21c7e40d18",
      position: 7,
      time: "2020-01-01T00:00:00Z",
      type: "DELETED",
      method: "iam.v1alpha.MembersService/DeleteMember",
      resource_type: "Group",
      resource_id: company.org.id,
      resource_path: `${company.org.path}/members/mallory`,
      actor_path: `${company.org.path}/members/mallory`,
      impersonator_path: `${company.org.path}/members/mallory`,
      credential_id: company.org.id,
      on_behalf_of: "mallory",
      reason: "ticket 1",
      request_id: "1",
      remote_address: "192.0.2.1",
      user_agent: "curl",
      source: "SERVICE",
      end_time: "2020-01-01T00:00:00Z",
      before: { ...(change["before"] as object), name: "mallory" },
      after: { ...(change["after"] as object), name: "mallory" },
      changed_fields: ["labels"],
      withheld_fields: ["after"],
      erased_fields: ["origin"],
    };
    const shown = ChangeSchema.fields.map(({ name }) => name).filter((name) => name !== "proof");
    expect(Object.keys(altered).toSorted()).toEqual(shown.toSorted());
    const ofMessages = new Set(["before", "after", "changed_fields"]);
    // All at once in a file of a line for each: no line follows another, so the chain is not looked at.
    for (const [field, value] of Object.entries(altered)) {
      const { faults, printed, pythonFaults } = await check([{ ...change, [field]: value }]);
      expect([field, faults]).toEqual([field, 1]);
      expect(printed).toMatch(/is not what is proved|is said to be withheld or erased, and is not missing/);
      if (!ofMessages.has(field)) expect([field, pythonFaults]).toEqual([field, 1]);
    }
    const { after: _after, ...without } = change;
    const hidden = await check([without]);
    expect([hidden.faults, hidden.pythonFaults]).toEqual([1, 1]);
  });

  test("takes what is withheld from who has exported it, and finds a text that is left out in silence", async () => {
    const auditor = await company.join(uniqueName("auditor"));
    const role = { name: uniqueName("auditing"), permissions: ["iam.changes.list"] };
    const { path: rolePath } = await owner.roles.createRole({ parentPath: company.org.path, role });
    await company.bind(company.org.path, rolePath, auditor);
    const seen = await exportLog(auditor, company.org.path);
    const { faults, printed, pythonFaults } = await check(seen);
    expect([faults, pythonFaults]).toEqual([0, 0]);
    expect(printed).toMatch(/\d+ changes of which something is withheld/);
    const index = seen.findIndex(({ withheld_fields: fields }) => JSON.stringify(fields) === '["after","before"]');
    const silent = await check(seen.with(index, { ...seen[index], withheld_fields: ["after"] }));
    expect([silent.faults, silent.pythonFaults]).toEqual([1, 1]);
  });
});

test("a signed head is no token", async () => {
  const company = await openCompany("gRPC", server);
  const owner = await company.joinAs("owner");
  const { jws } = await owner.changes.getChangesHead({ parentPath: company.org.path });
  const { orgs } = createApi("gRPC", server.url, jws);
  expect(await failureOf(orgs.getOrg({ path: company.org.path }))).toMatchObject({ reason: "TOKEN_INVALID" });
});

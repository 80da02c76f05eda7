import { expect, test } from "vitest";
import { createKeptCallers } from "../../src/access/away/kept-callers.ts";
import type { HeldHead } from "../../src/access/away/held-orgs.ts";
import type { OrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { createAgeClock } from "../../src/database/age-clock.ts";
import { createTestClocks } from "../support/clocks.ts";
import type { Caller } from "../../src/identity/caller.ts";

test("an org with many API keys displaces its own, and what was refused is not kept", async () => {
  const answers = new Map<string, Caller | "invalid">();
  const accept = (text: string, orgId: string, grantsUntil: string | null = null) =>
    answers.set(text, { orgId, grantsUntil } as Caller);
  const orgs = {
    head: () => {
      throw new Error("kept");
    },
    timeAt: () => 0,
    elapsed: () => 0,
  };
  const { keeping, find } = createKeptCallers(orgs, { all: 4, ofOrg: 2 });
  const lookup = keeping((text) => Promise.resolve(answers.get(text) ?? "invalid"));
  const keptOf = async (...texts: string[]): Promise<string[]> => {
    const found = texts.map(async (text) => ((await find(text).catch(String)) === "Error: kept" ? [text] : []));
    return (await Promise.all(found)).flat();
  };

  accept("quiet", "quiet org");
  await lookup("quiet");
  for (const text of ["a", "b", "c"]) {
    accept(text, "loud org");
    await lookup(text);
  }
  expect(await keptOf("quiet", "a", "b", "c")).toEqual(["quiet", "b", "c"]);

  accept("limited", "another org", "revision");
  for (const text of ["limited", "unknown"]) await lookup(text);
  answers.set("b", "invalid");
  await lookup("b");
  expect(await keptOf("quiet", "limited", "unknown", "b", "c")).toEqual(["quiet", "c"]);

  for (const text of ["d", "e", "f"]) {
    accept(text, `org of ${text}`);
    await lookup(text);
  }
  expect(await keptOf("quiet", "c", "d", "e", "f")).toEqual(["c", "d", "e", "f"]);
});

test("a key is not known that was accepted before the machine was suspended for longer than snapshots remember which keys have ended", async () => {
  const clocks = createTestClocks();
  const clock = createAgeClock(clocks);
  const orgHead = { revision: "", readAt: clock.observe() };
  const snapshot = {
    org: { state: "ACTIVE" },
    members: { findById: () => 1, stateOf: () => "ACTIVE" },
    tokens: { endOf: () => undefined },
  } as unknown as OrgSnapshot;
  const head = () => ({ snapshot, now: 0, revision: "", readAt: clock.observe(), knownTime: 0 }) as HeldHead;
  const { keeping, find } = createKeptCallers({ head, timeAt: () => 0, elapsed: clock.elapsed });
  const caller = { orgId: "org", grantsUntil: null, credentialExpireTime: null, orgHead } as unknown as Caller;
  await keeping(() => Promise.resolve(caller))("key");
  clocks.pass(1);
  clocks.set(12 * 3_600_000);
  expect(await find("key")).toMatchObject({ orgId: "org", staleSince: 0 });
  clocks.pass(1);
  clocks.set(2 * 3_600_000);
  await expect(find("key")).rejects.toMatchObject({ reason: "SERVICE_UNAVAILABLE" });
});

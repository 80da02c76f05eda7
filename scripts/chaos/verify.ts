// Compares what is there in the end with what the callers know.
import { createApi } from "../../test/support/api.ts";
import { expectNoDrift } from "../../test/support/expect-no-drift.ts";
import { askDatabase } from "./ask-database.ts";
import { type Caller, createCaller } from "./caller.ts";
import { collectionsOf } from "./collections.ts";
import type { Findings } from "./findings.ts";
import { type History, type Kind, isThere, kinds } from "./history.ts";
import type { LoadedOrg } from "./orgs.ts";
import { verifyLog } from "./verify-log.ts";

/** So long may it take to read the whole log. */
const queryMs = 1_800_000;

export interface VerifyOptions {
  readonly urls: readonly string[];
  readonly orgs: readonly LoadedOrg[];
  readonly histories: readonly History[];
  readonly databaseUrl: string;
  readonly findings: Findings;
}

export async function verify({ urls, orgs, histories, databaseUrl, findings }: VerifyOptions): Promise<void> {
  // Connections that fell silent last are still found by the calls that use them.
  const caller = createCaller({ findings, note: () => {}, count: () => {} });
  for (const [index, org] of orgs.entries()) {
    const history = histories[index];
    const url = urls[index % urls.length];
    if (history === undefined || url === undefined) continue;
    for (const kind of kinds) await verifyThings(url, org, kind, history, caller, findings);
    await verifyGrants(url, org, history, caller, findings);
  }
  const query = (text: string, values: readonly unknown[] = []) => askDatabase(databaseUrl, text, values, queryMs);
  await verifyLog(query, orgs, histories, findings);
  const drift = await expectNoDrift(databaseUrl).catch((error: Error) => error);
  if (drift instanceof Error) findings.add("the change log has a gap or differs from the rows", drift.message);
}

async function verifyThings(
  url: string,
  org: LoadedOrg,
  kind: Kind,
  history: History,
  caller: Caller,
  findings: Findings,
): Promise<void> {
  const { list } = collectionsOf(createApi("REST", url, org.key), org.path)[kind];
  const seen = new Map<string, string>();
  let pageToken = "";
  do {
    const page = await caller.untilAnswered("read", `list ${kind}`, (options) => list(500, pageToken, options));
    if (page.kind !== "done") return;
    for (const { name, description } of page.value.items) seen.set(name, description);
    ({ nextPageToken: pageToken } = page.value);
  } while (pageToken !== "");
  const expected = history.things.filter((thing) => thing.kind === kind);
  for (const thing of expected) {
    const found = seen.get(thing.name);
    if (!thing.possible.includes(found)) {
      findings.add(
        "an acknowledged write is lost",
        `${org.path}/${kind}/${thing.name} is ${found ?? "absent"}, not ${thing.possible.map((each) => each ?? "absent").join(" or ")}`,
      );
    }
  }
  const known = new Set(expected.map(({ name }) => name));
  for (const name of seen.keys()) {
    if (name.startsWith("t-") && !known.has(name))
      findings.add("a write is doubled", `nobody has created ${org.path}/${kind}/${name}`);
  }
  for (const things of history.together.filter(([first]) => first?.kind === kind)) {
    const left = things.filter(({ name }) => seen.has(name)).length;
    if (left > 0 && left < things.length)
      findings.add("a write is half there", `of ${things.length} ${kind} of a batch, ${left} were not deleted`);
  }
}

async function verifyGrants(
  url: string,
  { path, key }: LoadedOrg,
  history: History,
  caller: Caller,
  findings: Findings,
): Promise<void> {
  const api = createApi("REST", url, key);
  const collections = new Set(history.grants.map(({ collection }) => collection));
  for (const collection of collections) {
    const parentPath = collection.slice(0, collection.lastIndexOf("/"));
    const listed = await caller.untilAnswered("read", `list ${collection}`, async (options) =>
      collection.endsWith("/members")
        ? (await api.groupMembers.listGroupMembers({ parentPath, pageSize: 1_000 }, options)).members
        : (await api.roleBindings.listRoleBindings({ parentPath, pageSize: 1_000 }, options)).roleBindings,
    );
    if (listed.kind !== "done") continue;
    const found = new Set(listed.value.map((each) => each.path.slice(each.path.lastIndexOf("/") + 1)));
    for (const grant of history.grants.filter((each) => each.collection === collection)) {
      if (grant.isThere !== undefined && found.has(grant.name) !== grant.isThere)
        findings.add(
          "an acknowledged write is lost",
          `${collection}/${grant.name} is ${grant.isThere ? "absent" : "there"}, in ${path}`,
        );
    }
  }
}

/** Returns the number of resources that the callers know to be there. */
export function countThings(histories: readonly History[]): number {
  return histories.flatMap(({ things }) => things).filter(isThere).length;
}

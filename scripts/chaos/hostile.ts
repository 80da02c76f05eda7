// One org that does the worst that it may: batches at once, filters that read everything, previews, and questions about access that
// a thousand conditions answer.
import { setTimeout as sleep } from "node:timers/promises";
import type { CallOptions } from "@connectrpc/connect";
import { createAccessClient } from "../../test/support/access-place.ts";
import { type Api, createApi } from "../../test/support/api.ts";
import { type Caller, createCaller } from "./caller.ts";
import type { Findings } from "./findings.ts";
import type { LoadedOrg } from "./orgs.ts";
import { createRandom } from "./random.ts";

const batchesAtOnce = 30;
const othersAtOnce = 8;
const batch = 200;
const memberBatches = 3;

/** What tells this org to do less, and is no fault. */
const refusals = ["LIMIT_EXCEEDED"];

export interface Hostile {
  readonly calls: () => number;
  readonly failures: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Creates thousands of members, and gives one a thousand role bindings with conditions, in ten projects. */
export async function furnishHostileOrg(url: string, { path, key, grounds }: LoadedOrg): Promise<void> {
  const api = createApi("Connect", url, key);
  const subjectPath = grounds[0]?.members[0] ?? "";
  const requests = Array.from({ length: 10 }, (_, index) => ({ project: { name: `wide-${index}` } }));
  for (let index = 0; index < memberBatches; index++) {
    const members = Array.from({ length: 1_000 }, (_, each) => ({ member: { name: `many-${index}-${each}` } }));
    await api.members.batchCreateMembers({ parentPath: path, requests: members });
  }
  const { projects } = await api.projects.batchCreateProjects({ parentPath: path, requests });
  for (const { path: parentPath } of projects) {
    const bindings = Array.from({ length: 100 }, (_, index) => ({
      roleBinding: {
        name: `c-${index}`,
        subjectPath,
        rolePath: "/roles/viewer",
        condition: `has(context.amount) && context.amount == ${index} && resource.path.contains("no-such-${index}")`,
      },
    }));
    await api.roleBindings.batchCreateRoleBindings({ parentPath, requests: bindings });
  }
}

export function startHostile(url: string, org: LoadedOrg, seed: number, findings: Findings): Hostile {
  const failures = new Map<string, number>();
  let calls = 0;
  const stopping = new AbortController();
  const caller = createCaller({
    findings,
    note: () => void calls++,
    count: (failure) => void failures.set(failure, (failures.get(failure) ?? 0) + 1),
  });
  const workers = Array.from({ length: batchesAtOnce + othersAtOnce }, async (_, index) => {
    const random = createRandom(seed, `hostile-${index}`);
    const { batches, others } = createWorks(url, org, caller, `${index}`);
    while (!stopping.signal.aborted) await (index < batchesAtOnce ? batches() : random.pick(others)?.());
  });
  return {
    calls: () => calls,
    failures,
    async stop() {
      stopping.abort();
      await Promise.all(workers);
    },
  };
}

function createWorks(url: string, { path, key, grounds }: LoadedOrg, caller: Caller, prefix: string) {
  const api: Api = createApi("Connect", url, key);
  const access = createAccessClient("Connect", url, key);
  const subjectPath = grounds[0]?.members[0] ?? "";
  const call = async (what: string, run: (options: CallOptions) => Promise<unknown>): Promise<void> => {
    const { kind } = await caller.once("write", `hostile ${what}`, run, refusals);
    // Without it, a proxy that has no server would only be asked.
    if (kind !== "done") await sleep(20);
  };
  let serial = 0;

  const fillAndEmpty = async (): Promise<void> => {
    const names = Array.from({ length: batch }, () => `x${prefix}-${++serial}`);
    const requests = names.map((name) => ({ group: { name, description: "x".repeat(200) } }));
    await call("batch", (each) => api.groups.batchCreateGroups({ parentPath: path, requests }, each));
    const paths = names.map((name) => `${path}/groups/${name}`);
    await call("batch delete", (each) =>
      api.groups.batchDeleteGroups({ parentPath: path, paths, allowMissing: true }, each),
    );
  };
  const filter = async (): Promise<void> => {
    const searches = Array.from({ length: 10 }, (_, index) => `description:"y${index}z"`);
    const orderBy = "display_name desc, update_time";
    await call("filter", (each) =>
      api.groups.listGroups({ parentPath: path, filter: searches.join(" OR "), orderBy, pageSize: 1_000 }, each),
    );
  };
  const preview = async (): Promise<void> => {
    const roleBinding = { name: `v${prefix}-${++serial}`, subjectPath, rolePath: "/roles/admin" };
    await call("preview", (each) =>
      api.roleBindings.createRoleBinding({ parentPath: path, roleBinding, validateOnly: true }, each),
    );
  };
  const whoMay = async (): Promise<void> => {
    const resourcePath = `${path}/projects/wide-0`;
    await call("who may", (each) =>
      access.listSubjects(
        { permission: "iam.projects.get", resourcePath, pageSize: 1_000, context: { amount: 1 } },
        each,
      ),
    );
  };
  const check = async (): Promise<void> => {
    const checks = Array.from({ length: 1_000 }, (_, index) => ({
      subjectPath,
      permission: "iam.projects.get",
      resourcePath: `${path}/projects/wide-${index % 10}`,
      context: { amount: index },
    }));
    await call("checks", (each) => access.batchCheckAccess({ checks }, each));
  };
  return { batches: fillAndEmpty, others: [filter, preview, whoMay, check] };
}

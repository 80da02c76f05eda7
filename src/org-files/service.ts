// Orgs as files: a facade over the methods of what is in them, which it calls as its caller.
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Drift_Kind as Kind, OrgFilesService } from "../../gen/iam/v1alpha/org_file_pb.ts";
import { callerOf, slicesOf, targetOf } from "../access/evaluation/call.ts";
import { patterns } from "../paths/patterns.ts";
import type { FairQueue } from "../scheduling/fair-queue.ts";
import { readWriteRequest } from "../standard-methods/method-handler.ts";
import { type WriteRunner, runWrite } from "../standard-methods/write/write-call.ts";
import { applyPlan } from "./apply-plan.ts";
import { type Compared, type FileRequest, comparePlan } from "./compare-plan.ts";
import type { RaiseDependencies } from "./find-unraisable.ts";
import { describeChanges, maxImplied, pathInOrg } from "./describe-changes.ts";
import type { Drift } from "./find-drifts.ts";
import type { Source } from "./managed-store.ts";
import { formatToken } from "./plan-changes.ts";
import type { AccessDependencies, AccessWanted } from "./planned-access.ts";
import type { RollbackDependencies } from "./rollback/prepare-rollback.ts";
import { createRollbackOrg } from "./rollback/rollback-org.ts";
import { readState, readUnchanged } from "./read-state.ts";
import { writeFile } from "./write-file.ts";

interface OrgFilesDependencies extends WriteRunner, AccessDependencies, RaiseDependencies, RollbackDependencies {
  readonly fileQueue: FairQueue;
}

/** How many resources that stay a plan names, and how many drifts. */
const maxUnlisted = 100;

export function createOrgFilesService(dependencies: OrgFilesDependencies): ServiceImpl<typeof OrgFilesService> {
  const { ofCaller, fileQueue } = dependencies;
  const inTurn = <Result>(context: HandlerContext, run: () => Promise<Result>): Promise<Result> =>
    fileQueue.run({ orgId: callerOf(context).orgId, target: undefined, signal: () => context.signal }, run);

  const compare = (request: FileRequest, context: HandlerContext, wanted: AccessWanted): Promise<Compared> =>
    inTurn(context, () => comparePlan(dependencies, request, context, wanted));

  return {
    rollbackOrg: createRollbackOrg({ ...dependencies, inTurn }),

    async exportOrg(_request, context) {
      const [org] = targetOf(context, patterns.Org);
      return inTurn(context, async () => {
        const state = await readUnchanged(org, () => readState(dependencies, context, org));
        return { orgFile: await slicesOf(context).run(writeFile(state)), revision: state.revision };
      });
    },

    async planOrg(request, context) {
      const { state, plan, token, preview, implied, drifts, managed } = await compare(request, context, "with preview");
      const { changes, obstacles } = plan;
      const pathOf = (path: string): string => pathInOrg(state.name, path);
      const unlisted = [...new Set(plan.unlisted.map(pathOf))];
      const drifted = onceEach(drifts.map((each) => ({ ...toDrift(each), resourcePath: pathOf(each.path) })));
      const removed = onceEach(
        implied.map(({ resource, withPath, managedBy }) => ({
          resourcePath: pathOf(resource.path),
          withPath: pathOf(withPath),
          ...sourceOf(managedBy),
        })),
      );
      return {
        changes: describeChanges(state.name, changes),
        obstacles: [...obstacles],
        unlistedCount: unlisted.length,
        unlistedPaths: unlisted.slice(0, maxUnlisted),
        revision: state.revision,
        plan: formatToken(token),
        accessPreview: preview,
        driftCount: drifted.length,
        drifts: drifted.slice(0, maxUnlisted),
        impliedRemovals: removed.slice(0, maxImplied),
        impliedRemovalCount: removed.length,
        adoptedCount: managed?.changes.adoptedCount ?? 0,
      };
    },

    async applyOrg(request, context) {
      // What a repeated request finds is what it has made, so it fails only if it is not answered as before.
      const prepared = await compare(request, context, "expectations only").then(
        (found) => () => found,
        (error: unknown) => () => {
          throw error;
        },
      );
      const write = readWriteRequest(OrgFilesService.method.applyOrg, request, context);
      // That of a large file takes a while, and is not made under the lock.
      const hash = request.requestId === "" ? undefined : write.fingerprint();
      return runWrite(dependencies, hash === undefined ? write : { ...write, fingerprint: () => hash }, async (call) =>
        applyPlan(ofCaller, context, call, prepared(), request.plan),
      );
    },
  };
}

/** Leaves out what is the same as something before: several limits of a quota are all told as the quota. */
function onceEach<Item>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

const toDrift = ({ kind, managedBy }: Drift) => ({ kind: kinds[kind], ...sourceOf(managedBy) });

function sourceOf(managedBy: Source | undefined) {
  return managedBy === undefined ? {} : { managedBy: { address: managedBy.address, version: managedBy.version } };
}

const kinds: Readonly<Record<Drift["kind"], Kind>> = {
  changed: Kind.CHANGED,
  removed: Kind.REMOVED,
  unmanaged: Kind.UNMANAGED,
};

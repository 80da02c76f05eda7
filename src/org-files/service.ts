// Orgs as files: a facade over the methods of what is in them, which it calls as its caller.
import type { JsonObject } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  OrgFilesService,
  type PlanOrgRequest,
  PlannedChange_Action as Action,
  Prune,
} from "../../gen/iam/v1alpha/org_file_pb.ts";
import { callerOf, slicesOf, targetOf } from "../access/evaluation/call.ts";
import { invalidField } from "../errors/service-error.ts";
import { parseResourcePath } from "../paths/parse-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { FairQueue } from "../scheduling/fair-queue.ts";
import { readWriteRequest } from "../standard-methods/method-handler.ts";
import { type WriteRunner, runWrite } from "../standard-methods/write/write-call.ts";
import { type Prepared, applyPlan } from "./apply-plan.ts";
import { type PlannedChange, planChanges, tokenOf } from "./plan-changes.ts";
import { type AccessDependencies, type PlannedAccess, findAccess } from "./planned-access.ts";
import { readFile } from "./read-file.ts";
import { type OrgState, readState } from "./read-state.ts";
import { writeFile } from "./write-file.ts";

interface OrgFilesDependencies extends WriteRunner, AccessDependencies {
  readonly fileQueue: FairQueue;
}

/** What the requests to plan and to apply share. */
type FileRequest = Pick<PlanOrgRequest, "prune" | "maxRemovalPercent"> & {
  readonly orgFile?: JsonObject | undefined;
  /** Empty for the caller, who is the author of an apply. */
  readonly authorPath?: string;
};

const defaultRemovalPercent = 10;

/** How many resources that stay a plan names. */
const maxUnlisted = 100;

export function createOrgFilesService(dependencies: OrgFilesDependencies): ServiceImpl<typeof OrgFilesService> {
  const { ofCaller, fileQueue } = dependencies;
  const inTurn = <Result>(context: HandlerContext, run: () => Promise<Result>): Promise<Result> =>
    fileQueue.run({ orgId: callerOf(context).orgId, target: undefined, signal: () => context.signal }, run);

  const comparePlan = async (
    request: FileRequest,
    context: HandlerContext,
    wanted: "with preview" | "expectations only",
  ): Promise<Prepared & Pick<PlannedAccess, "preview">> => {
    const [org] = targetOf(context, patterns.Org);
    const slices = slicesOf(context);
    const state = await readState(ofCaller, context, org);
    const file = await slices.run(readFile(request.orgFile ?? {}, state.name));
    const { prune, maxRemovalPercent = defaultRemovalPercent } = request;
    const authorId = findAuthor(state, request.authorPath) ?? callerOf(context).memberId;
    const options = { prunes: prune === Prune.ALL, maxRemovalPercent, authorId };
    const plan = await slices.run(planChanges(state, file, options));
    const { preview, obstacles } = await findAccess(dependencies, context, { state, plan, ...file }, wanted);
    const token = await slices.run(tokenOf(state, plan));
    return { state, plan: { ...plan, obstacles: [...plan.obstacles, ...obstacles] }, token, preview };
  };

  return {
    async exportOrg(_request, context) {
      const [org] = targetOf(context, patterns.Org);
      return inTurn(context, async () => {
        const state = await readState(ofCaller, context, org);
        return { orgFile: await slicesOf(context).run(writeFile(state)), revision: state.revision };
      });
    },

    async planOrg(request, context) {
      const prepared = await inTurn(context, () => comparePlan(request, context, "with preview"));
      const { state, plan, token, preview } = prepared;
      const { changes, obstacles, unlisted } = plan;
      const pathOf = (path: string): string => (path === "" ? `/orgs/${state.name}` : `/orgs/${state.name}/${path}`);
      return {
        changes: changes.map(({ action, path, fields }) => ({
          action: actions[action],
          resourcePath: pathOf(path),
          changedFields: [...fields],
        })),
        obstacles: [...obstacles],
        unlistedCount: unlisted.length,
        unlistedPaths: unlisted.slice(0, maxUnlisted).map(pathOf),
        revision: state.revision,
        plan: token,
        accessPreview: preview,
      };
    },

    async applyOrg(request, context) {
      // What a repeated request finds is what it has made, so it fails only if it is not answered as before.
      const prepared = await inTurn(context, () => comparePlan(request, context, "expectations only")).then(
        (found) => () => found,
        (error: unknown) => () => {
          throw error;
        },
      );
      const write = readWriteRequest(OrgFilesService.method.applyOrg, request, context);
      return runWrite(dependencies, write, async (call) =>
        applyPlan(ofCaller, context, call, prepared(), request.plan),
      );
    },
  };
}

/**
 * Returns the id of the member that a path names; undefined if there is no path.
 *
 * @throws ServiceError PATH_INVALID, FIELD_INVALID when it is no member of the org.
 */
function findAuthor({ id, name, resources }: OrgState, path = ""): string | undefined {
  if (path === "") return undefined;
  const [org, member] = parseResourcePath(patterns.Member, path, "author_path");
  const isHere = org.by !== "any" && org.value === (org.by === "id" ? id : name);
  const found = resources.find(
    (each) =>
      each.type === "member" &&
      (member.by === "id" ? each.id === member.value : member.by === "name" && each.path === `members/${member.value}`),
  );
  if (!isHere || found === undefined)
    throw invalidField("author_path", `must be a member of the org, /orgs/${name}/members/NAME`, "author_path");
  return found.id;
}

const actions: Readonly<Record<PlannedChange["action"], Action>> = {
  create: Action.CREATE,
  update: Action.UPDATE,
  replace: Action.REPLACE,
  delete: Action.DELETE,
};

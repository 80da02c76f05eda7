// Leads an org back. What it was is read without a lock; under the lock, the org must still be at the revision that was compared.
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { HandlerContext } from "@connectrpc/connect";
import {
  type ApplyOrgResponse,
  ApplyOrgResponseSchema,
  OrgFilesService,
  type RollbackOrgRequest,
  type RollbackOrgResponse,
  RollbackOrgResponseSchema,
} from "../../../gen/iam/v1alpha/org_file_pb.ts";
import type { WriteGroup } from "../../changes/write-group.ts";
import { parseMicroseconds } from "../../changes/revision-time.ts";
import { ServiceError, invalidField } from "../../errors/service-error.ts";
import { formatPath } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { type WriteCall, type WriteRunner, runWrite } from "../../standard-methods/write/write-call.ts";
import { applyChanges } from "../apply-changes.ts";
import { applyInGroup } from "../../standard-methods/write/apply-in-group.ts";
import { moved } from "../apply-plan.ts";
import { describeChanges, maxImplied, pathInOrg } from "../describe-changes.ts";
import { formatToken, parseToken } from "../plan-changes.ts";
import { type PreparedRollback, type RollbackDependencies, prepareRollback } from "./prepare-rollback.ts";

interface Dependencies extends RollbackDependencies, WriteRunner {
  readonly inTurn: <Result>(context: HandlerContext, run: () => Promise<Result>) => Promise<Result>;
}

/** How often a rollback of a busy org is planned, if the request does not say which plan it is to be. */
const maxAttempts = 5;

/** Returns the handler. */
export function createRollbackOrg(dependencies: Dependencies) {
  const { inTurn } = dependencies;

  const attempt = async (
    request: RollbackOrgRequest,
    context: HandlerContext,
  ): Promise<RollbackOrgResponse | undefined> => {
    // What a repeated request finds is what it has made, so it fails only if it is not answered as before.
    const prepared = await inTurn(context, () => prepareRollback(dependencies, request, context)).then(
      (found) => () => found,
      (error: unknown) => () => {
        throw error;
      },
    );
    // The response is kept without what a plan shows.
    const write = {
      ...readWriteRequest(OrgFilesService.method.rollbackOrg, request, context),
      answer: ApplyOrgResponseSchema,
    };
    const run = (): Promise<ApplyOrgResponse> =>
      runWrite(dependencies, write, async (call) => {
        const found = prepared();
        if (found === undefined) throw new MovedMeanwhile();
        return applyRollback(dependencies, context, call, found, request.plan);
      });
    if (!request.validateOnly) return toResponse(await run());
    const found = prepared();
    if (found === undefined) return undefined;
    const { plan } = found;
    // What a method refuses is found by trying it.
    if (plan.obstacles.length === 0 && plan.changes.length > 0) await run();
    return describe(found);
  };

  return async (request: RollbackOrgRequest, context: HandlerContext): Promise<RollbackOrgResponse> => {
    for (let count = 1; ; count++) {
      try {
        const response = await attempt(request, context);
        if (response !== undefined) return response;
      } catch (error) {
        if (!(error instanceof MovedMeanwhile)) throw error;
      }
      context.signal.throwIfAborted();
      if (count >= maxAttempts || request.plan !== "") throw stale(request.path);
    }
  };
}

/** The org has changed since it was read. */
class MovedMeanwhile extends Error {}

function stale(path: string): ServiceError {
  return new ServiceError("ETAG_STALE", "the org was changed while it was read; try again", {
    metadata: { resource: path },
  });
}

async function applyRollback(
  { ofCaller }: Dependencies,
  context: HandlerContext,
  call: WriteCall,
  { sides, plan, token }: PreparedRollback,
  planned: string,
): Promise<ApplyOrgResponse> {
  const { id, name, revision } = sides;
  const check = ({ org }: WriteGroup): void => {
    if (planned !== "") requireSame(parseToken(planned), { ...token, name });
    if (org.revision !== revision) throw new MovedMeanwhile();
    if (plan.obstacles.length > 0)
      throw new ServiceError("STATE_FORBIDS", plan.obstacles.join("; "), { metadata: { resource: `/orgs/${name}` } });
  };
  const after = await applyInGroup(context, call, id, check, async () => {
    await applyChanges(ofCaller, context, formatPath(patterns.Org, `@${id}`), plan.changes);
  });
  return create(ApplyOrgResponseSchema, { changeCount: plan.changes.length, revision: after });
}

function requireSame(
  planned: PreparedRollback["token"],
  { name, ...token }: PreparedRollback["token"] & { readonly name: string },
): void {
  if (planned.request !== token.request && planned.revision === token.revision)
    throw invalidField("plan", "must be the plan of a request with the same revision or time and options", "plan");
  if (planned.revision !== token.revision || planned.changes !== token.changes) throw moved({ name });
}

function toResponse({ changeCount, revision }: ApplyOrgResponse): RollbackOrgResponse {
  return create(RollbackOrgResponseSchema, { changeCount, revision });
}

function describe({ sides, plan, token, preview }: PreparedRollback): RollbackOrgResponse {
  const { name, moment, revision } = sides;
  const microseconds = parseMicroseconds(moment.time);
  return create(RollbackOrgResponseSchema, {
    changeCount: plan.changes.length,
    revision,
    changes: describeChanges(name, plan.changes),
    impliedRemovals: plan.implied
      .slice(0, maxImplied)
      .map(({ path, withPath }) => ({ resourcePath: pathInOrg(name, path), withPath: pathInOrg(name, withPath) })),
    impliedRemovalCount: plan.implied.length,
    obstacles: [...plan.obstacles],
    leftOut: [...plan.leftOut],
    accessPreview: preview,
    plan: formatToken(token),
    targetRevision: moment.revision,
    targetTime: {
      ...timestampFromMs(Math.floor(microseconds / 1000)),
      nanos: (microseconds % 1e6) * 1000,
    },
  });
}

// How calls of SCIM are run: reads for the source of the caller, and writes in one transaction, under the lock of the org.
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { callerOf, targetOf } from "../access/evaluation/call.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { InProcess } from "../rpc/call-in-process.ts";
import { provision } from "../rpc/request-gate.ts";
import { readWriteRequest } from "../standard-methods/method-handler.ts";
import { applyInGroup } from "../standard-methods/write/apply-in-group.ts";
import { type WriteRunner, runWrite } from "../standard-methods/write/write-call.ts";
import type { Scene, WriteScene } from "./scene.ts";
import { findSource, noSource } from "./source.ts";

export interface ScimDependencies extends WriteRunner {
  readonly inProcess: InProcess;
  /** The URL of the service, as its clients know it. */
  readonly issuer: () => string;
}

export interface ScimCalls {
  /** Returns the URL below which everything of the org of a call is. */
  readonly baseOf: (context: HandlerContext) => string;
  /** @throws ServiceError PERMISSION_DENIED when the caller is the member of no source of the org. */
  readonly sceneOf: (context: HandlerContext) => Promise<Scene>;
  /** Runs a write: all of it, or nothing. @throws ServiceError as `sceneOf` */
  readonly write: <Answer extends Message>(
    called: DescMethod,
    request: Message,
    context: HandlerContext,
    run: (scene: WriteScene) => Promise<Answer>,
  ) => Promise<Answer>;
}

export function createScimCalls(dependencies: ScimDependencies): ScimCalls {
  const { database, inProcess, issuer } = dependencies;
  const baseOf: ScimCalls["baseOf"] = (context) =>
    `${issuer()}/scim/v2${formatReferences(patterns.Org, targetOf(context, patterns.Org))}`;

  return {
    baseOf,

    async sceneOf(context) {
      requireOwnOrg(context);
      const db = database.reads;
      return { db, source: await findSource(db, callerOf(context)), base: baseOf(context) };
    },

    async write<Answer extends Message>(
      called: DescMethod,
      request: Message,
      context: HandlerContext,
      run: (scene: WriteScene) => Promise<Answer>,
    ) {
      requireOwnOrg(context);
      const caller = callerOf(context);
      const base = baseOf(context);
      return runWrite(dependencies, readWriteRequest(called, request, context), async (call) => {
        let answer: Answer | undefined;
        await applyInGroup(context, call, caller.orgId, noCheck, async ({ db, org: { lockTime: time } }) => {
          const source = await findSource(db, caller);
          // From here on, calls in process are those of the source.
          provision(context.values);
          answer = await run({ db, source, base, time, call: (...of) => inProcess.ofCaller(...of, context) });
        });
        if (answer === undefined) throw new Error("a write without an answer");
        return answer;
      });
    },
  };
}

const noCheck = (): void => undefined;

/** A source is of the org of its member. @throws ServiceError PERMISSION_DENIED */
function requireOwnOrg(context: HandlerContext): void {
  const [org] = targetOf(context, patterns.Org);
  if (org.by !== "id" || org.value !== callerOf(context).orgId) throw noSource();
}

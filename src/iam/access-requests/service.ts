import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AccessRequest, AccessRequestsService } from "../../../gen/iam/v1alpha/access_request_pb.ts";
import { callerOf, holderOf, isAsMember, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import type { RoleDependencies } from "../roles/role-dependencies.ts";
import { type Answer, type ServedAccessRequests, answerRequest } from "./answer.ts";
import { createRequestBindings } from "./bindings.ts";
import { accessRequestDefinition } from "./definition.ts";
import { toAccessRequest } from "./message.ts";
import { createAccessRequestRules } from "./rules.ts";
import { maySee, notSeen, permissionToGet } from "./who-may.ts";

export function createAccessRequestsService(dependencies: RoleDependencies): ServiceImpl<typeof AccessRequestsService> {
  const definition = accessRequestDefinition;
  const { authorHolds, database, readers } = dependencies;
  const [place] = definition.places;
  const reader = readers.readerOf(definition, place);
  const rules = createAccessRequestRules(dependencies);
  const served: ServedAccessRequests = { definition, place, rules, reader, dependencies };
  const bindings = createRequestBindings(dependencies);
  const { method } = AccessRequestsService;

  const write = async (
    called: DescMethod,
    request: Message,
    context: HandlerContext,
    answer: Answer,
  ): Promise<AccessRequest> => {
    const path = targetOf(context, patterns.AccessRequest);
    // Who may do something there can end that also while the org is suspended, which the platform may begin and end at any time.
    const state = answer.verb === "end" ? "any" : "active";
    return runWrite(dependencies, readWriteRequest(called, request, context), (call) =>
      runOpen(call, { org: path[0], state }, async (transaction) =>
        toAccessRequest(await answerRequest(served, bindings, transaction, path, answer)),
      ),
    );
  };

  return completeService(AccessRequestsService, {
    ...createStandardHandlers(AccessRequestsService, dependencies, definition, rules),

    async getAccessRequest(_request, context) {
      const path = targetOf(context, patterns.AccessRequest);
      const row = await reader.lookup(path, visibleOf(context));
      if (isAsMember(context)) {
        const { orgId, memberId } = callerOf(context);
        const holds = await authorHolds.now({ db: database.reads, author: holderOf(context) });
        const isSeen = row !== undefined && (await maySee(row, { orgId, memberId, holds }));
        if (!isSeen) throw await notSeen(path, permissionToGet, holds);
      }
      if (row === undefined) throw notFound(definition.label.one, formatReferences(place.pattern, path));
      return toAccessRequest(row);
    },

    approveAccessRequest(request, context) {
      return write(method.approveAccessRequest, request, context, { verb: "approve", ...request });
    },

    declineAccessRequest(request, context) {
      return write(method.declineAccessRequest, request, context, { verb: "decline", ...request });
    },

    cancelAccessRequest(request, context) {
      return write(method.cancelAccessRequest, request, context, { verb: "cancel", ...request });
    },

    endAccessRequest(request, context) {
      return write(method.endAccessRequest, request, context, { verb: "end", ...request });
    },
  });
}

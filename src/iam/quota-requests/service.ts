import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type QuotaRequest, QuotaRequestsService } from "../../../gen/iam/v1alpha/quota_request_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import { patterns } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { type Decision, type ServedQuotaRequests, decide } from "./decide.ts";
import { quotaRequestDefinition } from "./definition.ts";
import { toQuotaRequest } from "./message.ts";
import { createQuotaRequestRules } from "./rules.ts";

export function createQuotaRequestsService(
  dependencies: ResourceDependencies,
): ServiceImpl<typeof QuotaRequestsService> {
  const definition = quotaRequestDefinition;
  const [place] = definition.places;
  const reader = dependencies.readers.readerOf(definition, place);
  const rules = createQuotaRequestRules(dependencies);
  const served: ServedQuotaRequests = { definition, place, rules, reader, dependencies };
  const standard = createStandardHandlers(QuotaRequestsService, dependencies, definition, rules);

  const answer = async (
    method: DescMethod,
    request: Parameters<typeof decide>[3] & Message,
    context: HandlerContext,
    decision: Decision,
  ): Promise<QuotaRequest> => {
    const path = targetOf(context, patterns.QuotaRequest);
    const write = readWriteRequest(method, request, context);
    return runWrite(dependencies, write, (call) =>
      runOpen(call, { org: path[0] }, async (transaction) =>
        toQuotaRequest(await decide(served, transaction, path, request, decision)),
      ),
    );
  };

  return completeService(QuotaRequestsService, {
    ...standard,

    approveQuotaRequest(request, context) {
      const { method } = QuotaRequestsService;
      return answer(method.approveQuotaRequest, request, context, { state: "APPROVED", limits: request.limits });
    },

    rejectQuotaRequest(request, context) {
      return answer(QuotaRequestsService.method.rejectQuotaRequest, request, context, { state: "REJECTED" });
    },
  });
}

import type { ServiceImpl } from "@connectrpc/connect";
import { QuotasService } from "../../../gen/iam/v1alpha/quota_pb.ts";
import { patternOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { required } from "../../errors/required.ts";
import { isSamePattern } from "../../paths/patterns.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { levels } from "../../quotas/levels.ts";
import { toQuota } from "./message.ts";
import { createLevelLookup } from "../../quotas/read-level.ts";
import { updateQuota } from "./update-quota.ts";

export function createQuotasService(dependencies: ResourceDependencies): ServiceImpl<typeof QuotasService> {
  const { database, registry, limits } = dependencies;
  const counting = { definitions: registry.definitions, limits };
  const served = levels.map((level) => ({ level, lookup: createLevelLookup(database, level) }));
  const levelOf = (context: Parameters<typeof patternOf>[0]) => {
    const pattern = patternOf(context);
    return required(served.find(({ level }) => isSamePattern(level.pattern, pattern)));
  };

  return {
    async getQuota(_request, context) {
      const { level, lookup } = levelOf(context);
      return toQuota(await lookup(targetOf(context, level.pattern), visibleOf(context)), counting);
    },

    async updateQuota(request, context) {
      const { level } = levelOf(context);
      const path = targetOf(context, level.pattern);
      const write = readWriteRequest(QuotasService.method.updateQuota, request, context);
      const update = { patch: required(request.quota), mask: request.updateMask };
      return runWrite(dependencies, write, async (call) =>
        toQuota(await updateQuota(dependencies, call, level, path, update), counting),
      );
    },
  };
}

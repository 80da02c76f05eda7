import type { ServiceImpl } from "@connectrpc/connect";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { OperationsService } from "../../../gen/resources/v1alpha/operation_pb.ts";
import type { Holds } from "../../access/evaluation/author-holds.ts";
import { callerOf, confirmOf, holderOf, slicesOf, targetOf, visibleOf } from "../../access/evaluation/call.ts";
import { notFound } from "../../errors/service-error.ts";
import { formatReferences } from "../../paths/format-path.ts";
import type { AnyPath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import type { ResourceRules, ServedResource } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { requireOpenParents } from "../../standard-methods/write/require-open-parents.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { runWrite } from "../../standard-methods/write/write-call.ts";
import { ledgerLocks, shareLedgerWrite } from "../ledger-writes.ts";
import { poll } from "../poll.ts";
import type { ProviderDependencies } from "../provider-dependencies.ts";
import { operationDefinition } from "./definition.ts";
import { cancelOpenOperation } from "./cancel-operation.ts";
import { showOperation, showOperations } from "./show-operations.ts";
import type { OperationRow } from "./store.ts";

type OperationSchema = typeof operationDefinition.schema;

export function createOperationsService(dependencies: ProviderDependencies): ServiceImpl<typeof OperationsService> {
  const { database, requestTimeoutMs, authorHolds, authoriserOf } = dependencies;
  const rules: ResourceRules<"operations", OperationRow, OperationSchema> = {
    scope: { kind: "parent" },
    creation: { kind: "with another" },
    revokes: "nothing",
    async show(context, rows, messages) {
      const { decideQuietly } = await authoriserOf(callerOf(context), slicesOf(context));
      const holds: Holds = async (permission, path) =>
        (await decideQuietly({ permission, listVisibility: "never" }, path)) !== undefined;
      return showOperations(holds, rows, messages);
    },
  };
  const [place] = operationDefinition.places;
  const reader = dependencies.readers.readerOf(operationDefinition, place);
  const served: ServedResource<"operations", OperationRow, OperationSchema> = {
    definition: operationDefinition,
    place,
    rules,
    reader,
    dependencies,
  };
  const standard = createStandardHandlers(OperationsService, dependencies, operationDefinition, rules);

  const own: Partial<ServiceImpl<typeof OperationsService>> = {
    async waitOperation({ timeout }, context) {
      const path = targetOf(context, patterns.Operation);
      const visible = visibleOf(context);
      const limits = {
        waitMs: timeout === undefined ? Infinity : durationMs(timeout),
        callMs: Math.min(context.timeoutMs() ?? Infinity, requestTimeoutMs),
      };
      const missing = () => notFound("operation", formatReferences(patterns.Operation, path));
      let waited = false;
      const read = async (hasWaited: boolean): Promise<OperationRow> => {
        waited = hasWaited;
        const row = await reader.lookup(path, visible);
        if (row === undefined) throw missing();
        return row;
      };
      const row = await poll(read, (found) => found.end_time !== null, limits, context.signal);
      // Meanwhile the caller may have lost the permission, or the org or project may have been suspended.
      if (waited) await confirmOf(context)(database.reads, undefined);
      const holds = await authorHolds.now({ db: database.reads, author: holderOf(context) });
      // What a `-` showed was decided before the wait.
      const isWritten = path.every(({ by }) => by !== "any");
      if (waited && !isWritten && !(await holds("resources.operations.get", placeOf(row)))) throw missing();
      return showOperation(holds, row);
    },

    cancelOperation(request, context) {
      const path = targetOf(context, patterns.Operation);
      const { cancelOperation } = OperationsService.method;
      const write = shareLedgerWrite(readWriteRequest(cancelOperation, request, context));
      return runWrite(dependencies, write, (call) =>
        runOpen(call, ledgerLocks(path[0]), async (transaction) => {
          const found = await requireFound(served, transaction, await reader.find(call.db, path), path, "");
          await requireOpenParents(served, transaction, [found], alone);
          const row = await cancelOpenOperation(transaction, dependencies, found);
          return showOperation(await authorHolds.now(transaction), row);
        }),
      );
    },
  };
  return completeService(OperationsService, { ...standard, ...own });
}

/** Returns the path of an operation, by ids. */
function placeOf({ org_id: orgId, project_id: projectId, id }: OperationRow): AnyPath {
  const references = [orgId, projectId, id].map((value) => ({ by: "id", value }) as const);
  return { pattern: patterns.Operation, references };
}

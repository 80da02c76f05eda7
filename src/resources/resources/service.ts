import { type DescMethod, type Message, create as createMessage } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { Operation } from "../../../gen/resources/v1alpha/operation_pb.ts";
import {
  BatchCreateResourcesResponseSchema,
  BatchDeleteResourcesResponseSchema,
  type Resource,
  ResourcesService,
} from "../../../gen/resources/v1alpha/resource_pb.ts";
import { targetOf, visibleTypesOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import {
  type FieldViolation,
  ServiceError,
  invalidField,
  invalidFields,
  notFound,
} from "../../errors/service-error.ts";
import { readBalances } from "../../quotas/read-balances.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { findAll } from "../../standard-methods/batch/batch-delete.ts";
import { type AtItem, alone, atItemOf, mapItems } from "../../standard-methods/batch/batch-item.ts";
import { checkRequests } from "../../standard-methods/batch/batch-methods.ts";
import { readDeletedPaths } from "../../standard-methods/batch/batch-paths.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import type { Outcome } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { checkNew } from "../../standard-methods/write/check-new.ts";
import { planCreation } from "../../standard-methods/write/create.ts";
import { requireFound } from "../../standard-methods/write/require-found.ts";
import { requireOpenParents } from "../../standard-methods/write/require-open-parents.ts";
import { runOpen } from "../../standard-methods/write/open-write.ts";
import { type WriteCall, runWrite } from "../../standard-methods/write/write-call.ts";
import { writeRows } from "../../standard-methods/write/write-rows.ts";
import { placeOf } from "../counted-amounts.ts";
import { ledgerLocks, shareLedgerWrite } from "../ledger-writes.ts";
import { showOperations } from "../operations/show-operations.ts";
import type { ProviderDependencies } from "../provider-dependencies.ts";
import type { CheckedParameters } from "../parameters.ts";
import { infrastructureDefinition } from "./definition.ts";
import { resourcePath } from "./message.ts";
import { startUndelete } from "./start-undelete.ts";
import { type InfrastructureDraft, createInfrastructureRules } from "./rules.ts";
import { type WantedOperation, type Started, nothingGiven, startChange, startCreation } from "./start-change.ts";
import type { InfrastructureRow } from "./store.ts";

/** Starts an operation on a resource. */
type Start = (transaction: OrgTransaction, row: InfrastructureRow) => Promise<Started>;

export function createResourcesService(dependencies: ProviderDependencies): ServiceImpl<typeof ResourcesService> {
  const [place] = infrastructureDefinition.places;
  const reader = dependencies.readers.readerOf(infrastructureDefinition, place);
  const rules = createInfrastructureRules(dependencies.readers);
  const served = { definition: infrastructureDefinition, place, rules, reader, dependencies };
  const standard = createStandardHandlers(ResourcesService, dependencies, infrastructureDefinition, rules);

  /** Starts operations in the org of a path. */
  const startAll = (
    call: WriteCall,
    path: readonly Reference[],
    run: (transaction: OrgTransaction) => Promise<Started[]>,
  ): Promise<Operation[]> =>
    runOpen(call, ledgerLocks(required(path[0])), async (transaction) =>
      toAnswers(dependencies, call, transaction, await run(transaction)),
    );

  const create = (
    call: WriteCall,
    parent: readonly Reference[],
    messages: readonly Resource[],
    checked: readonly Outcome<CheckedParameters>[],
    atItem: AtItem,
  ): Promise<Operation[]> => {
    const resources = { parents: messages.map(() => parent), messages, checked };
    const prepare = (transaction: OrgTransaction) =>
      planCreation(served, transaction, resources, atItem, async (rows, drafts: readonly InfrastructureDraft[]) => {
        const started = await mapItems(rows, atItem, (row, index) =>
          startCreation(transaction, dependencies, row, required(drafts[index]), required(messages[index])),
        );
        return toAnswers(dependencies, call, transaction, started);
      });
    return writeRows(served, call, { locks: ledgerLocks(required(parent[0])), prepare, atItem });
  };

  const running =
    (wanted: WantedOperation): Start =>
    (transaction, row) =>
      startChange(transaction, dependencies, row, wanted);

  const change = async (method: DescMethod, request: Message, context: HandlerContext, etag: string, start: Start) => {
    const path = targetOf(context, patterns.Resource);
    const write = shareLedgerWrite(readWriteRequest(method, request, context));
    return runWrite(dependencies, write, async (call) => {
      const [operation] = await startAll(call, path, async (transaction) => {
        const row = await requireFound(served, transaction, await reader.find(call.db, path), path, etag);
        requireOfTypes(visibleTypesOf(context), row);
        await requireOpenParents(served, transaction, [row], alone);
        return [await start(transaction, row)];
      });
      return required(operation);
    });
  };

  const own: Partial<ServiceImpl<typeof ResourcesService>> = {
    async createResource(request, context) {
      const parent = targetOf(context, patterns.Project);
      const write = shareLedgerWrite(readWriteRequest(ResourcesService.method.createResource, request, context));
      const resource = required(request.resource);
      const checked = await checkNew(served, [resource], write.slices);
      return runWrite(dependencies, write, async (call) => {
        const [operation] = await create(call, parent, [resource], checked, alone);
        return required(operation);
      });
    },

    async batchCreateResources(request, context) {
      const { requests } = request;
      const parent = targetOf(context, patterns.Project);
      const write = readWriteRequest(ResourcesService.method.batchCreateResources, request, context);
      const messages = requests.map(({ resource }) => required(resource));
      const checked = await checkNew(served, messages, write.slices);
      return runWrite(dependencies, write, async (call) => {
        await checkRequests(served, parent, requests);
        const operations = await create(call, parent, messages, checked, atItemOf("requests"));
        return createMessage(BatchCreateResourcesResponseSchema, { operations });
      });
    },

    async batchDeleteResources(request, context) {
      const parent = targetOf(context, patterns.Project);
      const types = visibleTypesOf(context);
      const write = readWriteRequest(ResourcesService.method.batchDeleteResources, request, context);
      return runWrite(dependencies, write, async (call) => {
        const paths = await readDeletedPaths(served, parent, request);
        const operations = await startAll(call, parent, async (transaction) => {
          const found = inOrder(await findAll(served, call.db, paths, false));
          const rows = found.map(({ row }) => row);
          await requireOpenParents(served, transaction, rows, atPath);
          return mapItems(found, atPath, async ({ at, row }) => {
            requireOfTypes(types, row);
            await requireFound(served, transaction, row, at.written, at.etag);
            return startChange(transaction, dependencies, row, { verb: "delete", field: "path", ...nothingGiven });
          });
        });
        return createMessage(BatchDeleteResourcesResponseSchema, { operations });
      });
    },

    deleteResource(request, context) {
      const wanted = { verb: "delete", field: "path", ...nothingGiven };
      return change(ResourcesService.method.deleteResource, request, context, request.etag, running(wanted));
    },

    undeleteResource(request, context) {
      return change(ResourcesService.method.undeleteResource, request, context, request.etag, (transaction, row) =>
        startUndelete(served, transaction, row),
      );
    },

    runResource(request, context) {
      const { operation: verb, quantities, qualities, references, etag } = request;
      requireRunnable(verb);
      const wanted = { verb, field: "operation", variables: { quantities, qualities }, references };
      return change(ResourcesService.method.runResource, request, context, etag, running(wanted));
    },
  };
  return completeService(ResourcesService, { ...namingOperations(standard), ...own });
}

const atPath = atItemOf("paths");

/** Returns what was found at the paths of a batch in their order. */
const inOrder = <Found extends { readonly at: { readonly index: number } }>(found: readonly Found[]): Found[] =>
  found.toSorted((one, other) => one.at.index - other.at.index);

/** The fields of a resource that are changed by operations. */
const changedByOperations: ReadonlySet<string> = new Set(
  ["quantities", "qualities", "references"].map((name) => `resource.${name}`),
);

/** Returns the handlers with an update whose errors say what changes the fields that it cannot change. */
function namingOperations(
  standard: Partial<ServiceImpl<typeof ResourcesService>>,
): Partial<ServiceImpl<typeof ResourcesService>> {
  const update = required(standard.updateResource);
  return {
    ...standard,
    async updateResource(request, context) {
      try {
        return await update(request, context);
      } catch (error) {
        throw error instanceof ServiceError ? withOperations(error) : error;
      }
    },
  };
}

function withOperations(error: ServiceError): ServiceError {
  const isOfOperation = ({ field, rule }: FieldViolation) => rule === "immutable" && changedByOperations.has(field);
  if (!error.violations.some(isOfOperation)) return error;
  const run =
    "run an operation of the type that takes them, such as resize, with RunResource (POST .../resources/{resource}:run)";
  return invalidFields(
    error.violations.map((each) =>
      isOfOperation(each) ? { ...each, description: `cannot be changed by an update; ${run}` } : each,
    ),
  );
}

/**
 * Checks that a row is of a type for which the call was authorised: names can be reassigned before the handler runs.
 *
 * @param types undefined if the call was authorised for all.
 * @throws ServiceError RESOURCE_NOT_FOUND
 */
function requireOfTypes(types: readonly string[] | undefined, row: InfrastructureRow): void {
  if (types?.includes(row.type_id) === false) throw notFound("resource", resourcePath(row));
}

/** @throws ServiceError FIELD_INVALID for an operation that callers start by another method, or not at all. */
function requireRunnable(verb: string): void {
  const problem = notRunnable.get(verb);
  if (problem !== undefined) throw invalidField("operation", `must not be ${verb}, ${problem}`, "operation");
}

const ownMethod = "which has a method of its own";
const withProject = "which the service starts when the project or the org is suspended or activated";
const notRunnable: ReadonlyMap<string, string> = new Map([
  ["create", ownMethod],
  ["delete", ownMethod],
  ["undelete", ownMethod],
  ["suspend", withProject],
  ["resume", withProject],
]);

/**
 * Returns operations that were started, as the caller may see them; for a request that is only validated, with what they would leave
 * in the quotas.
 */
async function toAnswers(
  { authorHolds }: ProviderDependencies,
  { db, request }: WriteCall,
  transaction: OrgTransaction,
  started: readonly Started[],
): Promise<Operation[]> {
  const holds = await authorHolds.now(transaction);
  const answers = await showOperations(
    holds,
    started.map(({ operation }) => operation),
  );
  if (!request.validateOnly) return answers;
  for (const [index, { resource, held }] of started.entries()) {
    const place = placeOf(transaction, resource);
    required(answers[index]).quotaBalances = await readBalances(db, holds, place, resource.id, held);
  }
  return answers;
}

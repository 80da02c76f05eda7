import type { DescMethod } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { v7 as uuidv7 } from "uuid";
import { ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { targetOf } from "../../access/evaluation/call.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { required } from "../../errors/required.ts";
import { invalidField } from "../../errors/service-error.ts";
import { patterns } from "../../paths/patterns.ts";
import type { Reference } from "../../paths/parse-path.ts";
import { alone } from "../../standard-methods/batch/batch-item.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { updateRow } from "../../standard-methods/rows/update-row.ts";
import type { ServedResource } from "../../standard-methods/rules.ts";
import { completeService, createStandardHandlers } from "../../standard-methods/standard-service.ts";
import { recordChange } from "../../standard-methods/write/append-change.ts";
import { insertAll } from "../../standard-methods/write/create.ts";
import { requireFound } from "../../standard-methods/write/found.ts";
import { requireOpenParents } from "../../standard-methods/write/require-open-parents.ts";
import { closeScope, openScope } from "../../standard-methods/write/scope.ts";
import { type WriteCall, runWrite } from "../../standard-methods/write/write-call.ts";
import { toOperation } from "../operations/message.ts";
import { type Variables, readVariables } from "../operations/read-variables.ts";
import { startOperation } from "../operations/start-operation.ts";
import { reserve } from "../../iam/quotas/ledger.ts";
import { lockCustomersOf } from "../../iam/quotas/lock-customers-of.ts";
import { countedAmounts, placeOf } from "../ledger.ts";
import type { ProviderDependencies } from "../provider-dependencies.ts";
import { readType } from "../resource-types/find-type.ts";
import { infrastructureDefinition } from "./definition.ts";
import { toResource } from "./message.ts";
import { givenWith } from "./change-resource.ts";
import { requireIdle } from "./require-idle.ts";
import { infrastructureRules, requireOperation } from "./rules.ts";
import type { InfrastructureRow } from "./store.ts";

type Served = ServedResource<"resources", InfrastructureRow, typeof infrastructureDefinition.schema>;

/** An operation on a resource that exists. */
interface Change {
  readonly verb: string;
  /** The request field that names the verb; for errors. */
  readonly field: string;
  readonly etag: string;
  readonly variables: Variables;
  readonly state: "UPDATING" | "DELETING";
}

const nothing: Variables = { quantities: {}, qualities: {} };
const variableFields = { quantities: "quantities", qualities: "qualities" };

export function createResourcesService(dependencies: ProviderDependencies): ServiceImpl<typeof ResourcesService> {
  const [place] = infrastructureDefinition.places;
  const reader = dependencies.readers.readerOf(infrastructureDefinition, place);
  const served: Served = {
    definition: infrastructureDefinition,
    place,
    rules: infrastructureRules,
    reader,
    dependencies,
  };
  const standard = createStandardHandlers(
    ResourcesService,
    dependencies,
    infrastructureDefinition,
    infrastructureRules,
  );

  /** Begins a write in the org of a path. The customer is locked first, because quotas of customers are in the ledger. */
  const begin = async (call: WriteCall, path: readonly Reference[]): Promise<OrgTransaction> => {
    await lockCustomersOf(call.db, [path]);
    return openScope(served, call, path);
  };

  const change = (method: DescMethod, request: object, context: HandlerContext, wanted: Change) => {
    const path = targetOf(context, patterns.Resource);
    return runWrite(dependencies, readWriteRequest(method, request, context), async (call) => {
      const transaction = await begin(call, path);
      const { db } = transaction;
      const row = await requireFound(served, transaction, await reader.find(db, path), path, wanted.etag);
      await requireOpenParents(served, transaction, [row], alone);
      requireIdle(row);
      const type = await readType(db, row.type_id);
      const definition = requireOperation(type, wanted.verb, wanted.field);
      const variables = await readVariables(db, definition, wanted.variables, variableFields);
      const id = uuidv7();
      const resource = await setState(transaction, row, wanted.state, id);
      const has = wanted.verb === "delete" ? row : givenWith(row, variables);
      const held = { ...has.given_quantities, ...variables.quantities };
      await reserve(transaction, placeOf(transaction, row), row.id, countedAmounts(type.operations, held));
      const { verb } = wanted;
      const operation = { id, verb, resource, priorState: row.state, type, wanted: variables };
      const started = await startOperation(transaction, operation);
      await closeScope(call, transaction);
      return toOperation(started);
    });
  };

  const own: Partial<ServiceImpl<typeof ResourcesService>> = {
    createResource(request, context) {
      const parent = targetOf(context, patterns.Project);
      const write = readWriteRequest(ResourcesService.method.createResource, request, context);
      const create = async (call: WriteCall) => {
        const transaction = await begin(call, parent);
        const message = required(request.resource);
        const resource = required((await insertAll(served, transaction, parent, [message], alone))[0]);
        const type = await readType(transaction.db, resource.type_id);
        const wanted = countedAmounts(type.operations, resource.quantities);
        await reserve(transaction, placeOf(transaction, resource), resource.id, wanted);
        const id = required(resource.operation_id);
        const operation = { id, verb: "create", resource, priorState: null, type, wanted: resource };
        const started = await startOperation(transaction, operation);
        await closeScope(call, transaction);
        return toOperation(started);
      };
      return runWrite(dependencies, write, create) as Promise<ReturnType<typeof toOperation>>;
    },

    deleteResource(request, context) {
      const { method } = ResourcesService;
      const wanted = {
        verb: "delete",
        field: "path",
        state: "DELETING",
        variables: nothing,
        etag: request.etag,
      } as const;
      return change(method.deleteResource, request, context, wanted) as Promise<ReturnType<typeof toOperation>>;
    },

    runResource(request, context) {
      const { operation: verb, quantities, qualities, etag } = request;
      if (verb === "create" || verb === "delete") {
        throw invalidField("operation", `must not be ${verb}, which has a method of its own`, "operation");
      }
      const wanted = {
        verb,
        field: "operation",
        state: "UPDATING",
        variables: { quantities, qualities },
        etag,
      } as const;
      const { runResource } = ResourcesService.method;
      return change(runResource, request, context, wanted) as Promise<ReturnType<typeof toOperation>>;
    },
  };
  return completeService(ResourcesService, { ...standard, ...own });
}

async function setState(
  transaction: OrgTransaction,
  row: InfrastructureRow,
  state: InfrastructureRow["state"],
  operationId: string,
): Promise<InfrastructureRow> {
  const { db, org, revision, time } = transaction;
  const target = { db, orgId: org.id, revision, time };
  const columns = { state, operation_id: operationId };
  const change = { fields: toResource(row), columns };
  const after = { ...row, ...(await updateRow(target, infrastructureDefinition, row, change)) };
  recordChange(transaction, infrastructureDefinition, row, after);
  return after;
}

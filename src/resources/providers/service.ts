import { type Message, create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type Duration, durationMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Operation } from "../../../gen/resources/v1alpha/operation_pb.ts";
import {
  type Claim,
  ClaimOperationsResponseSchema,
  ClaimSchema,
  ProviderService,
  RenewOperationResponseSchema,
} from "../../../gen/resources/v1alpha/provider_pb.ts";
import { Resource_State } from "../../../gen/resources/v1alpha/resource_pb.ts";
import type { Database } from "../../database/database.ts";
import { callerOf, confirmOf } from "../../access/evaluation/call.ts";
import { unlimited } from "../../access/evaluation/visibility.ts";
import type { OrgTransaction } from "../../changes/write-in-org.ts";
import { withReadableQuotas } from "../../quotas/quota-exceeded.ts";
import { required } from "../../errors/required.ts";
import { invalidField, notFound } from "../../errors/service-error.ts";
import { parseResourcePath } from "../../paths/parse-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { checkItems } from "../../standard-methods/batch/batch-item.ts";
import type { QueuedCall } from "../../scheduling/fair-queue.ts";
import { lookUpByKeys, readByKeys } from "../../standard-methods/read/row-reader.ts";
import { readWriteRequest } from "../../standard-methods/method-handler.ts";
import { operationDefinition } from "../operations/definition.ts";
import { type Outcome, endOperation, readResourceOf } from "../operations/end-operation.ts";
import { toOperation } from "../operations/message.ts";
import { type OperationRow, maxAttempts } from "../operations/store.ts";
import { runLedgerWrite } from "../ledger-writes.ts";
import { poll } from "../poll.ts";
import { requireStorable } from "../require-storable.ts";
import type { ProviderDependencies } from "../provider-dependencies.ts";
import { resourceTypeDefinition } from "../resource-types/definition.ts";
import { infrastructureDefinition } from "../resources/definition.ts";
import {
  type Claimed,
  type PresentedClaim,
  createClaimOperations,
  giveBack,
  lockClaimed,
  requireClaimed,
  renewClaim,
} from "./claims.ts";
import { findOperation, findResource } from "./find-by-id.ts";
import { createFindService } from "./find-service.ts";
import { readCompletion } from "./read-completion.ts";
import { applyReport } from "./report.ts";

const defaultClaimSeconds = 60;
/** The pause before a retry doubles with each attempt, up to ten minutes. */
const firstRetrySeconds = 2;
const longestRetrySeconds = 600;

const reportedStates: Readonly<Partial<Record<Resource_State, "ACTIVE" | "FAILED">>> = {
  [Resource_State.ACTIVE]: "ACTIVE",
  [Resource_State.FAILED]: "FAILED",
};

/** The fields of each request about a claim. */
interface ClaimRequest extends Message {
  readonly operationPath: string;
  readonly claimToken: string;
}

interface LockedClaim {
  readonly transaction: OrgTransaction;
  readonly claim: PresentedClaim;
  readonly operation: OperationRow;
  readonly attempts: number;
}

export function createProviderService(dependencies: ProviderDependencies): ServiceImpl<typeof ProviderService> {
  const { database, readers, requestTimeoutMs } = dependencies;
  const serviceOf = createFindService(dependencies);
  const types = readers.readerOf(resourceTypeDefinition, resourceTypeDefinition.places[0]);
  const resources = readers.readerOf(infrastructureDefinition, infrastructureDefinition.places[0]);
  const claimOperations = createClaimOperations(database);

  /** @throws ServiceError PATH_INVALID or FIELD_INVALID that names the path: `type_paths[1]`. */
  const typeIdsOf = (serviceId: string, paths: readonly string[]): Promise<string[]> =>
    checkItems(paths, async (path, index) => {
      const field = `type_paths[${index}]`;
      const type = await types.lookup(parseResourcePath(patterns.ResourceType, path, field), unlimited);
      if (type?.service_id === serviceId) return type.id;
      throw invalidField(field, `names no resource type of the service: ${path}`, "type");
    });

  const readClaim = async (request: ClaimRequest, context: HandlerContext): Promise<PresentedClaim> => {
    const { id: serviceId } = await serviceOf(context, "claim");
    const operation = await findOperation(database, serviceId, request.operationPath);
    return { serviceId, orgId: operation.org_id, operationId: operation.id, token: request.claimToken };
  };

  /** Runs a write about a claimed operation. */
  const writeClaimed = async (
    verb: "complete" | "fail",
    request: ClaimRequest,
    context: HandlerContext,
    write: (locked: LockedClaim) => Promise<OperationRow>,
  ): Promise<Operation> => {
    const claim = await readClaim(request, context);
    return runLedgerWrite(
      dependencies,
      claim.orgId,
      readWriteRequest(ProviderService.method[`${verb}Operation`], request, context),
      async (transaction) => {
        const claimed = lockClaimed(transaction.db, claim);
        const [operation] = await readByKeys(transaction.db, operationDefinition, [keyOf(claim)]);
        const locked = { transaction, claim, operation: required(operation), ...requireClaimed(claimed()) };
        return toOperation(await withReadableQuotas(dependencies.authorHolds, transaction, () => write(locked)));
      },
    );
  };

  return {
    async claimOperations({ maxOperations, claimDuration, wait, typePaths, verbs, routingKeys }, context) {
      const { id: serviceId, withGuarded } = await serviceOf(context, "claim");
      const typeIds = await typeIdsOf(serviceId, typePaths);
      const claimable = { serviceId, typeIds, verbs, routingKeys, withGuarded };
      const [count, seconds] = [maxOperations || 1, secondsOf(claimDuration)];
      const claim = (hasWaited: boolean): Promise<Claimed[]> => {
        const confirm = () => (hasWaited ? confirmOf(context)(database.reads, undefined) : Promise.resolve());
        return claimOperations(claimable, { count, seconds, queued: queuedAs(context), confirm });
      };
      const limits = {
        waitMs: wait === undefined ? 0 : durationMs(wait),
        callMs: Math.min(context.timeoutMs() ?? Infinity, requestTimeoutMs),
      };
      const claimed = await poll(claim, (rows) => rows.length > 0, limits, context.signal);
      return create(ClaimOperationsResponseSchema, { claims: await toClaims(database, claimed) });
    },

    async renewOperation(request, context) {
      const { claimDuration, progressPercent, progressMessage } = request;
      const claim = await readClaim(request, context);
      const renewal = { seconds: secondsOf(claimDuration), progressPercent, progressMessage };
      const { claim_expire_time: expire, cancel_requested: cancelRequested } = await renewClaim(
        database,
        claim,
        renewal,
      );
      return create(RenewOperationResponseSchema, { claimExpireTime: timestampFromDate(expire), cancelRequested });
    },

    completeOperation(request, context) {
      const { givenQuantities, givenQualities, outputs } = request;
      if (outputs !== undefined) requireStorable(outputs, "outputs");
      return writeClaimed("complete", request, context, async ({ transaction, operation }) => {
        const resource = await readResourceOf(transaction, operation);
        const returned = { quantities: givenQuantities, qualities: givenQualities };
        const given = await readCompletion(transaction, operation, resource, returned);
        return endOperation(transaction, dependencies, operation, resource, { state: "SUCCEEDED", given, outputs });
      });
    },

    async reportResource(request, context) {
      const { state, stateReason, givenQuantities, outputs } = request;
      if (outputs !== undefined) requireStorable(outputs, "outputs");
      const found = await findResource(database, resources, await serviceOf(context, "report"), request.resourcePath);
      const method = ProviderService.method.reportResource;
      return runLedgerWrite(
        dependencies,
        found.org_id,
        readWriteRequest(method, request, context),
        async (transaction) => {
          const [resource] = await readByKeys(transaction.db, infrastructureDefinition, [found]);
          if (resource === undefined) throw notFound("resource", request.resourcePath);
          const report = { state: reportedStates[state], stateReason, givenQuantities, outputs };
          const after = await applyReport(transaction, dependencies.authorHolds, resource, report);
          return infrastructureDefinition.toMessage(after);
        },
      );
    },

    failOperation(request, context) {
      const { reason, message, retry } = request;
      return writeClaimed("fail", request, context, async ({ transaction, claim, operation, attempts }) => {
        if (retry && attempts < maxAttempts && !operation.cancel_requested) {
          const pause = Math.min(firstRetrySeconds * 2 ** (attempts - 1), longestRetrySeconds);
          return { ...operation, ...(await giveBack(transaction, claim, { reason, message }, pause)) };
        }
        const failed: Outcome = { state: "FAILED", reason, message };
        const outcome: Outcome = operation.cancel_requested ? { state: "CANCELLED" } : failed;
        const resource = await readResourceOf(transaction, operation);
        return endOperation(transaction, dependencies, operation, resource, outcome);
      });
    },
  };
}

async function toClaims(database: Database, claimed: readonly Claimed[]): Promise<Claim[]> {
  const operations = (await lookUpByKeys(database, operationDefinition, claimed)).map(required);
  const keys = operations.map(({ org_id, resource_id: id }) => ({ org_id, id }));
  const changed = await lookUpByKeys(database, infrastructureDefinition, keys);
  return claimed.map(({ claim_token: claimToken, attempts, claim_expire_time: expire }, index) => {
    const resource = changed[index];
    return create(ClaimSchema, {
      operation: toOperation(required(operations[index])),
      ...(resource !== undefined && { resource: infrastructureDefinition.toMessage(resource) }),
      claimToken,
      claimExpireTime: timestampFromDate(expire),
      attempt: attempts,
    });
  });
}

/** Calls of one provider take the place of those of one org. */
const queuedAs = (context: HandlerContext): QueuedCall => ({
  orgId: callerOf(context).memberId,
  target: undefined,
  signal: () => context.signal,
});

const keyOf = ({ orgId, operationId }: PresentedClaim) => ({ org_id: orgId, id: operationId });

function secondsOf(duration: Duration | undefined): number {
  return duration === undefined ? defaultClaimSeconds : durationMs(duration) / 1_000;
}

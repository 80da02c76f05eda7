// Carries out the operations of one service: claims them, renews the claims while it works, and ends them. Several operations
// run at once, but never two on one resource.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, ConnectError } from "@connectrpc/connect";
import type { Claim, ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { type Driver, type Given, OperationFailure, type Work } from "./driver.ts";
import { isTransient, reasonOf } from "./service-errors.ts";

const maxConcurrent = 10;
const waitMs = 20_000;
const retryMs = 1_000;
/** Longer than the longest wait. */
const callTimeoutMs = 30_000;

export interface ClaimLoopOptions {
  readonly service: string;
  readonly drivers: readonly Driver[];
  /** How long a claim lasts unless it is renewed. */
  readonly claimMs: number;
  readonly log: (line: string) => void;
}

/**
 * Runs until the signal is aborted and the operations that were begun have ended.
 *
 * @throws ConnectError when the service refuses the calls of the provider.
 */
export async function runClaimLoop(
  provider: Client<typeof ProviderService>,
  { service, drivers, claimMs, log }: ClaimLoopOptions,
  signal: AbortSignal,
): Promise<void> {
  const servicePath = `services/${service}`;
  const claimDuration = durationFromMs(claimMs);
  const attempts = new Map<string, Promise<void>>();

  while (!signal.aborted) {
    try {
      const request = { servicePath, maxOperations: maxConcurrent - attempts.size, claimDuration };
      const { claims } = await provider.claimOperations(
        { ...request, wait: durationFromMs(waitMs) },
        { signal, timeoutMs: callTimeoutMs },
      );
      claims.forEach(begin);
      if (attempts.size >= maxConcurrent) await Promise.race(attempts.values());
    } catch (error) {
      if (signal.aborted) break;
      if (!isTransient(error)) throw error;
      log(`cannot claim operations, tries again: ${ConnectError.from(error).message}`);
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
  // What was claimed is ended, so that nobody waits until the claims expire.
  while (attempts.size > 0) await Promise.all(attempts.values());

  /** Begins an attempt when the one before it on the same resource is over, even if that one has lost its claim. */
  function begin(claim: Claim): void {
    const id = claim.resource?.id ?? "";
    const attempt = (attempts.get(id) ?? Promise.resolve())
      .then(() => carryOut(claim))
      .catch((error: unknown) => log(`${claim.operation?.path}: ${String(error)}`))
      .finally(() => {
        if (attempts.get(id) === attempt) attempts.delete(id);
      });
    attempts.set(id, attempt);
  }

  async function carryOut({ operation, resource, claimToken, attempt }: Claim): Promise<void> {
    if (operation === undefined || resource === undefined) return;
    const held = { servicePath, operationPath: operation.path, claimToken };
    const lost = new AbortController();
    const what = `${operation.verb} ${resource.path} (attempt ${attempt})`;
    log(`${what}: begins`);
    let renewedAt = performance.now();
    const renewal = setInterval(() => {
      const now = performance.now();
      provider.renewOperation({ ...held, claimDuration }, { timeoutMs: claimMs }).then(
        () => (renewedAt = now),
        (error: unknown) => {
          if (reasonOf(error) === "CLAIM_VOID" || now - renewedAt >= claimMs) lost.abort(error);
        },
      );
    }, claimMs / 3);
    try {
      const given = await run({ operation, resource, signal: lost.signal });
      const { quantities: givenQuantities = {}, outputs } = given;
      const result = { ...held, givenQuantities, ...(outputs !== undefined && { outputs }), requestId: randomUUID() };
      await persist(() => provider.completeOperation(result, { timeoutMs: callTimeoutMs }), lost.signal);
      log(`${what}: done`);
    } catch (error) {
      if (lost.signal.aborted || reasonOf(error) === "CLAIM_VOID") return log(`${what}: the claim is void`);
      log(`${what}: ${String(error)}`);
      const { reason, message, retry } = toFailure(error);
      const request = { ...held, reason, message, retry, requestId: randomUUID() };
      await persist(() => provider.failOperation(request, { timeoutMs: callTimeoutMs }), lost.signal);
    } finally {
      clearInterval(renewal);
    }
  }

  async function run(work: Work): Promise<Given> {
    const { typePath, verb, cancelRequested } = work.operation;
    const driver = drivers.find(({ type }) => typePath === `/services/${service}/resourceTypes/${type}`);
    const operation = driver?.operations[verb];
    if (operation === undefined) throw new OperationFailure("UNSUPPORTED", `${typePath} has no ${verb} here`);
    if (!cancelRequested) return operation.run(work);
    // An earlier attempt may have begun to create the resource, which no longer exists when its creation is cancelled.
    if (verb === "create") {
      await driver?.operations["delete"]?.run(work);
      await driver?.operations["purge"]?.run(work);
    }
    throw new OperationFailure("CANCELLED", "the operation was cancelled");
  }
}

/** Makes a call until it has an answer. Its request id makes this safe: what was executed is not executed again. */
async function persist(call: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (!isTransient(error)) throw error;
      await sleep(retryMs, undefined, { signal });
    }
  }
}

/** Customers read the message of a failure, so that of an unexpected error is not sent. */
function toFailure(error: unknown): OperationFailure {
  if (error instanceof OperationFailure) return error;
  if (error instanceof ConnectError) return new OperationFailure("RESULT_REFUSED", error.rawMessage);
  return new OperationFailure("INTERNAL", "the provider has a problem", { retry: true });
}

import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import { createRecordSupportUse } from "../events/changes/record-support-use.ts";
import type { AccessLog } from "../events/access-events/access-log.ts";
import { createTypePermissions } from "../resources/type-permissions.ts";
import { createExplainError } from "../rpc/explain-error.ts";
import type { Guards } from "../rpc/guards.ts";
import { createCallInterceptor, createErrorInterceptor } from "../rpc/interceptors.ts";
import { createConcurrencyInterceptor } from "../rpc/limits/concurrency.ts";
import { createOpenStreamsInterceptor } from "../rpc/limits/open-streams.ts";
import { createLimitBody } from "../rpc/limits/limit-body.ts";
import { createTakeSlice } from "../rpc/limits/take-slice.ts";
import { createNoteRefusal } from "../rpc/refused-calls.ts";
import { createRequestGate } from "../rpc/request-gate.ts";
import { traceDecision, traceGate } from "../rpc/trace-decision.ts";
import type { Access } from "./access.ts";
import type { Contract } from "./contract.ts";
import type { Identity } from "./identity.ts";
import type { ReadsAndWrites } from "./reads-and-writes.ts";
import type { Scheduling } from "./scheduling.ts";

type Settings = Pick<
  Config,
  "callsPerCaller" | "callsPerOrg" | "maxBodyBytes" | "requestTimeoutMs" | "streamsPerCaller"
>;

interface Parts {
  readonly database: Database;
  readonly contract: Pick<Contract, "methods">;
  readonly scheduling: Pick<Scheduling, "bodySlots" | "countCall" | "timeSlices">;
  readonly access: Pick<Access, "authorise" | "confirmOf">;
  readonly identity: Pick<Identity, "authenticate">;
  readonly readsAndWrites: Pick<ReadsAndWrites, "readers" | "writeQueue">;
  readonly accessLog: Pick<AccessLog, "note">;
  readonly logger: Logger;
}

/** Creates what every call passes before its handler, whichever protocol it comes over. */
export function composeGuards(settings: Settings, parts: Parts): Guards {
  const { database, contract, scheduling, access, identity, readsAndWrites, accessLog, logger } = parts;
  const { methods } = contract;
  const { bodySlots, countCall, timeSlices } = scheduling;
  const explain = createExplainError(logger);
  const noteRefusal = createNoteRefusal(methods, accessLog.note);
  const typePermissions = createTypePermissions(database, readsAndWrites.readers);
  return {
    gate: traceGate(createRequestGate(methods, identity.authenticate, countCall, explain, timeSlices, noteRefusal)),
    body: createLimitBody(bodySlots, settings.maxBodyBytes, explain),
    slice: createTakeSlice(methods, timeSlices, explain),
    errors: createErrorInterceptor(explain, noteRefusal),
    concurrency: createConcurrencyInterceptor(methods, settings),
    streams: createOpenStreamsInterceptor(settings.streamsPerCaller, settings.requestTimeoutMs),
    call: traceDecision(
      createCallInterceptor(
        methods,
        access.authorise,
        access.confirmOf,
        typePermissions,
        timeSlices,
        createRecordSupportUse({ database, writeQueue: readsAndWrites.writeQueue }),
      ),
    ),
    explain,
  };
}

import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Database } from "../database/database.ts";
import type { DatabaseReach } from "../database/reach.ts";
import { createRecordSupportUse } from "../events/changes/record-support-use.ts";
import type { AccessLog } from "../events/access-events/access-log.ts";
import { methodsAway, stalenessOf } from "../iam/access-checks/staleness-of.ts";
import { createTypePermissions } from "../resources/type-permissions.ts";
import { createAwayInterceptor } from "../rpc/away-calls.ts";
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
import type { Authenticate } from "../identity/authenticate.ts";
import type { ReadsAndWrites } from "./reads-and-writes.ts";
import type { Scheduling } from "./scheduling.ts";

type Settings = Pick<
  Config,
  "callsPerCaller" | "callsPerOrg" | "maxBodyBytes" | "requestTimeoutMs" | "streamsPerCaller"
>;

interface Parts {
  /** Undefined for a server that answers nothing while its database is away. */
  readonly reach?: DatabaseReach | undefined;
  readonly database: Database;
  readonly contract: Pick<Contract, "methods">;
  readonly scheduling: Pick<Scheduling, "bodySlots" | "countCall" | "timeSlices">;
  readonly access: Pick<Access, "authorise" | "confirmOf" | "heldOrgs">;
  readonly identity: Pick<Identity, "authenticate" | "authenticateInReach">;
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
  const authenticatorOf = (method: DescMethod): Authenticate =>
    methodsAway.has(method) ? identity.authenticateInReach : identity.authenticate;
  const { authorise, confirmOf } = access;
  const recordSupportUse = createRecordSupportUse({ database, writeQueue: readsAndWrites.writeQueue });
  const call = createCallInterceptor(methods, authorise, confirmOf, typePermissions, timeSlices, recordSupportUse);
  return {
    gate: traceGate(createRequestGate(methods, authenticatorOf, countCall, explain, timeSlices, noteRefusal)),
    body: createLimitBody(bodySlots, settings.maxBodyBytes, explain),
    slice: createTakeSlice(methods, timeSlices, explain),
    errors: createErrorInterceptor(explain, noteRefusal),
    concurrency: createConcurrencyInterceptor(methods, settings),
    streams: createOpenStreamsInterceptor(settings.streamsPerCaller, settings.requestTimeoutMs),
    call: traceDecision(parts.reach === undefined ? call : answeringAway(parts, parts.reach, call)),
    explain,
  };
}

/** Lets checks be answered from memory while the database is away, before they are authorised. */
function answeringAway({ access, identity }: Parts, reach: DatabaseReach, call: Interceptor): Interceptor {
  const away = createAwayInterceptor({
    authenticate: identity.authenticate,
    isAllowed: (message, knownTime) => access.heldOrgs.isRecent(knownTime, stalenessOf(message)),
    onAnswer: reach.noteAnswerAway,
  });
  return (next) => away(call(next));
}

import type { DescMethod } from "@bufbuild/protobuf";
import { type ConnectError, type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { authenticateKey } from "../access/evaluation/call.ts";
import { impersonatorOf } from "../access/tokens/impersonation.ts";
import type { Authenticate } from "../identity/authenticate.ts";
import type { Caller } from "../identity/caller.ts";
import { callRecordKey } from "../http/call-record.ts";
import { paceKey } from "../http/request-pace.ts";
import { addressKeyOf, clientAddressKey } from "./call-origin.ts";
import type { ExplainError } from "./explain-error.ts";
import type { MethodTable } from "./method-table.ts";
import type { NoteRefusal } from "./note-refusal.ts";
import type { CountCall } from "./limits/rate-limits.ts";
import type { TimeSlices } from "../scheduling/time-slices.ts";

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "the caller" });

/** How long a body may take, in milliseconds, before its caller is authenticated again. */
const maxAgeMs = 1_000;

/**
 * Authenticates the caller and counts the call against rate limits, before the body is read. Methods that are not in the table (health
 * and reflection), and those whose request contains the credential, need no authentication.
 *
 * @param countCall undefined if there are no limits.
 */
export function createRequestGate(
  table: MethodTable,
  authenticatorOf: (method: DescMethod) => Authenticate,
  countCall: CountCall | undefined,
  explain: ExplainError,
  slices: TimeSlices,
  noteRefusal: NoteRefusal,
): (context: HandlerContext) => Promise<void> {
  /**
   * Returns a refusal once the address of the call has a slice: writing it takes long, and a caller without a valid credential belongs to
   * no org.
   */
  const refusalInSlice = async (values: ContextValues, refusal: unknown): Promise<unknown> => {
    try {
      await slices.take({ orgId: addressKeyOf(values), length: "short" });
      return refusal;
    } catch (tooMany) {
      return tooMany;
    }
  };

  return async (context) => {
    const { method, protocolName, requestHeader, responseHeader, values } = context;
    const record = values.get(callRecordKey);
    if (record !== undefined) {
      record.method = method;
      record.protocol = protocolName;
    }
    const rules = table.get(method);
    if (rules === undefined || rules.unauthenticated) return;
    const explained = (thrown: unknown): ConnectError => explain(thrown, context);
    const authenticate = authenticatorOf(method);
    const authenticateNow = () => authenticate(requestHeader.get("authorization"), values.get(clientAddressKey));
    let caller: Caller;
    try {
      caller = await authenticateNow();
    } catch (thrown) {
      noteRefusal(thrown, { method, values, message: undefined });
      throw explained(await refusalInSlice(values, thrown));
    }
    if (record !== undefined) record.caller = caller;
    values.set(callerKey, caller).set(authenticateKey, authenticateNow);
    if (countCall !== undefined) {
      // What an impersonator does counts as its own calls.
      const { refusal, fields } = countCall(impersonatorOf(caller) ?? caller, rules.reads);
      for (const [name, value] of fields) responseHeader.set(name, value);
      if (refusal !== undefined) throw explained(refusal);
    }
    values.get(paceKey).markKnown();
  };
}

/**
 * Hands the caller of a call that passed the gate to a call that it makes.
 *
 * @param isConfirmed whether the caller was confirmed under a lock that is held until the call has ended: it is not authenticated again then.
 */
export function handOnCaller(from: ContextValues, to: ContextValues, isConfirmed: boolean): void {
  to.set(callerKey, callerAtGate(from)).set(authenticateKey, isConfirmed ? undefined : from.get(authenticateKey));
}

/** Lets the calls that are made in process with the values of a call act as the SCIM source of its caller. */
export function provision(values: ContextValues): void {
  values.set(callerKey, { ...callerAtGate(values), provisions: true });
}

/** Returns the caller of a call that passed the gate; undefined if its method needs no authentication. */
export function findCallerAtGate(values: ContextValues): Caller | undefined {
  return values.get(callerKey);
}

export function callerAtGate(values: ContextValues): Caller {
  const caller = findCallerAtGate(values);
  if (caller === undefined) throw new Error("the call did not pass the gate");
  return caller;
}

/**
 * Authenticates the caller of a call again. What the call asks as its caller from then on is answered by what was committed before this:
 * responses that are kept are compared with revisions that were read with the caller.
 *
 * @throws ServiceError as the gate does.
 */
export async function authenticateAgain(values: ContextValues): Promise<void> {
  const caller = await values.get(authenticateKey)?.();
  if (caller !== undefined) values.set(callerKey, caller);
}

/** Authenticates the caller of a call in another way, also when it is authenticated again. @throws ServiceError as the gate does. */
export async function authenticateBy(values: ContextValues, authenticate: () => Promise<Caller>): Promise<void> {
  values.set(authenticateKey, authenticate);
  await authenticateAgain(values);
}

/**
 * Returns the caller of a call that passed the gate, when its body has come. If that took long, it is authenticated again: meanwhile
 * its credential may have ended.
 *
 * @throws ServiceError as the gate does.
 */
export function callerWithBody(values: ContextValues): Caller | Promise<Caller> {
  const caller = callerAtGate(values);
  const isLate = performance.now() - caller.orgHead.readAt > maxAgeMs;
  return (
    (isLate ? values.get(authenticateKey)?.() : undefined)?.then((again) => noteFromMemory(values, again)) ?? caller
  );
}

/** Lets others see whether a caller who was authenticated again was so from memory. */
function noteFromMemory(values: ContextValues, caller: Caller): Caller {
  if (caller.staleSince !== callerAtGate(values).staleSince) values.set(callerKey, caller);
  return caller;
}

import type { JsonObject, MessageInitShape } from "@bufbuild/protobuf";
import type { Operation } from "../../gen/resources/v1alpha/operation_pb.ts";
import type { Resource } from "../../gen/resources/v1alpha/resource_pb.ts";
import type { QuantityVariableSchema } from "../../gen/resources/v1alpha/resource_type_pb.ts";

/** One attempt at an operation. An earlier attempt may have done some of it. */
export interface Work {
  readonly operation: Operation;
  readonly resource: Resource;
  /** Aborted when the claim is void. From then on, this attempt must change nothing. */
  readonly signal: AbortSignal;
}

/** What an operation gave. Quantities that are not listed were given as they were wanted. */
export interface Given {
  readonly quantities?: Record<string, number>;
  /** What customers should know of the resource; replaces what an earlier operation said. */
  readonly outputs?: JsonObject;
}

interface DriverOperation {
  readonly quantities?: MessageInitShape<typeof QuantityVariableSchema>[];
  /** Does the same when it is run again. Throws OperationFailure for reasons that customers should know. */
  run(work: Work): Promise<Given>;
}

/** The resources of one type. */
export interface Driver {
  /** For example `compute`. */
  readonly service: string;
  /** The name of the type, for example `instances`. */
  readonly type: string;
  /** The operations, by verb. */
  readonly operations: Readonly<Record<string, DriverOperation>>;
  /** Brings back what ran before the provider stopped. */
  restore(): Promise<void>;
  /** Stops what runs. */
  close(): Promise<void>;
}

/** Says why an operation failed, in words for customers. */
export class OperationFailure extends Error {
  /** For programs, for example `NO_CAPACITY`. */
  readonly reason: string;
  /** Whether a later attempt may succeed. */
  readonly retry: boolean;

  constructor(reason: string, message: string, { retry = false } = {}) {
    super(message);
    this.name = reason;
    this.reason = reason;
    this.retry = retry;
  }
}

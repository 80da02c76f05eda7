import { Code } from "@connectrpc/connect";

/** The name of a status code in AIP-193, and its HTTP status in google/rpc/code.proto. */
interface Status {
  readonly name: string;
  readonly http: number;
}

const statuses: Record<Code, Status> = {
  [Code.Canceled]: { name: "CANCELLED", http: 499 },
  [Code.Unknown]: { name: "UNKNOWN", http: 500 },
  [Code.InvalidArgument]: { name: "INVALID_ARGUMENT", http: 400 },
  [Code.DeadlineExceeded]: { name: "DEADLINE_EXCEEDED", http: 504 },
  [Code.NotFound]: { name: "NOT_FOUND", http: 404 },
  [Code.AlreadyExists]: { name: "ALREADY_EXISTS", http: 409 },
  [Code.PermissionDenied]: { name: "PERMISSION_DENIED", http: 403 },
  [Code.ResourceExhausted]: { name: "RESOURCE_EXHAUSTED", http: 429 },
  [Code.FailedPrecondition]: { name: "FAILED_PRECONDITION", http: 400 },
  [Code.Aborted]: { name: "ABORTED", http: 409 },
  [Code.OutOfRange]: { name: "OUT_OF_RANGE", http: 400 },
  [Code.Unimplemented]: { name: "UNIMPLEMENTED", http: 501 },
  [Code.Internal]: { name: "INTERNAL", http: 500 },
  [Code.Unavailable]: { name: "UNAVAILABLE", http: 503 },
  [Code.DataLoss]: { name: "DATA_LOSS", http: 500 },
  [Code.Unauthenticated]: { name: "UNAUTHENTICATED", http: 401 },
};

export function statusOf(code: Code): Status {
  return statuses[code] ?? statuses[Code.Unknown];
}

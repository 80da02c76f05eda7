import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RequestInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";

/** The parts of an error that tests compare. */
export interface Failure {
  readonly code: string;
  readonly reason: string | undefined;
  readonly message: string;
  readonly fields: readonly string[];
  readonly requestId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Returns the error of a call. Fails if the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  try {
    await call;
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const [info] = error.findDetails(ErrorInfoSchema);
    const [bad] = error.findDetails(BadRequestSchema);
    const [request] = error.findDetails(RequestInfoSchema);
    return {
      code: Code[error.code],
      reason: info?.reason,
      message: error.rawMessage,
      fields: bad?.fieldViolations.map((violation) => violation.field) ?? [],
      requestId: request?.requestId,
      metadata: info?.metadata ?? {},
    };
  }
  throw new Error("the call went through");
}

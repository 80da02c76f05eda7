import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";

/** Returns an error as the service answers for a field, for what somebody has typed that cannot be sent. */
export function invalidField(field: string, description: string): ConnectError {
  const value = { fieldViolations: [{ field, description }] };
  return new ConnectError(`${field}: ${description}`, Code.InvalidArgument, undefined, [
    { desc: BadRequestSchema, value },
  ]);
}

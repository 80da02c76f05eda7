import type { DescField } from "@bufbuild/protobuf";

/** The fields that the requests in a batch leave to the batch (AIP-233). */
export const fieldsOfBatch: ReadonlySet<string> = new Set(["parent_path", "request_id", "validate_only"]);

export function holdsRequests({ name, parent, message }: DescField): boolean {
  return name === "requests" && parent.name.startsWith("Batch") && message?.name.endsWith("Request") === true;
}

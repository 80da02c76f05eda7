import { violatedConstraint } from "../database/failure.ts";
import { ServiceError } from "../errors/service-error.ts";

/** ALREADY_EXISTS when a write ran into the index that keeps names unique among siblings; undefined otherwise. */
export function explainNameTaken(
  error: unknown,
  index: string,
  label: string,
  message: { readonly name: string } | undefined,
): ServiceError | undefined {
  if (violatedConstraint(error) !== index || message === undefined) return undefined;
  return new ServiceError("RESOURCE_EXISTS", `there is already a ${label} named ${JSON.stringify(message.name)} here`, {
    metadata: { name: message.name },
    cause: error,
  });
}

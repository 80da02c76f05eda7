import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { ResourceDefinition, ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ServedResource } from "../rules.ts";

/** Runs a write of a row. Maps a constraint violation to an error about the resource. */
export async function withMappedErrors<
  Table extends ResourceTable,
  Row extends ResourceRow,
  Desc extends DescMessage,
  Result,
>(
  { definition, rules }: ServedResource<Table, Row, Desc>,
  message: MessageShape<Desc>,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    throw rules.mapError?.(error, message) ?? explainNameTaken(error, definition, message) ?? error;
  }
}

/** Returns RESOURCE_EXISTS if a write violated a constraint that keeps sibling names unique; undefined for any other error. */
export function explainNameTaken(
  error: unknown,
  { label, storage }: ResourceDefinition,
  message: object,
): ServiceError | undefined {
  const constraint = violatedConstraint(error);
  if (constraint === undefined || !storage.nameConstraints.includes(constraint)) return undefined;
  const { name } = message as { readonly name: string };
  return new ServiceError("RESOURCE_EXISTS", `there is already a ${label.one} named ${JSON.stringify(name)} here`, {
    metadata: { name },
    cause: error,
  });
}

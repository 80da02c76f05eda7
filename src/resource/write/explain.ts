import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { ResourceDefinition, ResourceRow, ResourceTable } from "../definition.ts";
import type { ServedResource } from "../rules.ts";

/** Runs a write of a row; tells what the database objects to in the words of the resource. */
export async function explained<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage, Result>(
  { definition, rules }: ServedResource<Table, Row, Desc>,
  message: MessageShape<Desc>,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    throw rules.explain?.(error, message) ?? explainNameTaken(error, definition, message) ?? error;
  }
}

/** ALREADY_EXISTS when a write ran into a constraint that keeps names unique among siblings; undefined otherwise. */
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

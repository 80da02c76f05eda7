import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Author } from "../../changes/author.ts";
import { violatedConstraint } from "../../database/failure.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { ResourceDefinition, ResourceRow, ResourceTable } from "../definition/definition.ts";
import type { ResourceDependencies, ServedResource } from "../rules.ts";
import { explainReservedName } from "./explain-reserved-name.ts";

interface NamedResource {
  readonly definition: ResourceDefinition;
  readonly dependencies: ResourceDependencies;
}

/** Returns the handler of errors of a write of a row: for a constraint that was violated, it rejects with an error about the resource. */
export function mapErrors<Table extends ResourceTable, Row extends ResourceRow, Desc extends DescMessage>(
  served: ServedResource<Table, Row, Desc>,
  author: Author,
  message: MessageShape<Desc>,
): (error: unknown) => Promise<never> {
  return async (error) => {
    throw (
      (await served.rules.mapError?.(error, message, author)) ??
      (await explainNameTaken(served, author, error, message)) ??
      error
    );
  };
}

/** Returns a label with its article. */
function withArticle(label: string): string {
  return `${/^[aeio]/i.test(label) ? "an" : "a"} ${label}`;
}

/** Returns RESOURCE_EXISTS if a write violated a constraint that keeps sibling names unique; undefined for any other error. */
async function explainNameTaken(
  { definition, dependencies }: NamedResource,
  author: Author,
  error: unknown,
  message: object,
): Promise<ServiceError | undefined> {
  const { label, storage } = definition;
  const constraint = violatedConstraint(error);
  if (constraint === undefined || !storage.nameConstraints.includes(constraint)) return undefined;
  const { name } = message as { readonly name: string };
  const reserved = await explainReservedName(dependencies, definition, author, name);
  if (reserved !== undefined) return reserved;
  return new ServiceError(
    "RESOURCE_EXISTS",
    `there is already ${withArticle(label.one)} named ${JSON.stringify(name)} here`,
    {
      metadata: { name },
      cause: error,
    },
  );
}

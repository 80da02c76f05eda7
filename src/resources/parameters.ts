// The parameters of resources, and the JSON Schemas (draft 2020-12) that describe them. Providers write the schemas, customers the
// parameters, and all requests share one thread. So the steps of both are counted and limited. What is accepted does not depend on
// how fast or busy a machine is. docs/decisions/0076-schemas-in-counted-steps.md
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import { type FieldViolation, ServiceError, invalidField, invalidFields } from "../errors/service-error.ts";
import type { Problem } from "../json-schema/node.ts";
import { type Schema, parseSchema } from "../json-schema/parse-schema.ts";
import { SchemaError } from "../json-schema/schema-error.ts";
import { type Work, WorkExceeded, createWork } from "../json-schema/work.ts";
import { requireStorable } from "./require-storable.ts";
import { resourceTypePath } from "./resource-types/message.ts";
import type { ResourceTypeRow } from "./resource-types/store.ts";

const maxViolations = 100;

/** The steps to read one schema: some 2 µs each. */
const maxReadingOfSchema = 20_000;

/** The steps to read all schemas that a request brings or needs. */
const maxReadingOfRequest = 200_000;

/** The steps to check the parameters of one resource: some 100 ns each. */
const maxOfResource = 500_000;

/** The steps to check those of a whole request. */
const maxOfRequest = 2_500_000;

/** What a request may still do with schemas. */
export interface ParametersWork {
  readonly reading: Work;
  readonly checking: Work;
}

export function createParametersWork(): ParametersWork {
  return { reading: createWork(maxReadingOfRequest), checking: createWork(maxOfRequest) };
}

/** @throws ServiceError FIELD_INVALID that says what is wrong. */
export function checkParametersSchema(
  schema: JsonObject | undefined,
  field: string,
  { reading }: ParametersWork = createParametersWork(),
): void {
  if (schema === undefined) return;
  requireStorable(schema, field);
  try {
    within(reading, maxReadingOfSchema, (work) => parseSchema(schema, work));
  } catch (error) {
    if (error instanceof SchemaError) {
      throw invalidField(field, `must be a JSON Schema (draft 2020-12): ${error.message}`, "json_schema");
    }
    if (!(error instanceof WorkExceeded)) throw error;
    const limits = `${maxReadingOfSchema} steps, and all of a request ${maxReadingOfRequest}: one for each keyword and each part of a pattern, as often as it may be repeated`;
    throw invalidField(field, `must have a JSON Schema that can be read in ${limits}`, "json_schema_size");
  }
}

/** A ResourceType with the schema of the parameters of its resources; null if they have none. */
export type DescribedType = Pick<
  ResourceTypeRow,
  "id" | "changed_revision" | "parameters_schema" | "service_name" | "name"
>;

/** @throws ServiceError FIELD_INVALID with a violation for each: `resource.parameters.disks[0].size`. */
export type CheckParameters = (
  type: DescribedType,
  parameters: JsonObject,
  field: string,
  work: ParametersWork,
) => void;

/**
 * Creates the check. It keeps the schemas that were used last as they were read, by the revision of their type.
 *
 * @param kept how many schemas.
 */
export function createCheckParameters(kept = 100): CheckParameters {
  const read = new Map<string, Schema | SchemaError>();
  const readOnce = (key: string, schema: JsonObject, work: ParametersWork): Schema => {
    const found = read.get(key) ?? within(work.reading, maxReadingOfSchema, (left) => readStored(schema, left));
    // The last one that was used is at the end.
    read.delete(key);
    read.set(key, found);
    const [oldest] = read.keys();
    if (read.size > kept && oldest !== undefined) read.delete(oldest);
    if (found instanceof SchemaError) throw found;
    return found;
  };
  return (type, parameters, field, work) => {
    const { id, changed_revision: revision, parameters_schema: schema } = type;
    if (schema === null) {
      if (Object.keys(parameters).length > 0)
        throw invalidField(field, "must be unset: the type has no parameters", "type");
      return;
    }
    requireStorable(parameters, field);
    const problems = orUnchecked(type, field, () => {
      const { validate } = readOnce(`${id} ${revision}`, schema, work);
      return within(work.checking, maxOfResource, (left) => validate(parameters, left, maxViolations));
    });
    if (problems.length > 0) throw invalidFields(problems.map((problem) => toViolation(problem, field)));
  };
}

/** Returns why a stored schema cannot be used; undefined if it can, or there is none. */
export function problemOfSchema(schema: JsonObject | null): string | undefined {
  const found = schema === null ? undefined : readStored(schema, createWork(maxReadingOfSchema));
  return found instanceof SchemaError ? found.message : undefined;
}

/**
 * Returns the schema, or why it cannot be used: it was stored when other patterns, or more steps, were accepted.
 *
 * @throws WorkExceeded when too few steps of the request are left to find out.
 */
function readStored(schema: JsonObject, work: Work): Schema | SchemaError {
  const hasAll = work.left === maxReadingOfSchema;
  try {
    return parseSchema(schema, work);
  } catch (error) {
    if (error instanceof SchemaError) return error;
    if (!hasAll || !(error instanceof WorkExceeded)) throw error;
    return new SchemaError("#", `${error.message} to be read: at most ${maxReadingOfSchema} are accepted`);
  }
}

/** Runs a function with some of the steps that are left. What it does not use is left. */
function within<Result>(all: Work, steps: number, run: (work: Work) => Result): Result {
  const work = createWork(Math.min(steps, all.left));
  const given = work.left;
  try {
    return run(work);
  } finally {
    all.left -= given - Math.max(0, work.left);
  }
}

/** @throws ServiceError FIELD_INVALID when the schema cannot be applied to the parameters. */
function orUnchecked<Result>(type: DescribedType, field: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    const schema = `the parameters_schema of ${resourceTypePath(type)}`;
    if (error instanceof SchemaError) {
      const description = `cannot be checked, until the provider of the type changes ${schema}: ${error.message}`;
      throw invalidField(field, description, "json_schema");
    }
    if (!(error instanceof WorkExceeded)) throw error;
    const limits = `${maxOfResource} steps for a resource and ${maxOfRequest} for a request`;
    const description = `cannot be checked: by ${schema} that ${error.message}, of which there are ${limits}; give fewer or shorter parameters, or fewer resources at once`;
    throw invalidField(field, description, "json_schema_size");
  }
}

/** What was found out about the parameters of a new resource, before any lock. */
export interface CheckedParameters {
  /** Undefined if there was none. */
  readonly type: DescribedType | undefined;
  readonly error: ServiceError | undefined;
}

/**
 * Checks under the locks that parameters were checked, and by the schema that the type still has.
 *
 * @throws ServiceError what was wrong with them; SERVICE_UNAVAILABLE when the type has changed meanwhile.
 */
export function requireChecked(now: DescribedType, { type, error }: CheckedParameters): void {
  const isSame = type?.id === now.id && type.changed_revision === now.changed_revision;
  if (!isSame && !(type?.id === now.id && isDeepStrictEqual(type.parameters_schema, now.parameters_schema))) {
    throw new ServiceError("SERVICE_UNAVAILABLE", `${resourceTypePath(now)} has changed during the call; try again`);
  }
  if (error !== undefined) throw error;
}

/** How much of a name is shown. The names around a hundred violations are otherwise told a hundred times. */
const maxShown = 100;

function toViolation({ place, keyword, description }: Problem, field: string): FieldViolation {
  let path = "";
  for (let each = place; each !== undefined; each = each.outer) path = `${showKey(each.key)}${path}`;
  return { field: `${field}${path}`, description, rule: keyword };
}

function showKey(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return `.${key.length <= maxShown ? key : `${key.slice(0, maxShown).toWellFormed()}...`}`;
}

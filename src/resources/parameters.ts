// The parameters of resources, and the JSON Schemas (draft 2020-12) that describe them. Providers write the schemas, and all
// requests share one thread. So a schema cannot make validation asynchronous, and what a schema makes the validator do ends
// after a time: patterns that backtrack, references that repeat one another, and references to themselves.
import { isNativeError } from "node:util/types";
import { Script } from "node:vm";
import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { type FieldViolation, invalidField, invalidFields } from "../errors/service-error.ts";
import type { ResourceTypeRow } from "./resource-types/store.ts";
import { requireStorable } from "./require-storable.ts";

const maxViolations = 100;

/** How long compiling a schema or validating parameters may take. Both take a few milliseconds at most, without such schemas. */
const budgetMs = 500;

/** The share of its time for which a run must have had the processor. One that had less ran on a busy machine, and gets more time. */
const processorShare = 0.8;

/** The longest time, however busy the machine is. */
const longestMs = 8 * budgetMs;

const runScript = new Script("run()");

/**
 * Checks a schema of parameters.
 *
 * @throws ServiceError FIELD_INVALID that says what is wrong.
 */
export function checkParametersSchema(schema: JsonObject | undefined, field: string): void {
  if (schema === undefined) return;
  requireStorable(schema, field);
  try {
    withinBudget(() => compile(schema));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw invalidField(field, `must be a JSON Schema (draft 2020-12): ${problem}`, "json_schema");
  }
}

/** A ResourceType with the schema of the parameters of its resources; null if they have none. */
type Described = Pick<ResourceTypeRow, "id" | "changed_revision" | "parameters_schema">;

/**
 * Checks the parameters of a resource.
 *
 * @throws ServiceError FIELD_INVALID with a violation for each: `resource.parameters.disks[0].size`.
 */
export type CheckParameters = (type: Described, parameters: JsonObject, field: string) => void;

/**
 * Creates the check. It keeps the schemas that were used last as they are compiled, by the revision of their type.
 *
 * @param kept how many schemas.
 */
export function createCheckParameters(kept = 100): CheckParameters {
  const compiled = new Map<string, ValidateFunction>();
  const compileOnce = (key: string, schema: JsonObject): ValidateFunction => {
    const validate = compiled.get(key) ?? compile(schema);
    // The last one that was used is at the end.
    compiled.delete(key);
    compiled.set(key, validate);
    const [oldest] = compiled.keys();
    if (compiled.size > kept && oldest !== undefined) compiled.delete(oldest);
    return validate;
  };
  return ({ id, changed_revision: revision, parameters_schema: schema }, parameters, field) => {
    if (schema === null) {
      if (Object.keys(parameters).length > 0)
        throw invalidField(field, "must be unset: the type has no parameters", "type");
      return;
    }
    requireStorable(parameters, field);
    const errors = violationsOf(() => compileOnce(`${id} ${revision}`, schema), parameters, field);
    if (errors.length === 0) return;
    throw invalidFields(errors.slice(0, maxViolations).map((error) => toViolation(error, field)));
  };
}

/** @throws ServiceError FIELD_INVALID when the schema cannot be applied to the parameters. */
function violationsOf(
  compileSchema: () => ValidateFunction,
  parameters: JsonObject,
  field: string,
): readonly ErrorObject[] {
  try {
    return withinBudget(() => {
      const validate = compileSchema();
      return validate(parameters) ? [] : (validate.errors ?? []);
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const description = `cannot be checked, because the schema of the type refers to itself or takes too long: ${problem}`;
    throw invalidField(field, description, "json_schema");
  }
}

/**
 * Runs a function and ends it after the budget. It runs again, with twice the time, if others had the processor meanwhile.
 *
 * @throws an Error with the code ERR_SCRIPT_EXECUTION_TIMEOUT, or what the function throws.
 */
function withinBudget<Result>(run: () => Result): Result {
  for (let timeout = budgetMs; ; timeout *= 2) {
    const startMs = processorMs();
    try {
      return runScript.runInNewContext({ run }, { timeout }) as Result;
    } catch (error) {
      // It is an Error of the context of the script.
      const isTimeout = isNativeError(error) && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
      if (!isTimeout || timeout >= longestMs || processorMs() - startMs >= processorShare * budgetMs) throw error;
    }
  }
}

/** Returns the time for which this thread has had the processor; before Node.js 24, all threads. */
function processorMs(): number {
  const measured: { cpuUsage(): NodeJS.CpuUsage; threadCpuUsage?(): NodeJS.CpuUsage } = process;
  const { user, system } = measured.threadCpuUsage?.() ?? measured.cpuUsage();
  return (user + system) / 1_000;
}

/** An instance of its own for each schema, because an instance keeps all schemas that it has compiled. */
function compile(schema: JsonObject): ValidateFunction {
  // Ajv would return a promise, whose rejection nobody awaits.
  if (JSON.stringify(schema).includes('"$async"')) throw new Error('it must not contain "$async"');
  return new Ajv2020({ allErrors: true, strict: true, validateFormats: false, logger: false }).compile(schema);
}

function toViolation({ instancePath, keyword, message = "is not valid" }: ErrorObject, field: string): FieldViolation {
  const steps = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const path = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join("");
  return { field: `${field}${path}`, description: message, rule: keyword };
}

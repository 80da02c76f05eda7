// The parameters of resources, and the JSON Schemas (draft 2020-12) that describe them.
import type { JsonObject } from "@bufbuild/protobuf";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import { type FieldViolation, invalidField, invalidFields } from "../errors/service-error.ts";
import { requireStorable } from "./require-storable.ts";

const maxViolations = 100;

/**
 * Checks a schema of parameters.
 *
 * @throws ServiceError FIELD_INVALID that says what is wrong.
 */
export function checkParametersSchema(schema: JsonObject | undefined, field: string): void {
  if (schema === undefined) return;
  requireStorable(schema, field);
  try {
    compile(schema);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw invalidField(field, `must be a JSON Schema (draft 2020-12): ${problem}`, "json_schema");
  }
}

/**
 * Checks the parameters of a resource.
 *
 * @param schema of its type; null if the type has none.
 * @throws ServiceError FIELD_INVALID with a violation for each: `resource.parameters.disks[0].size`.
 */
export function checkParameters(schema: JsonObject | null, parameters: JsonObject, field: string): void {
  if (schema === null) {
    if (Object.keys(parameters).length > 0)
      throw invalidField(field, "must be unset: the type has no parameters", "type");
    return;
  }
  requireStorable(parameters, field);
  const validate = compile(schema);
  if (validate(parameters)) return;
  const errors = validate.errors ?? [];
  throw invalidFields(errors.slice(0, maxViolations).map((error) => toViolation(error, field)));
}

/** An instance of its own for each schema, because an instance keeps all schemas that it has compiled. */
function compile(schema: JsonObject): ValidateFunction {
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

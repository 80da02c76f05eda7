import { type ServiceError, invalidFields } from "../errors/service-error.ts";

/** A request field that holds a small language. */
export type TextField = "filter" | "order_by";

/** INVALID_ARGUMENT (FIELD_INVALID, with the field's name as the rule) for what stands at a column, counted from 1. */
export function errorAt(field: TextField, column: number, problem: string): ServiceError {
  return invalidFields([{ field, description: `column ${column}: ${problem}`, rule: field }]);
}

/** INVALID_ARGUMENT for the text as a whole. */
export function errorIn(field: TextField, problem: string): ServiceError {
  return invalidFields([{ field, description: problem, rule: field }]);
}

/** Text from outside, quoted so that no reader mistakes it for ours. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** Short enough for a message. */
export function clip(text: string): string {
  const characters = Array.from(text);
  return characters.length > 40 ? `${characters.slice(0, 40).join("")}…` : text;
}

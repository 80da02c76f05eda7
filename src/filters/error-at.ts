import { type ServiceError, invalidFields } from "../errors/service-error.ts";

/** A request field with a small language. */
export type TextField = "filter" | "order_by";

/** Returns INVALID_ARGUMENT (FIELD_INVALID, with the field's name as the rule) for a column, counted from 1. */
export function errorAt(field: TextField, column: number, problem: string): ServiceError {
  return invalidFields([{ field, description: `column ${column}: ${problem}`, rule: field }]);
}

export function errorIn(field: TextField, problem: string): ServiceError {
  return invalidFields([{ field, description: problem, rule: field }]);
}

/** Quotes text from a request, so that it stands out from the message. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

export function clip(text: string): string {
  const characters = Array.from(text);
  return characters.length > 40 ? `${characters.slice(0, 40).join("")}…` : text;
}

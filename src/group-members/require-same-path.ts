import { invalidField } from "../errors/service-error.ts";

/** @throws ServiceError FIELD_INVALID when a path is given and is not the one that the request's own path implies. */
export function requireSamePath(implied: string, given: string, field: string): void {
  if (given === "" || given.replace(/^\//, "") === implied.replace(/^\//, "")) return;
  throw invalidField(field, `must be ${implied}, as in the path, or empty`, "path");
}

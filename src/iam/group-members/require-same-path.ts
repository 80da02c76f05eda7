import { invalidField } from "../../errors/service-error.ts";

/** Checks that a path is empty or the one that the request's own path implies. @throws ServiceError FIELD_INVALID */
export function requireSamePath(implied: string, given: string, field: string): void {
  if (given === "" || given.replace(/^\//, "") === implied.replace(/^\//, "")) return;
  throw invalidField(field, `must be ${implied}, as in the path, or empty`, "path");
}

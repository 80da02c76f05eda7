import { ServiceError } from "../errors/service-error.ts";

/** How many resources a file may have, and an org that is read as one. */
export const maxResources = 50_000;

/** @param holder what has more: `the org`, `the file`. */
export function tooManyResources(org: string, holder: string): ServiceError {
  const description = `a file has at most ${maxResources} resources, and ${holder} has more`;
  return new ServiceError("LIMIT_EXCEEDED", description, { quotas: [{ subject: org, description }] });
}

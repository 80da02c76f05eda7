import { ServiceError } from "../../errors/service-error.ts";
import { type TargetPath, parseTargetPath } from "../../access/evaluation/target-path.ts";
import type { RequestFields } from "./read-paths.ts";

const maxSubjects = 1000;

/** Returns the orgs whose members and groups an access question is about. Their handlers decide about them; paths that they refuse are left out. */
export function orgsOfSubjects(message: RequestFields): TargetPath[] {
  const checks = (message["checks"] as readonly RequestFields[] | undefined) ?? [];
  const subject = message["subject"] as { readonly id?: unknown } | undefined;
  const texts = [subject?.id, ...[message, ...checks.slice(0, maxSubjects)].map((each) => each["subjectPath"])];
  const orgs = new Map<unknown, TargetPath>();
  for (const text of texts) {
    const top = typeof text === "string" ? /^\/?orgs\/[^/]+/.exec(text)?.[0] : undefined;
    const path = top === undefined || orgs.has(top) ? undefined : tryParse(top);
    if (path !== undefined) orgs.set(top, path);
  }
  return [...orgs.values()];
}

function tryParse(text: string): TargetPath | undefined {
  try {
    return parseTargetPath(text, "subject_path");
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

// What is in a project is written only while the project is active.
import type { OrgTransaction } from "../changes/write-in-org.ts";
import { deleted, notFound } from "../errors/service-error.ts";
import { formatReferences } from "../paths/format-path.ts";
import { patterns } from "../paths/patterns.ts";
import type { Reference } from "../paths/resource-path.ts";
import { stateForbids } from "../resource/lifecycle.ts";
import { orgReference } from "../resource/org-reference.ts";
import { required } from "../resource/required.ts";
import { findRow } from "../resource/row-reader.ts";
import { projectDefinition } from "./definition.ts";
import { projectPath } from "./message.ts";
import type { ProjectRow } from "./store.ts";

/**
 * Finds the project in which something is to be created, in the org whose lock the write has.
 *
 * @param path of the project.
 * @throws ServiceError RESOURCE_NOT_FOUND, or STATE_FORBIDS when nothing in it can be changed.
 */
export async function findActiveProject(transaction: OrgTransaction, path: readonly Reference[]): Promise<ProjectRow> {
  const project = await findRow(transaction.db, projectDefinition, [orgReference(transaction), required(path[1])]);
  if (project === undefined) throw notFound("project", formatReferences(patterns.Project, path));
  requireActiveProject(project);
  return project;
}

/** @throws ServiceError STATE_FORBIDS when nothing in a project can be changed. */
export function requireActiveProject(project: Parameters<typeof projectPath>[0] & Pick<ProjectRow, "state">): void {
  const path = projectPath(project);
  if (project.delete_time !== null) throw deleted("project", path);
  if (project.state !== "SUSPENDED") return;
  throw stateForbids(`the project ${path} is SUSPENDED: nothing in it can be changed`, path, "SUSPENDED");
}

import type { ServiceImpl } from "@connectrpc/connect";
import { ProjectSchema, ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { updateNamedRow } from "../resource/org-scoped-rows.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import type { ResourceDependencies } from "../resource/resource.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { loggedProject, projectPath, toProject } from "./message.ts";
import { findProject, insertProjects, readProjectsPage, selectProjects } from "./store.ts";

import { projectFields } from "./fields.ts";

export function createProjectsService(dependencies: ResourceDependencies): ServiceImpl<typeof ProjectsService> {
  const { database, parents, grants } = dependencies;
  return createStandardService(ProjectsService, dependencies, {
    type: "Project",
    label: "project",
    schema: ProjectSchema,
    toMessage: toProject,
    pathOf: projectPath,
    idOf: (row) => row.id,
    parentIdOf: (row) => row.org_id,
    logged: loggedProject,
    fields: projectFields,
    uniqueKey: ["projects.org_id", "projects.id"],
    lookup: createPathLookup(database, "projects", ["orgs", "projects"], selectProjects(database.reads)),
    resolveParent: parents.org,
    readPage: readProjectsPage,
    find: findProject,
    insertMany: (transaction, _parent, projects) => insertProjects(transaction, projects),
    async update(transaction, row, project) {
      await grants.requireMayRelabel(transaction, { kind: "project", id: row.id }, row.labels, project.labels);
      return updateNamedRow(transaction, "projects", row, project);
    },
    lifecycle: { table: "projects" },
    explain: (error, project) => explainNameTaken(error, "projects_name_key", "project", project),
  });
}

import type { ServiceImpl } from "@connectrpc/connect";
import { ProjectSchema, type ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { authorOf, targetOf } from "../access/call.ts";
import { patterns } from "../paths/patterns.ts";
import { explainNameTaken } from "../resource/name-taken.ts";
import { markDeleted, updateNamedRow } from "../resource/org-scoped-rows.ts";
import { createPathLookup } from "../resource/path-lookup.ts";
import { required } from "../resource/required.ts";
import { type ResourceDependencies, createStandardMethods } from "../resource/standard-methods.ts";
import { projectPath, toProject } from "./message.ts";
import { findProject, insertProject, readProjectsPage, selectProjects } from "./store.ts";

export function createProjectsService(dependencies: ResourceDependencies): ServiceImpl<typeof ProjectsService> {
  const { database, parents } = dependencies;
  const projects = createStandardMethods(dependencies, {
    type: "Project",
    label: "project",
    schema: ProjectSchema,
    toMessage: toProject,
    pathOf: projectPath,
    idOf: (row) => row.id,
    logged: ({ org_name: _name, org_delete_time: _time, ...row }) => row,
    cursorOf: (row) => [row.org_id, row.id],
    lookup: createPathLookup(database, "projects", ["orgs", "projects"], selectProjects(database.reads)),
    resolveParent: parents.org,
    readPage: readProjectsPage,
    find: findProject,
    insert: (transaction, _parent, project) => insertProject(transaction, project),
    update: (transaction, row, project) => updateNamedRow(transaction, "projects", row, project),
    remove: (transaction, row) => markDeleted(transaction, "projects", row),
    explain: (error, project) => explainNameTaken(error, "projects_name_key", "project", project),
  });

  return {
    async getProject(_request, context) {
      return toProject(await projects.get(targetOf(context, patterns.Project)));
    },

    async listProjects(request, context) {
      const { rows, nextPageToken } = await projects.list(targetOf(context, patterns.Org), request);
      return { projects: rows.map(toProject), nextPageToken };
    },

    async createProject(request, context) {
      const project = required(request.project);
      return toProject(await projects.create(targetOf(context, patterns.Org), project, authorOf(context)));
    },

    async updateProject(request, context) {
      const update = { patch: required(request.project), mask: request.updateMask, field: "project" };
      return toProject(await projects.update(targetOf(context, patterns.Project), update, authorOf(context)));
    },

    async deleteProject(request, context) {
      const row = await projects.delete(targetOf(context, patterns.Project), request.etag, authorOf(context));
      return toProject(required(row));
    },
  };
}

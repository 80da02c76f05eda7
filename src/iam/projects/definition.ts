import { ProjectSchema, ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { projectLevel } from "../../database/match-reference.ts";
import { orgDefinition } from "../orgs/definition.ts";
import { defineResource, placeBelow } from "../../standard-methods/definition/definition.ts";
import { projectPath, toProject } from "./message.ts";
import { projectColumns, selectProjects } from "./store.ts";
import { orgById } from "../../paths/format-path.ts";

export const projectDefinition = defineResource({
  type: "Project",
  service: ProjectsService,
  schema: ProjectSchema,
  label: { one: "project", many: "projects" },
  places: [placeBelow("Project", orgDefinition, "org_id")],
  storage: {
    table: "projects",
    key: ["org_id", "id"],
    id: "id",
    columns: projectColumns,
    unread: [],
    select: selectProjects,
    pagesArePlannedOnce: true,
    called: projectLevel,
    references: [{ column: "org_id", to: "Org", onDelete: "cascade" }],
    countedBy: "org_id",
    labels: "indexed",
    nameConstraints: ["projects_name_key"],
  },
  toMessage: toProject,
  pathOf: projectPath,
  logged: { joinedById: orgById },
  fields: {},
  lifecycle: { states: ["ACTIVE", "SUSPENDED"], contents: "locked", deletedNames: "reusable" },
  limit: {
    variable: "TENANTRY_MAX_PROJECTS_PER_ORG",
    default: 10_000,
    max: 10_000_000,
    help: "How many projects an org may have.",
  },
  responses: { revalidatedBy: ["org of the path"] },
  access: { namedIn: "unnamed", heldBy: { editor: ["*"], "projects-admin": ["*"] }, notByAdmin: [] },
});

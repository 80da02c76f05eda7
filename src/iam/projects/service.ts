import type { ServiceImpl } from "@connectrpc/connect";
import { ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { joinedOrgColumns } from "../../standard-methods/named-fields.ts";
import type { ResourceDependencies } from "../../standard-methods/rules.ts";
import { createStandardService } from "../../standard-methods/standard-service.ts";
import { projectDefinition } from "./definition.ts";

export function createProjectsService(dependencies: ResourceDependencies): ServiceImpl<typeof ProjectsService> {
  const { escalation } = dependencies;
  return createStandardService(ProjectsService, dependencies, projectDefinition, {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, _parent, projects) {
        return projects.map(() => ({ columns: { state: "ACTIVE" }, joined: joinedOrgColumns(transaction) }));
      },
    },
    // Who may suspend or delete a project decides about the project itself, for everybody alike.
    revokes: "nothing",
    async change(transaction, row, project) {
      await escalation.requireMayRelabel(transaction, { kind: "project", id: row.id }, row.labels, project.labels);
      return {};
    },
  });
}

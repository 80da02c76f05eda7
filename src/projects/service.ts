import type { ServiceImpl } from "@connectrpc/connect";
import { ProjectsService } from "../../gen/iam/v1alpha/project_pb.ts";
import { orgColumns } from "../resource/named-fields.ts";
import type { ResourceDependencies } from "../resource/rules.ts";
import { createStandardService } from "../resource/standard-service.ts";
import { projectDefinition } from "./definition.ts";

export function createProjectsService(dependencies: ResourceDependencies): ServiceImpl<typeof ProjectsService> {
  const { grants } = dependencies;
  return createStandardService(ProjectsService, dependencies, projectDefinition, {
    scope: { kind: "parent" },
    creation: {
      kind: "in org",
      async prepare(transaction, _parent, projects) {
        return projects.map(() => ({ columns: { state: "ACTIVE" }, joined: orgColumns(transaction) }));
      },
    },
    async change(transaction, row, project) {
      await grants.requireMayRelabel(transaction, { kind: "project", id: row.id }, row.labels, project.labels);
      return {};
    },
  });
}

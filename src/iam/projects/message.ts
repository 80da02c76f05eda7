import { type Project, Project_State } from "../../../gen/iam/v1alpha/project_pb.ts";
import { formatPath, orgPathName, pathName } from "../../paths/format-path.ts";
import { patterns } from "../../paths/patterns.ts";
import { deletionFields, namedFields } from "../../standard-methods/named-fields.ts";
import type { ProjectRow } from "./store.ts";

const states = { ACTIVE: Project_State.ACTIVE, SUSPENDED: Project_State.SUSPENDED } as const;

export function toProject(row: ProjectRow): Project {
  return {
    $typeName: "iam.v1alpha.Project",
    path: projectPath(row),
    ...namedFields(row),
    ...deletionFields(row),
    state: row.delete_time === null ? states[row.state] : Project_State.DELETED,
  };
}

type PathColumn = "org_id" | "org_name" | "org_delete_time" | "id" | "name" | "delete_time";

export function projectPath(row: Pick<ProjectRow, PathColumn>): string {
  return formatPath(patterns.Project, orgPathName(row), pathName(row));
}

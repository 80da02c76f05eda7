import { createClient } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { type Project, ProjectSchema, ProjectsService, Project_State } from "../../../../gen/iam/v1alpha/project_pb.ts";
import { deletionTexts } from "../../texts/deletion-texts.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { restoration, suspension } from "../../ui/actions/lifecycle-actions.ts";
import { type ActionsOfKind, permissionsFor } from "../../ui/actions/use-actions.tsx";

const kind = "iam.projects";

/** What the service requires for what is done with a project itself. */
export const projectPermissions = permissionsFor(kind, "suspend", "activate", "undelete");

/** What can be done with a project: it is renamed, suspended, activated, deleted and restored. */
export function useProjectActions(): ActionsOfKind<Project> {
  const projects = createClient(ProjectsService, useTransport());
  return {
    schema: ProjectSchema,
    kind,
    intro: deletionTexts.project,
    isDeleted: ({ state }) => state === Project_State.DELETED,
    states: [
      ...suspension<Project>(kind, Project_State, {
        suspend: (versioned) => projects.suspendProject(versioned),
        activate: (versioned) => projects.activateProject(versioned),
      }),
      restoration(kind, Project_State, lifecycleTexts.restoreProject, (versioned) =>
        projects.undeleteProject(versioned),
      ),
    ],
    change: ({ path, changed, updateMask }) => projects.updateProject({ path, project: changed, updateMask }),
    remove: (deleted) => projects.deleteProject(deleted),
  };
}

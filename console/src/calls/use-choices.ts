// What the fields for members, groups, projects and permissions find, each among all that the person may see.
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { RolesService } from "../../../gen/iam/v1alpha/role_pb.ts";
import { toFilter } from "../app/list-search.ts";
import { texts } from "../texts/texts.ts";
import type { Pick } from "../ui/picker.tsx";

const pageSize = 20;

interface Named {
  readonly path: string;
  readonly name: string;
  readonly displayName: string;
}

const toPick = ({ path, name, displayName }: Named, note = name): Pick => ({
  value: path,
  label: displayName || name,
  note,
});

/** Asks while a field is open, and shows what was found before until there is more. */
const searching = (open: boolean) => ({ enabled: open, retry: false, placeholderData: keepPreviousData });

/** Finds members and groups of an org. */
export function useSubjectChoices(org: string, words: string, open: boolean): readonly Pick[] {
  const members = useMemberChoices(org, words, open);
  const groups = useGroupChoices(org, words, open);
  return [...members, ...groups.map((group) => ({ ...group, note: texts.kinds.group }))];
}

/** Finds members of an org. */
export function useMemberChoices(org: string, words: string, open: boolean): readonly Pick[] {
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const { data } = useQuery(MembersService.method.listMembers, request, searching(open));
  return (data?.members ?? []).map((member) => toPick(member));
}

/** Finds the org itself and its projects. */
export function useResourceChoices(org: string, words: string, open: boolean): readonly Pick[] {
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const { data } = useQuery(ProjectsService.method.listProjects, request, searching(open));
  const whole = { value: org, label: texts.why.wholeOrg, note: org };
  return [...(words === "" ? [whole] : []), ...(data?.projects ?? []).map((project) => toPick(project))];
}

/** Finds roles that can be granted in an org: its own, and those that are the same everywhere. */
export function useRoleChoices(org: string, words: string, open: boolean): readonly Pick[] {
  const predefined = useQuery(RolesService.method.listRoles, { pageSize: 1_000 }, searching(open));
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const custom = useQuery(RolesService.method.listRoles, request, searching(open));
  const wanted = words.toLowerCase();
  const everywhere = (predefined.data?.roles ?? []).filter(({ name, displayName }) =>
    `${name} ${displayName}`.toLowerCase().includes(wanted),
  );
  return [...everywhere, ...(custom.data?.roles ?? [])].map((role) => toPick(role, role.path));
}

/** Finds groups of an org. */
export function useGroupChoices(org: string, words: string, open: boolean): readonly Pick[] {
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const { data } = useQuery(GroupsService.method.listGroups, request, searching(open));
  return (data?.groups ?? []).map((group) => toPick(group));
}

/** Finds resources of a type in a project. */
export function useResourceOfTypeChoices(
  parentPath: string,
  typePath: string,
  words: string,
  open: boolean,
): readonly Pick[] {
  const request = { parentPath, pageSize, filter: toFilter(words, `type_path = ${JSON.stringify(typePath)}`) };
  const { data } = useQuery(ResourcesService.method.listResources, request, searching(open));
  return (data?.resources ?? []).map((resource) => toPick(resource));
}

/** Finds permissions among those that the roles of an org name. */
export function usePermissionChoices(org: string, words: string, open: boolean): readonly Pick[] {
  const options = { enabled: open, retry: false, staleTime: 60_000 };
  const predefined = useQuery(RolesService.method.listRoles, { pageSize: 1_000 }, options);
  const custom = useQuery(RolesService.method.listRoles, { parentPath: org, pageSize: 1_000 }, options);
  const roles = [...(custom.data?.roles ?? []), ...(predefined.data?.roles ?? [])];
  const names = new Set(roles.flatMap(({ permissions }) => permissions).filter((name) => !name.includes("*")));
  const wanted = words.toLowerCase();
  const found = [...names].filter((name) => name.toLowerCase().includes(wanted)).toSorted();
  return found.slice(0, 50).map((name) => ({ value: name, label: name }));
}

// What the fields for members, groups, projects, permissions and kinds find, each among all that the person may see.
import { useQuery } from "@connectrpc/connect-query";
import { keepPreviousData } from "@tanstack/react-query";
import { GroupsService } from "../../../gen/iam/v1alpha/group_pb.ts";
import { MembersService } from "../../../gen/iam/v1alpha/member_pb.ts";
import { OrgsService } from "../../../gen/iam/v1alpha/org_pb.ts";
import { ProjectsService } from "../../../gen/iam/v1alpha/project_pb.ts";
import { QuantityKindsService } from "../../../gen/resources/v1alpha/quantity_kind_pb.ts";
import { ResourcesService } from "../../../gen/resources/v1alpha/resource_pb.ts";
import { RolesService } from "../../../gen/iam/v1alpha/role_pb.ts";
import { toFilter } from "../app/list-search.ts";
import { texts } from "../texts/texts.ts";
import type { Choices, Pick } from "../ui/picker.tsx";
import { matchesWords } from "./matches-words.ts";

const pageSize = 20;

interface Named {
  readonly path: string;
  readonly name: string;
  readonly displayName: string;
}

export const toPick = ({ path, name, displayName }: Named, note = name): Pick => ({
  value: path,
  label: displayName || name,
  note,
});

/** Asks while a field is open, and shows what was found before until there is more. */
const searching = (open: boolean) => ({ enabled: open, retry: false, placeholderData: keepPreviousData });

interface Search<Data> {
  readonly data: Data | undefined;
  readonly isPlaceholderData: boolean;
  readonly isLoading: boolean;
}

/** Returns what was found, and whether it is of the words of now. */
const choicesOf = <Data>(search: Search<Data>, toPicks: (data: Data) => readonly Pick[]): Choices => ({
  found: search.data === undefined ? [] : toPicks(search.data),
  pending: search.isPlaceholderData || search.isLoading,
});

/** Finds members and groups of an org, which has to be chosen first if it is empty. */
export function useSubjectChoices(org: string, words: string, open: boolean): Choices {
  const isKnown = org !== "";
  const members = useMemberChoices(org, words, open && isKnown);
  const groups = useGroupChoices(org, words, open && isKnown);
  if (!isKnown) return { found: [], pending: false, first: texts.grants.orgFirst };
  return {
    found: [...members.found, ...groups.found.map((group) => ({ ...group, note: texts.kinds.group }))],
    pending: members.pending || groups.pending,
  };
}

/** Selects the orgs of a customer. */
export const ofCustomer = (customer: string): string => `customer_path = ${JSON.stringify(customer)}`;

/** Finds orgs of a customer. */
export function useOrgChoices(customer: string, words: string, open: boolean): Choices {
  const request = { pageSize, filter: toFilter(words, ofCustomer(customer)) };
  const search = useQuery(OrgsService.method.listOrgs, request, searching(open));
  return choicesOf(search, ({ orgs }) => orgs.map((org) => toPick(org)));
}

/** Finds members of an org. */
export function useMemberChoices(org: string, words: string, open: boolean): Choices {
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const search = useQuery(MembersService.method.listMembers, request, searching(open));
  return choicesOf(search, ({ members }) => members.map((member) => toPick(member)));
}

/** Finds the applications among the members of an org. */
export function useApplicationChoices(org: string, words: string, open: boolean): Choices {
  const request = { parentPath: org, pageSize, filter: toFilter(words, "type = APPLICATION") };
  const search = useQuery(MembersService.method.listMembers, request, searching(open));
  return choicesOf(search, ({ members }) => members.map((member) => toPick(member)));
}

/** Finds the org itself and its projects. */
export function useResourceChoices(org: string, words: string, open: boolean): Choices {
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const search = useQuery(ProjectsService.method.listProjects, request, searching(open));
  const { found, pending } = choicesOf(search, ({ projects }) => projects.map((project) => toPick(project)));
  const whole = { value: org, label: texts.why.wholeOrg, note: org };
  return { found: [...(words === "" ? [whole] : []), ...found], pending };
}

/** Finds roles that can be granted: those that are the same everywhere, and those of an org, unless it is empty. */
export function useRoleChoices(org: string, words: string, open: boolean): Choices {
  const predefined = useQuery(RolesService.method.listRoles, { pageSize: 1_000 }, searching(open));
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const custom = useQuery(RolesService.method.listRoles, request, searching(open && org !== ""));
  const everywhere = choicesOf(predefined, ({ roles }) =>
    roles
      .filter(({ name, displayName }) => matchesWords(`${name} ${displayName}`, words))
      .map((role) => toPick(role, role.path)),
  );
  const own = choicesOf(custom, ({ roles }) => roles.map((role) => toPick(role, role.path)));
  return { found: [...everywhere.found, ...own.found], pending: everywhere.pending || own.pending };
}

/** Finds groups of an org. */
export function useGroupChoices(org: string, words: string, open: boolean): Choices {
  const request = { parentPath: org, pageSize, filter: toFilter(words) };
  const search = useQuery(GroupsService.method.listGroups, request, searching(open));
  return choicesOf(search, ({ groups }) => groups.map((group) => toPick(group)));
}

/** Finds resources of a type in a project. */
export function useResourceOfTypeChoices(parentPath: string, typePath: string, words: string, open: boolean): Choices {
  const request = { parentPath, pageSize, filter: toFilter(words, `type_path = ${JSON.stringify(typePath)}`) };
  const search = useQuery(ResourcesService.method.listResources, request, searching(open));
  return choicesOf(search, ({ resources }) => resources.map((resource) => toPick(resource)));
}

/** Finds permissions among those that the roles of an org name. */
export function usePermissionChoices(org: string, words: string, open: boolean): Choices {
  const options = { enabled: open, retry: false, staleTime: 60_000 };
  const predefined = useQuery(RolesService.method.listRoles, { pageSize: 1_000 }, options);
  const custom = useQuery(RolesService.method.listRoles, { parentPath: org, pageSize: 1_000 }, options);
  const roles = [...(custom.data?.roles ?? []), ...(predefined.data?.roles ?? [])];
  const names = new Set(roles.flatMap(({ permissions }) => permissions).filter((name) => !name.includes("*")));
  const found = [...names].filter((name) => matchesWords(name, words)).toSorted();
  return {
    found: found.slice(0, 50).map((name) => ({ value: name, label: name })),
    pending: predefined.isLoading || custom.isLoading,
  };
}

/** Finds kinds of Quantities. */
export function useKindChoices(words: string, open: boolean): Choices {
  const request = { pageSize, filter: toFilter(words) };
  const search = useQuery(QuantityKindsService.method.listQuantityKinds, request, searching(open));
  return choicesOf(search, ({ quantityKinds }) =>
    quantityKinds.map(({ name, displayName }) => ({ value: name, label: displayName || name, note: name })),
  );
}

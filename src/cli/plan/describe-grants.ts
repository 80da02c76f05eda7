import { formatPath } from "../../paths/format-path.ts";
import { otherPatterns, patterns } from "../../paths/patterns.ts";
import type { Creation } from "./creation.ts";
import { grantRoles, permissionsOfRole, strongestRole } from "../../org-files/names/grant-roles.ts";
import { nameRoleBinding } from "../../org-files/names/name-role-binding.ts";
import type { Naming } from "./naming.ts";
import type { OrganisationFile } from "../file/organisation-file.ts";

interface Namings {
  readonly members: Naming<unknown>;
  readonly groups: Naming<unknown>;
  readonly projects: Naming<unknown>;
}

/**
 * Describes the roles that the file grants, as roles of the org, and their role bindings. Admins are owners of the org, and
 * have the strongest of the file's roles on it.
 *
 * @param org the name of the org.
 */
export function describeGrants(
  file: OrganisationFile,
  org: string,
  { members, groups, projects }: Namings,
): Creation[] {
  const parentPath = formatPath(patterns.Org, org);
  const roles = grantRoles.filter((role) => file.grants.some((grant) => grant.role === role));
  const rolesOfAdmins = [
    formatPath(otherPatterns.predefinedRole, "owner"),
    ...roles.filter((role) => role === strongestRole).map((role) => formatPath(patterns.Role, org, role)),
  ];
  return [
    ...roles.map((role): Creation => {
      const path = formatPath(patterns.Role, org, role);
      return {
        kind: "role",
        path,
        request: { parentPath, role: { name: role, permissions: permissionsOfRole(role) } },
      };
    }),
    ...file.admins.flatMap((admin) => {
      const name = members.nameOf(admin) ?? "";
      const subjectPath = formatPath(patterns.Member, org, name);
      return rolesOfAdmins.map((rolePath) => bind(parentPath, { name, subjectPath, rolePath }));
    }),
    ...file.grants.map(({ group, project, role }) => {
      const name = groups.nameOf(group) ?? "";
      const subjectPath = formatPath(patterns.Group, org, name);
      const projectPath = formatPath(patterns.Project, org, projects.nameOf(project) ?? "");
      return bind(projectPath, { name, subjectPath, rolePath: formatPath(patterns.Role, org, role) });
    }),
  ];
}

interface Granted {
  readonly name: string;
  readonly subjectPath: string;
  readonly rolePath: string;
}

function bind(parentPath: string, { name: subject, subjectPath, rolePath }: Granted): Creation {
  const name = nameRoleBinding(subject, rolePath.slice(rolePath.lastIndexOf("/") + 1));
  const path = `${parentPath}/roleBindings/${name}`;
  return { kind: "role binding", path, request: { parentPath, roleBinding: { name, subjectPath, rolePath } } };
}

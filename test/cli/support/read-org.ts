import pg from "pg";

/** An org as stored in the database, by names. */
export interface StoredOrg {
  readonly revision: string;
  readonly changes: number;
  readonly members: string[];
  readonly groups: string[];
  readonly projects: string[];
  /** `<parent>/<group>` */
  readonly subgroups: string[];
  /** `<group>/<member>` */
  readonly memberships: string[];
  /** `<role>: <permission> <permission>` */
  readonly roles: string[];
  /** `<project>/<member or group>/<role>`; the project is empty for a RoleBinding on the org. */
  readonly roleBindings: string[];
}

/** Reads the tables directly, independently of the importer's own reads. */
export async function readOrg(databaseUrl: string, name: string): Promise<StoredOrg> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const {
      rows: [org],
    } = await client.query<{ id: string; revision: string; changes: string }>(
      `select id, revision, (select count(*) from changes where org_id = id) as changes
       from orgs where name = $1 and delete_time is null`,
      [name],
    );
    if (org === undefined) throw new Error(`there is no org ${name}`);
    const names = async (from: string): Promise<string[]> => {
      const { rows } = await client.query<{ name: string }>(`select ${from} order by 1`, [org.id]);
      return rows.map((row) => row.name).toSorted();
    };
    return {
      revision: org.revision,
      changes: Number(org.changes),
      members: await names("name from members where org_id = $1"),
      groups: await names("name from groups where org_id = $1"),
      projects: await names("name from projects where org_id = $1"),
      subgroups: await names(`outside.name || '/' || inside.name as name from subgroups
        join groups outside on outside.id = group_id join groups inside on inside.id = subgroup_id
        where subgroups.org_id = $1`),
      memberships: await names(`groups.name || '/' || members.name as name from group_members
        join groups on groups.id = group_id join members on members.id = member_id
        where group_members.org_id = $1`),
      roles: await names("name || ': ' || array_to_string(permissions, ' ') as name from roles where org_id = $1"),
      roleBindings: await names(`concat_ws('/', coalesce(projects.name, ''), coalesce(members.name, groups.name),
        coalesce(roles.name, predefined_role)) as name from role_bindings
        left join projects on projects.id = project_id left join roles on roles.id = role_id
        left join members on members.id = member_id left join groups on groups.id = group_id
        where role_bindings.org_id = $1`),
    };
  } finally {
    await client.end();
  }
}

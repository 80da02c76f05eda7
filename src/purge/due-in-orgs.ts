import type { OrgTransaction } from "../changes/write-in-org.ts";
import { loggedMember, memberPath } from "../members/message.ts";
import type { MemberRow } from "../members/store.ts";
import type { ResourceType } from "../paths/patterns.ts";
import { loggedProject, projectPath } from "../projects/message.ts";
import type { ProjectRow } from "../projects/store.ts";
import { findDueIn } from "./find-due.ts";
import { type PurgeTask, type PurgeTaskDependencies, type Removed, searchSize } from "./purge-task.ts";
import { type OfOrg, deleteOwnedRows, deleteOwners, readDueIds } from "./store.ts";
import { unitsInOrgs } from "./units-in-orgs.ts";

/** What stays readable in an org for a while after it was deleted. */
interface DueResource<Row> {
  readonly table: "members" | "projects";
  readonly type: ResourceType;
  readonly pathOf: (row: Row) => string;
  readonly logged: (row: Row) => object;
}

export function createDueMembersTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const resource = { table: "members", type: "Member", pathOf: memberPath, logged: loggedMember } as const;
  return createDueTask<MemberRow>(dependencies, resource);
}

export function createDueProjectsTask(dependencies: PurgeTaskDependencies): PurgeTask {
  const resource = { table: "projects", type: "Project", pathOf: projectPath, logged: loggedProject } as const;
  return createDueTask<ProjectRow>(dependencies, resource);
}

function createDueTask<Row extends Pick<MemberRow, "id" | OfOrg>>(
  dependencies: PurgeTaskDependencies,
  { table, type, pathOf, logged }: DueResource<Row>,
): PurgeTask {
  const { database, rowsPerStep } = dependencies;

  /** What they have goes first; when that is much, they themselves are for a later transaction. */
  const remove = async ({ db, org, record }: OrgTransaction, ids: readonly string[]): Promise<Removed> => {
    const due = await readDueIds(db, table, org.id, ids);
    const owned = await deleteOwnedRows(db, table, org.id, due, rowsPerStep);
    const rows = await deleteOwners<Row>(db, table, org.id, due.slice(0, rowsPerStep - owned));
    for (const columns of rows) {
      const row = { ...columns, org_name: org.name, org_delete_time: org.delete_time } as Row;
      record({ type, id: row.id, path: pathOf(row), before: logged(row), after: null });
    }
    return { rows: owned + rows.length, resources: rows.length };
  };

  return {
    kind: table,
    async find(leftOut) {
      const found = await findDueIn(database.reads, table, { leftOut, limit: searchSize(rowsPerStep) });
      return unitsInOrgs(dependencies, found, rowsPerStep, (transaction, places) =>
        remove(
          transaction,
          places.map(({ id }) => id),
        ),
      );
    },
  };
}

// The columns that tables share, by name. Rows are never selected with `*`: a prepared `*` fails on servers that are still
// running when a newer one adds a column.

/** Those of resources with a name of their own. */
export const namedColumnsOf = <const Table extends string>(table: Table) =>
  [
    `${table}.id`,
    `${table}.name`,
    `${table}.display_name`,
    `${table}.description`,
    `${table}.labels`,
    `${table}.changed_revision`,
    `${table}.create_time`,
    `${table}.update_time`,
  ] as const;

/** Those of resources that stay readable when they are deleted. */
export const deletableColumnsOf = <const Table extends string>(table: Table) =>
  [`${table}.delete_time`, `${table}.purge_time`] as const;

import type { LogEntry } from "../../../src/access/engine/loading/apply-entry.ts";
import type { RoleBindingRow, Time } from "../../../src/access/engine/loading/rows.ts";
import { type Draw, pick } from "../../rest/fuzz/draw.ts";
import { type ModelRows, conditions, isDeleted, unnamed } from "./naive-model.ts";

export const permissions = [
  "iam.members.get",
  "iam.roleBindings.create",
  "iam.roleBindings.grantUnheld",
  "compute.instances.start",
  "compute.instances.stop",
  "compute.instances.get",
] as const;

/** Those that are drawn, and some that no role names. */
export const askedPermissions = [...permissions, "storage.buckets.get", ...unnamed] as const;

export const otherCustomer = "0c000000-0000-7000-8000-000000000002";

export const services = ["05000000-0000-7000-8000-000000000001", "05000000-0000-7000-8000-000000000002"] as const;

/** Times are from 0 to `lastTime`. There are few of them, so that they often coincide. */
export const lastTime = 6;

export function emptyRows(): ModelRows {
  return {
    org: {
      id: "0a000000-0000-7000-8000-000000000001",
      name: "acme",
      customer_id: "0c000000-0000-7000-8000-000000000001",
      state: "ACTIVE",
      delete_time: null,
      revision: "1",
    },
    members: [],
    groups: [],
    projects: [],
    roles: [],
    group_members: [],
    subgroups: [],
    role_bindings: [],
  };
}

/** Changes the rows, and returns the entries of the change log for it. */
export interface ChangeMaker {
  /** Returns undefined if the drawn change is not possible. */
  next(draw: Draw): LogEntry | undefined;
}

type Change = (draw: Draw) => LogEntry | undefined;
type Row = { readonly id: string };
type Named = "members" | "groups" | "projects" | "roles";

const types = { members: "Member", groups: "Group", projects: "Project", roles: "Role" } as const;

export function createChangeMaker(rows: ModelRows): ChangeMaker {
  let made = 0;

  /** Returns a new id. The order of ids differs from that of their creation. */
  const newId = (): string => {
    const scattered = (Math.imul(++made, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
    return `${scattered}-0000-7000-8000-${scattered}${made.toString(16).padStart(4, "0")}`;
  };

  const drawTime = (draw: Draw): Date | null => (draw(3) > 0 ? null : new Date(draw(lastTime + 1)));
  const oneOf = <Item>(draw: Draw, items: readonly Item[]): Item | undefined => items[draw(Math.max(items.length, 1))];

  /** There are few names, so that free ones are reused. */
  function freeName(draw: Draw, table: Named): string {
    const taken = new Set(rows[table].filter((row) => !isDeleted(row)).map((row) => row.name));
    for (let number = draw(4); ; number++) if (!taken.has(`name-${number}`)) return `name-${number}`;
  }

  function line(type: string, id: string, before: object | null, after: object | null): LogEntry {
    const json = (row: object | null) => JSON.parse(JSON.stringify(row)) as object | null;
    return { resource_type: type, resource_id: id, before: json(before), after: json(after) };
  }

  function insert(table: Named, row: Row): LogEntry {
    (rows[table] as Row[]).push(row);
    return line(types[table], row.id, null, row);
  }

  function update(table: Named, row: Row | undefined, change: object): LogEntry | undefined {
    if (row === undefined) return undefined;
    const after = { ...row, ...change };
    (rows[table] as Row[]).splice((rows[table] as Row[]).indexOf(row), 1, after);
    return line(types[table], row.id, row, after);
  }

  function remove(table: Named, row: Row | undefined): LogEntry | undefined {
    if (row === undefined) return undefined;
    const { id } = row;
    (rows[table] as Row[]).splice((rows[table] as Row[]).indexOf(row), 1);
    rows.group_members = rows.group_members.filter((edge) => edge.member_id !== id && edge.group_id !== id);
    rows.subgroups = rows.subgroups.filter((edge) => edge.group_id !== id && edge.subgroup_id !== id);
    rows.role_bindings = rows.role_bindings.filter(
      (binding) => binding.subject_id !== id && binding.role_id !== id && binding.scope_id !== id,
    );
    return line(types[table], id, row, null);
  }

  const live = <Entity extends { readonly delete_time?: Time }>(items: readonly Entity[]): Entity[] =>
    items.filter((item) => !isDeleted(item));
  const deleted = <Entity extends { readonly delete_time?: Time }>(items: readonly Entity[]): Entity[] =>
    items.filter((item) => isDeleted(item));

  const drawPermissions = (draw: Draw): string[] => permissions.filter(() => draw(2) === 0);
  const memberStates = ["ACTIVE", "ACTIVE", "ACTIVE", "ACTIVE", "SUSPENDED", "INVITED"] as const;

  function drawBinding(draw: Draw, id: string): RoleBindingRow | undefined {
    const subjectType = pick(draw, ["group", "group", "member"] as const);
    const subject = oneOf(draw, subjectType === "group" ? rows.groups : rows.members);
    const scopeType = pick(draw, ["project", "project", "org", "org", "customer", "service", "platform"] as const);
    const project = oneOf(draw, rows.projects);
    const role = draw(2) === 0 ? undefined : oneOf(draw, rows.roles);
    if (subject === undefined || (scopeType === "project" && project === undefined)) return undefined;
    const scopes = {
      project: project?.id ?? "",
      org: rows.org.id,
      customer: pick(draw, [rows.org.customer_id, otherCustomer]),
      service: pick(draw, services),
      platform: null,
    };
    return {
      id,
      scope_type: scopeType,
      scope_id: scopes[scopeType],
      subject_type: subjectType,
      subject_id: subject.id,
      role_id: role?.id ?? null,
      predefined_role:
        role === undefined ? pick(draw, ["viewer", "reader", "operator", "admin", "owner", "from-the-future"]) : null,
      start_time: drawTime(draw),
      expire_time: drawTime(draw),
      condition: draw(3) > 0 ? "" : pick(draw, ["wrong", ...Object.keys(conditions)]),
    };
  }

  function putBinding(draw: Draw, before: RoleBindingRow | undefined): LogEntry | undefined {
    const after = drawBinding(draw, before?.id ?? newId());
    if (after === undefined) return undefined;
    if (before === undefined) rows.role_bindings.push(after);
    else rows.role_bindings.splice(rows.role_bindings.indexOf(before), 1, after);
    return line("RoleBinding", after.id, before ?? null, after);
  }

  function putMembership(draw: Draw): LogEntry | undefined {
    const [group, member] = [oneOf(draw, rows.groups), oneOf(draw, live(rows.members))];
    if (group === undefined || member === undefined) return undefined;
    const before = rows.group_members.find((row) => row.group_id === group.id && row.member_id === member.id);
    const after = { org_id: rows.org.id, group_id: group.id, member_id: member.id, expire_time: drawTime(draw) };
    rows.group_members = [...rows.group_members.filter((row) => row !== before), after];
    // An expired membership is replaced without an entry for its removal.
    return line("GroupMember", member.id, draw(2) === 0 ? null : (before ?? null), after);
  }

  function putSubgroup(draw: Draw): LogEntry | undefined {
    const [outer, inner] = [oneOf(draw, rows.groups), oneOf(draw, rows.groups)];
    if (outer === undefined || inner === undefined || outer === inner) return undefined;
    const same = rows.subgroups.find((row) => row.group_id === outer.id && row.subgroup_id === inner.id);
    const after = { org_id: rows.org.id, group_id: outer.id, subgroup_id: inner.id };
    if (same === undefined) rows.subgroups.push(after);
    return line("Subgroup", inner.id, same ?? null, after);
  }

  function putOrg(draw: Draw): LogEntry {
    const before = rows.org;
    const state = draw(8) === 1 ? "SUSPENDED" : "ACTIVE";
    rows.org = { ...before, state, delete_time: draw(8) === 1 ? new Date(1) : null };
    const { revision: _before, ...from } = before;
    const { revision: _after, ...to } = rows.org;
    return line("Org", before.id, from, to);
  }

  const changes: readonly (readonly [weight: number, change: Change])[] = [
    [4, (draw) => insert("members", { ...namedRow(draw, "members"), state: pick(draw, memberStates) } as Row)],
    [3, (draw) => insert("groups", namedRow(draw, "groups"))],
    [3, (draw) => insert("projects", { ...namedRow(draw, "projects"), state: "ACTIVE" } as Row)],
    [2, (draw) => insert("roles", { ...namedRow(draw, "roles"), permissions: drawPermissions(draw) } as Row)],
    [14, (draw) => putBinding(draw, undefined)],
    [2, (draw) => putBinding(draw, oneOf(draw, rows.role_bindings))],
    [12, putMembership],
    [6, putSubgroup],
    [1, putOrg],
    [2, (draw) => update("members", oneOf(draw, live(rows.members)), { state: pick(draw, memberStates) })],
    [1, (draw) => update("members", oneOf(draw, live(rows.members)), { name: freeName(draw, "members") })],
    [1, (draw) => update("groups", oneOf(draw, rows.groups), { name: freeName(draw, "groups") })],
    [1, (draw) => update("projects", oneOf(draw, live(rows.projects)), { name: freeName(draw, "projects") })],
    [2, (draw) => update("roles", oneOf(draw, rows.roles), { permissions: drawPermissions(draw) })],
    [2, (draw) => update("members", oneOf(draw, live(rows.members)), { delete_time: new Date(1) })],
    [1, (draw) => update("projects", oneOf(draw, live(rows.projects)), { delete_time: new Date(1) })],
    [2, (draw) => undelete(draw, "members")],
    [1, (draw) => undelete(draw, "projects")],
    [1, (draw) => remove("members", oneOf(draw, deleted(rows.members)))],
    [1, (draw) => remove("projects", oneOf(draw, deleted(rows.projects)))],
    [1, (draw) => remove("groups", oneOf(draw, rows.groups))],
    [1, (draw) => remove("roles", oneOf(draw, rows.roles))],
    [2, (draw) => removeOne(draw, "role_bindings", "RoleBinding", (row) => row.id)],
    [2, (draw) => removeOne(draw, "group_members", "GroupMember", (row) => row.member_id)],
    [2, (draw) => removeOne(draw, "subgroups", "Subgroup", (row) => row.subgroup_id)],
  ];
  const weighted = changes.flatMap(([weight, change]) => Array.from({ length: weight }, () => change));

  function namedRow(draw: Draw, table: Named): Row {
    const name = freeName(draw, table);
    const deletable = table === "members" || table === "projects";
    return { id: newId(), name, ...(deletable ? { delete_time: null } : {}) } as Row;
  }

  function undelete(draw: Draw, table: "members" | "projects"): LogEntry | undefined {
    const row = oneOf<ModelRows["members" | "projects"][number]>(draw, deleted(rows[table]));
    return update(table, row, { delete_time: null, name: freeName(draw, table) });
  }

  function removeOne<Table extends "role_bindings" | "group_members" | "subgroups">(
    draw: Draw,
    table: Table,
    type: string,
    idOf: (row: ModelRows[Table][number]) => string,
  ): LogEntry | undefined {
    const items = rows[table] as ModelRows[Table][number][];
    const row = oneOf(draw, items);
    if (row === undefined) return undefined;
    items.splice(items.indexOf(row), 1);
    return line(type, idOf(row), row, null);
  }

  return { next: (draw) => weighted[draw(weighted.length)]?.(draw) };
}

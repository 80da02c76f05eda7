import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredState } from "../../../src/access/engine/tables/entity-table.ts";
import {
  loadGroups,
  loadMembers,
  loadMemberships,
  loadProjects,
} from "../../../src/access/engine/loading/load-columns.ts";
import { stateOf } from "../../../src/access/engine/loading/rows.ts";
import { loadRows } from "../../../src/access/engine/loading/load-rows.ts";
import { type OrgSnapshot, createOrgSnapshot } from "../../../src/access/engine/org-snapshot.ts";
import { type PackedIds, formatUuidAt, readUuid } from "../../../src/access/engine/tables/uuid.ts";
import { fuzzParameters } from "../../support/fuzz-parameters.ts";
import { emptyRows } from "./draw-changes.ts";

const createEmpty = (): OrgSnapshot =>
  createOrgSnapshot({ org: emptyRows().org, predefinedRoles: {}, compileCondition: () => () => true });

/** Returns ids that differ only in their first or only in their last word. The sign bit is set in some. */
function idOf(number: number): string {
  const word = (number * 0x1f3d5b79).toString(16).padStart(8, "0").slice(-8);
  return number % 2 === 0 ? `${word}-0000-7000-8000-000000000000` : `00000000-0000-7000-8000-0000${word}`;
}

function pack(ids: readonly string[]): PackedIds {
  const packed = new Int32Array(ids.length * 4);
  ids.forEach((id, place) => readUuid(id, packed.subarray(place * 4, place * 4 + 4)));
  return packed;
}

const anyState = fc.constantFrom<StoredState>("ACTIVE", "SUSPENDED", "DELETED", "SUSPENDED AND DELETED");
const anyEntity = fc.record({ number: fc.nat(60), name: fc.nat(60), state: anyState });
/** The ids are distinct, as in tables. */
const anyEntities = fc.uniqueArray(anyEntity, { selector: ({ number }) => number, maxLength: 60 });
const anyEdges = fc.array(fc.record({ member: fc.nat(60), group: fc.nat(60), until: fc.option(fc.nat(9)) }));

const idsIn = (snapshot: OrgSnapshot) =>
  Array.from({ length: 61 }, (_, number) => idOf(number)).map((id) => {
    const { members, groups, projects, labels, memberships } = snapshot;
    const member = members.findById(id);
    const targets: number[] = [];
    const count = member === 0 ? 0 : memberships.targetsAt(member, 5, targets);
    return [
      ...[members, groups, projects].map((table) => {
        const record = table.findById(id);
        if (record === 0) return undefined;
        const name = table.nameOf(record);
        return [
          table.stateOf(record),
          table.isSuspended(record),
          name,
          name === "" ? 0 : table.find({ by: "name", value: name }) === record,
        ];
      }),
      labels.of(id),
      targets
        .slice(0, count)
        .map((group) => groups.idOf(group))
        .toSorted(),
    ];
  });

test("loading columns has the same result as loading rows, also if some of the entities exist already", () => {
  const property = fc.property(
    fc.array(fc.tuple(anyEntities, anyEdges), { maxLength: 4 }),
    fc.nat(80),
    (loads, room) => {
      const [byColumns, byRows] = [createEmpty(), createEmpty()];
      byColumns.members.reserve(room);
      for (const [turn, [entities, edges]] of loads.entries()) {
        const rows = entities.map(({ number, name, state }) => ({
          id: idOf(number),
          name: `${turn} ${name} ${number}`,
          state: state.startsWith("SUSPENDED") ? ("SUSPENDED" as const) : ("ACTIVE" as const),
          delete_time: state.endsWith("DELETED") ? 1 : null,
          token_gen: name % 3 === 0 ? idOf(name) : null,
          labels: name % 2 === 0 ? {} : { name: String(name) },
        }));
        const groupRows = rows.map(({ id, name }) => ({ id, name }));
        const edgeRows = edges.map(({ member, group, until }) => ({
          member_id: idOf(member),
          group_id: idOf(group),
          expire_time: until,
        }));
        loadRows(byRows, { members: rows, groups: groupRows, projects: rows });
        loadRows(byRows, { group_members: edgeRows });
        const ids = pack(rows.map(({ id }) => id));
        const names = rows.map(({ name }) => name);
        const columns = { ids, names, states: entities.map(({ state }) => state) };
        const states = rows.map((row) => stateOf(row));
        loadMembers(byColumns, { ...columns, states, tokenGens: rows.map(({ token_gen }) => token_gen) });
        loadGroups(byColumns, { ids, names, states: rows.map(() => "ACTIVE") });
        loadProjects(byColumns, { ...columns, labels: rows.map(({ labels }) => labels) });
        loadMemberships(byColumns, {
          groupIds: pack(edgeRows.map(({ group_id }) => group_id)),
          memberIds: pack(edgeRows.map(({ member_id }) => member_id)),
          expireTimes: edgeRows.map(({ expire_time }) => expire_time),
        });
        expect(rows.map((_, place) => formatUuidAt(ids, place))).toEqual(rows.map(({ id }) => id));
      }
      expect(idsIn(byColumns)).toEqual(idsIn(byRows));
      for (let number = 0; number <= 60; number++) {
        expect(byColumns.tokens.genOf(idOf(number))).toBe(byRows.tokens.genOf(idOf(number)));
        for (const snapshot of [byColumns, byRows]) {
          const record = snapshot.members.findById(idOf(number));
          if (record !== 0) snapshot.members.retire(record);
        }
      }
      expect(idsIn(byColumns)).toEqual(idsIn(byRows));
    },
  );
  fc.assert(property, fuzzParameters(100));
});

test("columns reject an empty name", () => {
  const columns = { ids: pack([idOf(1)]), names: [""], states: ["ACTIVE"], tokenGens: [null] } as const;
  expect(() => loadMembers(createEmpty(), columns)).toThrow("must not be empty");
});

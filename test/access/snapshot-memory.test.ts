// Tests that snapshots count the memory that they take: the limit of all snapshots relies on it, and most orgs are small.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { type OrgSnapshot, createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { registry } from "../../src/catalog.ts";
import { createPredefinedRoles } from "../../src/iam/roles/predefined-roles.ts";
import { createMethodTable, permissionsOfMethods } from "../../src/rpc/method-table.ts";
import { services, standardServices } from "../../src/rpc/services.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("an empty snapshot counts about what it takes", () => {
  const permissions = permissionsOfMethods(createMethodTable([...services, ...standardServices]));
  const roles = createPredefinedRoles(permissions, registry.definitions);
  const predefinedRoles = Object.fromEntries(roles.map((role) => [role.name, role]));
  const id = "01926f3e-0000-7000-8000-000000000001";
  const org = {
    id,
    name: "acme",
    state: "ACTIVE",
    labels: {},
    revision: id,
    delete_time: null,
    customer_id: id,
  } as const;
  const create = (): OrgSnapshot => createOrgSnapshot({ org, predefinedRoles, compileCondition: () => () => true });
  create();
  const before = usedBytes();
  const snapshots = Array.from({ length: 500 }, create);
  const taken = (usedBytes() - before) / snapshots.length;
  const counted = snapshots[0]?.bytes ?? 0;
  expect(counted / taken).toBeGreaterThan(0.75);
  expect(counted / taken).toBeLessThan(1.5);
});

// Prints what an empty snapshot counts and what it takes, in bytes, as JSON. Runs with `node --expose-gc`, in a process of its
// own, because the heap of a worker that runs other tests changes meanwhile.
import { type OrgSnapshot, createOrgSnapshot } from "../../src/access/engine/org-snapshot.ts";
import { registry } from "../../src/resource-registry.ts";
import { createPredefinedRoles } from "../../src/iam/roles/predefined-roles.ts";
import { createMethodTable, permissionsOfMethods } from "../../src/rpc/method-table.ts";
import { services, standardServices } from "../../src/rpc/services.ts";

function usedBytes(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

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
console.log(JSON.stringify({ counted: snapshots[0]?.bytes, taken }));

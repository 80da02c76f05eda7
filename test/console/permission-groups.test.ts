// What the wildcards of predefined roles stand for in a role of an org, which has none.
import { expect, test } from "vitest";
import { withoutWildcards } from "../../console/src/screens/roles/permission-groups.ts";

const known = ["iam.members.get", "resources.resources.list", "compute.instances.get", "compute.instances.start"];

test.each([
  [["*"], known],
  [["*.*.*"], ["compute.instances.get", "compute.instances.start"]],
  [
    ["iam.members.get", "*.*.get"],
    ["iam.members.get", "compute.instances.get"],
  ],
  [
    ["storage.volumes.get", "compute.instances.get", "*.*.get"],
    ["storage.volumes.get", "compute.instances.get"],
  ],
  [["*.*.list"], []],
])("of %j it is %j", (permissions, named) => {
  expect(withoutWildcards(permissions, known)).toEqual(named);
});

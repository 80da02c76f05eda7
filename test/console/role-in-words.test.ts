import { expect, test } from "vitest";
import { roleInWords } from "../../console/src/screens/roles/role-in-words.ts";

test.each([
  [["*"], "Every permission there is, also those that are added later."],
  [[], "None yet: who is granted this role gains nothing."],
  [["iam.projects.get", "iam.projects.list"], "2 permissions for 1 kind of things. It only reads."],
  [
    ["iam.projects.get", "iam.groupMembers.create", "compute.instances.start"],
    "3 permissions for 3 kinds of things. It changes instances, group members.",
  ],
  [
    ["a.one.x", "a.two.x", "a.three.x", "a.four.x", "a.five.x", "a.six.x", "a.seven.x"],
    "7 permissions for 7 kinds of things. It changes five, four, one, seven, six, 2 more.",
  ],
  [
    ["iam.projects.get", "*.*.get"],
    "1 permission for 1 kind of things. It only reads. Everything of other services that reads one resource.",
  ],
  [["*.*.*"], "Every permission of other services."],
])("a role with %j is described", (permissions, said) => {
  expect(roleInWords(permissions)).toBe(said);
});

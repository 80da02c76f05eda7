// Checks that the fields of requests say how they are used and what they refer to, and that a field which does not is named.
import { clearExtension, clone, hasExtension } from "@bufbuild/protobuf";
import { type FieldOptions, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, test } from "vitest";
import { field_behavior } from "../../gen/google/api/field_behavior_pb.ts";
import { resource_reference } from "../../gen/google/api/resource_pb.ts";
import { checkFields } from "../../scripts/proto-forms/check-fields.ts";
import { buildImage } from "../../scripts/proto-forms/image.ts";

let image: ReturnType<typeof buildImage>;

beforeAll(() => {
  image = buildImage();
});

/** Returns what is reported when an option is taken from every field of the message. */
function checkWithout(message: string, clear: (options: FieldOptions) => void): string[] {
  const changed = clone(FileDescriptorSetSchema, image);
  const found = changed.file.flatMap(({ messageType }) => messageType).find(({ name }) => name === message);
  for (const { options } of found?.field ?? []) if (options !== undefined) clear(options);
  return checkFields(changed).map(({ where, what }) => `${where}: ${what}`);
}

test("every field of a request has a field_behavior, and every path a resource_reference", () => {
  expect(checkFields(image)).toEqual([]);
});

test("names the fields of a request, and of a resource in it, without a field_behavior", () => {
  const clear = (options: FieldOptions): void => clearExtension(options, field_behavior);
  const fields = ["path", "as_of_revision", "as_of_time"];
  const named = fields.map((field) => `GetGroupRequest.${field}: [google.api.field_behavior]`);
  expect(checkWithout("GetGroupRequest", clear)).toEqual(named);
  expect(checkWithout("Group", clear)).toContain("Group.display_name: [google.api.field_behavior]");
});

test("names paths without a resource_reference", () => {
  const clear = (options: FieldOptions): void => {
    if (hasExtension(options, resource_reference)) clearExtension(options, resource_reference);
  };
  expect(checkWithout("BatchGetGroupsRequest", clear)).toEqual([
    "BatchGetGroupsRequest.parent_path: [google.api.resource_reference]",
    "BatchGetGroupsRequest.paths: [google.api.resource_reference]",
  ]);
});

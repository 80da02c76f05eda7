// Checks that every proto of the API declares what generators need, and that a file which does not is named.
import { clone } from "@bufbuild/protobuf";
import { Edition, type FileDescriptorProto, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, test } from "vitest";
import { checkFiles } from "../../scripts/proto-forms/check-files.ts";
import { formatDifference } from "../../scripts/proto-forms/check-forms.ts";
import { buildImage } from "../../scripts/proto-forms/image.ts";

let image: ReturnType<typeof buildImage>;

beforeAll(() => {
  image = buildImage();
});

function checkWith(change: (constraints: FileDescriptorProto) => void): string[] {
  const changed = clone(FileDescriptorSetSchema, image);
  for (const file of changed.file) if (file.name === "iam/v1alpha/constraints.proto") change(file);
  return checkFiles(changed).map(formatDifference);
}

test("every file has the options of its package", () => {
  expect(checkFiles(image)).toEqual([]);
});

test.each([
  ["csharpNamespace", "csharp_namespace", "Tenantry.Iam.V1Alpha"],
  ["goPackage", "go_package", "tenantry.dev/go/iam/v1alpha;iamv1alpha"],
  ["javaPackage", "java_package", "dev.tenantry.iam.v1alpha"],
] as const)("names a file with another %s", (field, name, expected) => {
  const found = checkWith(({ options }) => {
    if (options !== undefined) options[field] = "other";
  });
  expect(found).toEqual([
    `proto/iam/v1alpha/constraints.proto:1: iam/v1alpha/constraints.proto: option ${name}
  expected: "${expected}"
  found:    "other"`,
  ]);
});

test("names a file without options, and one in an edition", () => {
  const found = checkWith((file) => {
    delete file.options;
    file.edition = Edition.EDITION_2023;
  });
  expect(found).toHaveLength(5);
  expect(found.join("\n")).toContain("option java_multiple_files\n  expected: true\n  found:    nothing");
  expect(found.join("\n")).toContain('syntax\n  expected: syntax = "proto3", or "proto2" for extensions');
});

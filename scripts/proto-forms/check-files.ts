// Checks what every file of the API declares for generators: a syntax that older ones read, and the names of what they generate.
import { Edition, type FileDescriptorProto, type FileDescriptorSet, FileOptionsSchema } from "@bufbuild/protobuf/wkt";
import { toJson } from "@bufbuild/protobuf";
import type { Difference } from "./check-forms.ts";

/** The packages of the API; the other files of the image are imports. */
const ownPackage = /^(authzen|iam|resources|scim)\./;

export function checkFiles({ file: files }: FileDescriptorSet): Difference[] {
  return files.filter((file) => ownPackage.test(file.package)).flatMap(checkFile);
}

function checkFile(file: FileDescriptorProto): Difference[] {
  const path = `proto/${file.name}`;
  const expected = optionsOf(file.package);
  const found = file.options ? (toJson(FileOptionsSchema, file.options) as Readonly<Record<string, unknown>>) : {};
  const differences = Object.entries(expected)
    .filter(([, { json, value }]) => found[json] !== value)
    .map(([name, { json, value }]) => difference(path, `option ${name}`, show(value), show(found[json])));
  // protoc before 27 and many plugins do not read editions.
  if (file.edition !== Edition.EDITION_UNKNOWN) {
    differences.push(difference(path, "syntax", 'syntax = "proto3", or "proto2" for extensions', "an edition"));
  }
  return differences;
}

function difference(file: string, what: string, expected: string, found: string): Difference {
  return { file, line: 1, where: file.replace("proto/", ""), what, expected, found };
}

function show(value: unknown): string {
  return value === undefined ? "nothing" : JSON.stringify(value);
}

interface FileOption {
  /** Its name in Protobuf's JSON form. */
  readonly json: string;
  readonly value: string | boolean;
}

/** Returns the options that the files of a package such as `iam.v1alpha` have, by name. */
function optionsOf(protoPackage: string): Readonly<Record<string, FileOption>> {
  const parts = protoPackage.split(".");
  return {
    csharp_namespace: { json: "csharpNamespace", value: ["Tenantry", ...parts.map(toPascalCase)].join(".") },
    go_package: { json: "goPackage", value: `tenantry.dev/go/${parts.join("/")};${parts.join("")}` },
    java_multiple_files: { json: "javaMultipleFiles", value: true },
    java_package: { json: "javaPackage", value: `dev.tenantry.${protoPackage}` },
  };
}

/** `iam` → `Iam`, `v1alpha` → `V1Alpha` */
function toPascalCase(part: string): string {
  return part.replaceAll(/^[a-z]|(?<=\d)[a-z]/g, (letter) => letter.toUpperCase());
}

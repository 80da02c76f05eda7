// Copies the protos of others that ours import, or that the server implements, from npm packages into proto/. They are committed,
// so that proto/ can be built and generated from without anything else:
//
// - google/api and google/rpc are in google-proto-files;
// - grpc/health and grpc/reflection are in different folders of their packages;
// - buf/validate/validate.proto is in no package. @bufbuild/protovalidate contains its descriptor, which this script prints as
//   source. Compiled, the source yields the same descriptor.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescOneof,
  createRegistry,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { toText } from "@bufbuild/protobuf/txtpb";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  FieldOptionsSchema,
  FileOptionsSchema,
  MessageOptionsSchema,
  OneofOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate as validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

const outDir = join(import.meta.dirname, "../proto");

type Described = DescFile | DescMessage | DescField | DescExtension | DescOneof | DescEnum | DescEnum["values"][number];

const optionSchemas = {
  file: FileOptionsSchema,
  message: MessageOptionsSchema,
  field: FieldOptionsSchema,
  extension: FieldOptionsSchema,
  oneof: OneofOptionsSchema,
  enum: EnumOptionsSchema,
  enum_value: EnumValueOptionsSchema,
};

/** Returns every option of an element as `name = value`, including options that `file` itself defines. */
function optionsOf(file: DescFile, described: Described): string[] {
  const schema = optionSchemas[described.kind];
  const message = described.proto.options;
  if (message === undefined) return [];
  const plain = reflect(schema, message as never)
    .fields.filter((field) => reflect(schema, message as never).isSet(field))
    .map((field) => `${field.name} = ${literal(field, reflect(schema, message as never).get(field))}`);
  const registry = createRegistry(file);
  const custom = file.extensions
    .filter((extension) => extension.extendee.typeName === message.$typeName && hasOption(described, extension))
    .map((extension) => {
      const value = getOption(described, extension) as never;
      if (extension.message === undefined) throw new Error(`option ${extension.typeName} is not a message`);
      return `(.${extension.typeName}) = {${toText(extension.message, value, { registry })}}`;
    });
  return [...plain, ...custom];
}

function literal(field: DescField, value: unknown): string {
  if (field.enum !== undefined) return field.enum.value[value as number]?.name ?? String(value);
  if (field.fieldKind !== "scalar") throw new Error(`option ${field.name} is not a scalar`);
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function* printFile(file: DescFile): Generator<string> {
  const { proto } = file;
  yield "// Protovalidate, https://github.com/bufbuild/protovalidate, licensed under Apache 2.0. Printed without its comments by";
  yield "// scripts/proto-deps.ts, from the descriptor in @bufbuild/protovalidate.";
  yield `syntax = ${JSON.stringify(proto.syntax || "proto2")};`;
  yield `package ${proto.package};`;
  for (const dependency of proto.dependency) yield `import ${JSON.stringify(dependency)};`;
  for (const option of optionsOf(file, file)) yield `option ${option};`;
  for (const extension of file.extensions) {
    yield `extend .${extension.extendee.typeName} {`;
    yield printField(file, extension);
    yield "}";
  }
  for (const message of file.messages) yield* printMessage(file, message);
  for (const descEnum of file.enums) yield* printEnum(file, descEnum);
}

function* printMessage(file: DescFile, message: DescMessage): Generator<string> {
  yield `message ${message.name} {`;
  for (const option of optionsOf(file, message)) yield `option ${option};`;
  for (const member of message.members) {
    if (member.kind === "field") {
      yield printField(file, member);
      continue;
    }
    yield `oneof ${member.name} {`;
    for (const option of optionsOf(file, member)) yield `option ${option};`;
    for (const field of member.fields) yield printField(file, field);
    yield "}";
  }
  for (const range of message.proto.extensionRange) {
    yield `extensions ${range.start} to ${range.end === 536_870_912 ? "max" : range.end - 1};`;
  }
  for (const range of message.proto.reservedRange) yield `reserved ${range.start} to ${range.end - 1};`;
  for (const name of message.proto.reservedName) yield `reserved ${JSON.stringify(name)};`;
  for (const nested of message.nestedMessages) yield* printMessage(file, nested);
  for (const nested of message.nestedEnums) yield* printEnum(file, nested);
  yield "}";
}

function printField(file: DescFile, field: DescField | DescExtension): string {
  const { proto } = field;
  const type = proto.typeName || Type[proto.type].toLowerCase();
  const options = optionsOf(file, field);
  if (proto.defaultValue !== "") {
    options.unshift(
      `default = ${proto.type === Type.STRING ? JSON.stringify(proto.defaultValue) : proto.defaultValue}`,
    );
  }
  const bracketed = options.length > 0 ? ` [${options.join(", ")}]` : "";
  return `${labelOf(file, field)}${type} ${proto.name} = ${proto.number}${bracketed};`;
}

function labelOf(file: DescFile, field: DescField | DescExtension): string {
  if (field.kind === "field" && field.oneof !== undefined) return "";
  if (field.proto.label === Label.REPEATED) return "repeated ";
  if (field.proto.label === Label.REQUIRED) return "required ";
  return file.proto.syntax === "proto3" && !field.proto.proto3Optional ? "" : "optional ";
}

function* printEnum(file: DescFile, descEnum: DescEnum): Generator<string> {
  yield `enum ${descEnum.name} {`;
  for (const option of optionsOf(file, descEnum)) yield `option ${option};`;
  for (const value of descEnum.values) {
    const options = optionsOf(file, value);
    yield `${value.name} = ${value.number}${options.length > 0 ? ` [${options.join(", ")}]` : ""};`;
  }
  for (const range of descEnum.proto.reservedRange) yield `reserved ${range.start} to ${range.end};`;
  for (const name of descEnum.proto.reservedName) yield `reserved ${JSON.stringify(name)};`;
  yield "}";
}

function writeOutput(path: string, write: (target: string) => void): void {
  const target = join(outDir, path);
  mkdirSync(dirname(target), { recursive: true });
  write(target);
}

const packageDir = (name: string): string => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));

const googleFiles = [
  "api/annotations.proto",
  "api/field_behavior.proto",
  "api/http.proto",
  "api/httpbody.proto",
  "api/resource.proto",
  "rpc/error_details.proto",
  "rpc/status.proto",
];
for (const file of googleFiles) {
  writeOutput(`google/${file}`, (target) => {
    copyFileSync(join(packageDir("google-proto-files"), "google", file), target);
  });
}
writeOutput("buf/validate/validate.proto", (target) => {
  writeFileSync(target, [...printFile(validate)].join("\n") + "\n");
});
writeOutput("grpc/health/v1/health.proto", (target) => {
  copyFileSync(join(packageDir("grpc-health-check"), "proto/health/v1/health.proto"), target);
});
for (const version of ["v1", "v1alpha"]) {
  const path = `grpc/reflection/${version}/reflection.proto`;
  writeOutput(path, (target) => copyFileSync(join(packageDir("@grpc/reflection"), "build/proto", path), target));
}
const formatted = ["buf", "google", "grpc"].flatMap((folder) => ["--path", join(outDir, folder)]);
execFileSync(join(outDir, "../node_modules/.bin/buf"), ["format", "-w", outDir, ...formatted], {
  cwd: join(outDir, ".."),
});

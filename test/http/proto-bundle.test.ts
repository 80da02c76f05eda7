// Checks that the bundle is complete: what it contains is enough to build it, and its two forms are the same.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createFileRegistry, fromBinary, toJson } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { parseTarGzip } from "nanotar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createProtoBundle } from "../../src/http/proto-bundle.ts";
import { contractFiles, services } from "../../src/rpc/services.ts";
import { sharedServer } from "../support/shared-server.ts";

const buf = resolve(import.meta.dirname, "../../node_modules/.bin/buf");
const bundle = createProtoBundle(contractFiles);
let directory: string;
let names: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "tenantry-bundle-"));
  const files = await parseTarGzip(bundle.tarball);
  names = files.map(({ name }) => name);
  for (const { name, data } of files) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), data ?? "");
  }
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function build(input: string): FileDescriptorSet {
  const options = ["--as-file-descriptor-set", "--exclude-source-info", "-o", "-#format=binpb"];
  return fromBinary(FileDescriptorSetSchema, execFileSync(buf, ["build", input, ...options], { cwd: directory }));
}

/** Returns each file of a set in JSON, by name, without what only one of protoc and buf writes. */
function filesOf(set: FileDescriptorSet): ReadonlyMap<string, unknown> {
  const registry = createFileRegistry(set);
  const options = { registry };
  return new Map(
    set.file.map((file) => [file.name, toJson(FileDescriptorSetSchema, { ...set, file: [file] }, options)]),
  );
}

test("the tarball alone can be built, and has the same files as the descriptors", () => {
  const ofSources = filesOf(build("."));
  const ofDescriptors = filesOf(fromBinary(FileDescriptorSetSchema, bundle.descriptors));
  expect([...ofDescriptors.keys()].toSorted()).toEqual([...ofSources.keys()].toSorted());
  for (const name of names.filter((each) => /^(authzen|iam|resources|scim)\//.test(each))) {
    expect(ofDescriptors.get(name)).toEqual(ofSources.get(name));
  }
});

test("a copy of proto/ can be built without anything else", () => {
  cpSync(resolve(import.meta.dirname, "../../proto"), join(directory, "proto"), { recursive: true });
  expect(filesOf(build("proto")).has("iam/v1alpha/member.proto")).toBe(true);
});

test("it has every service, and what the details of errors are made of", () => {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bundle.descriptors));
  for (const { typeName } of services) expect(registry.getService(typeName)?.typeName).toBe(typeName);
  expect(registry.getMessage("google.rpc.ErrorInfo")).toBeDefined();
});

test("it is the same whenever it is made", () => {
  expect(createProtoBundle(contractFiles).tarball.equals(bundle.tarball)).toBe(true);
});

test("the service serves it without credentials", async () => {
  const server = await sharedServer();
  const tarball = await fetch(`${server.url}/protos.tar.gz`);
  expect([tarball.status, tarball.headers.get("content-type")]).toEqual([200, "application/gzip"]);
  expect(Buffer.from(await tarball.arrayBuffer()).equals(bundle.tarball)).toBe(true);
  const descriptors = await fetch(`${server.url}/descriptors.binpb`);
  expect(Buffer.from(await descriptors.arrayBuffer()).equals(bundle.descriptors)).toBe(true);
});

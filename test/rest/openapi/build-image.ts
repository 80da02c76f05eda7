import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const root = join(import.meta.dirname, "../../..");

const config = {
  version: "v2",
  modules: [{ path: "test/rest/openapi/proto" }, { path: "proto", includes: ["proto/buf", "proto/google"] }],
};

/** Builds the protos of this folder with their comments, which generated code lacks. */
export function buildImage(): FileRegistry {
  const where = ["--config", JSON.stringify(config), "--path", "test/rest/openapi/proto/zoo"];
  const what = ["--as-file-descriptor-set", "-o", "-#format=binpb"];
  const image = execFileSync("node_modules/.bin/buf", ["build", ".", ...where, ...what], { cwd: root });
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
}

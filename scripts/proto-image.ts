import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const root = join(import.meta.dirname, "..");

/** Builds the image of the protos with source info, which the generated code lacks, and returns what it declares. */
export function buildRegistry(): FileRegistry {
  const directory = mkdtempSync(join(tmpdir(), "proto-image-"));
  const file = join(directory, "image.binpb");
  try {
    // The protos of the API do not import the error details.
    const paths = [
      "proto/authzen",
      "proto/iam",
      "proto/resources",
      "proto/scim",
      "proto/google/rpc/error_details.proto",
    ];
    const options = ["--as-file-descriptor-set", ...paths.flatMap((path) => ["--path", path]), "-o", file];
    execFileSync(join(root, "node_modules/.bin/buf"), ["build", ".", ...options], { cwd: root, stdio: "inherit" });
    return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(file)));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

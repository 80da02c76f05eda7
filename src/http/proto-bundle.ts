import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { createTar } from "nanotar";
import { folderWith } from "./folder-with.ts";

/** The contract for generators of clients, in the two forms that they read. Both contain the same files. */
export interface ProtoBundle {
  /** A gzipped tar archive of the protos with their comments, and of what they import. Every protoc has google/protobuf. */
  readonly tarball: Buffer;
  /** A `google.protobuf.FileDescriptorSet`, imports first, google/protobuf included; without comments. */
  readonly descriptors: Uint8Array;
}

/** Every bundle of the same protos has the same bytes. */
const attributes = { mode: "644", uid: 0, gid: 0, mtime: 0 };

/** An archive ends with two blocks of zeros. Without the second, which nanotar does not write, GNU tar warns. */
const endOfArchive = Buffer.alloc(512);

/**
 * Makes the bundle of files and everything that they import.
 *
 * @throws Error if the protos are not where the source or the package has them.
 */
export function createProtoBundle(roots: readonly DescFile[]): ProtoBundle {
  const files = importsFirst(roots);
  const directory = new URL("proto/", folderWith("proto/iam"));
  const sources = files.map(({ proto }) => proto.name).filter((name) => !name.startsWith("google/protobuf/"));
  const entries = sources.toSorted().map((name) => ({ name, data: readFileSync(new URL(name, directory)) }));
  return {
    tarball: gzipSync(Buffer.concat([createTar(entries, { attrs: attributes }), endOfArchive]), { level: 9 }),
    descriptors: toBinary(
      FileDescriptorSetSchema,
      create(FileDescriptorSetSchema, { file: files.map(({ proto }) => proto) }),
    ),
  };
}

/** Returns the files and their transitive imports, each once and after its imports, as protoc does. */
function importsFirst(roots: readonly DescFile[]): DescFile[] {
  const files = new Map<string, DescFile>();
  const seen = new Set<string>();
  const add = (file: DescFile): void => {
    // Packages contain copies of common imports; each name has one file.
    if (seen.has(file.proto.name)) return;
    seen.add(file.proto.name);
    file.dependencies.forEach(add);
    files.set(file.proto.name, file);
  };
  roots.forEach(add);
  return [...files.values()];
}

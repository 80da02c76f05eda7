// Reads the protos as descriptors, with the source lines and comments of declarations.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type DescField, type DescFile, type DescMessage, type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorSet, FileDescriptorSetSchema, type SourceCodeInfo_Location } from "@bufbuild/protobuf/wkt";

const root = join(import.meta.dirname, "../..");

/** Builds the protos with source info, which holds comments and lines. */
export function buildImage(directory = root): FileDescriptorSet {
  const options = ["--as-file-descriptor-set", "-o", "-#format=binpb"];
  const image = execFileSync(join(root, "node_modules/.bin/buf"), ["build", "proto", ...options], {
    cwd: directory,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return fromBinary(FileDescriptorSetSchema, image);
}

export type Declared = DescMessage | DescField | DescMethod;

interface Source {
  /** The path from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** The comments before and after the declaration, joined into one line: line breaks in comments have no meaning. */
  readonly comment: string;
}

export type SourceReader = (desc: Declared) => Source;

/** Field numbers of descriptor.proto. SourceCodeInfo identifies a declaration by the path of field numbers to it. */
const inFile = { message: 4, service: 6 };
const inMessage = { field: 2, message: 3 };
const inService = { method: 2 };

export function createSourceReader(): SourceReader {
  const files = new Map<DescFile, ReadonlyMap<string, SourceCodeInfo_Location>>();
  return (desc) => {
    const file = fileOf(desc);
    let locations = files.get(file);
    if (locations === undefined) files.set(file, (locations = readFile(file)));
    const location = locations.get(locate(desc).join());
    const comments = [location?.leadingComments, location?.trailingComments].filter((comment) => comment !== undefined);
    return {
      file: `proto/${file.name}.proto`,
      line: (location?.span[0] ?? 0) + 1,
      comment: comments.join(" ").replaceAll(/\s+/g, " ").trim(),
    };
  };
}

function readFile({ proto }: DescFile): ReadonlyMap<string, SourceCodeInfo_Location> {
  return new Map((proto.sourceCodeInfo?.location ?? []).map((location) => [location.path.join(), location]));
}

function fileOf(desc: Declared): DescFile {
  return desc.kind === "message" ? desc.file : desc.parent.file;
}

function locate(desc: Declared): number[] {
  switch (desc.kind) {
    case "message":
      return desc.parent === undefined
        ? [inFile.message, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...locate(desc.parent), inMessage.message, desc.parent.proto.nestedType.indexOf(desc.proto)];
    case "field":
      return [...locate(desc.parent), inMessage.field, desc.parent.proto.field.indexOf(desc.proto)];
    case "rpc":
      return [
        inFile.service,
        desc.parent.file.proto.service.indexOf(desc.parent.proto),
        inService.method,
        desc.parent.proto.method.indexOf(desc.proto),
      ];
  }
}

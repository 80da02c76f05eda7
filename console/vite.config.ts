// Builds the console into dist/console, which the service serves at /console/. What is built has no inline script or style.
import { join } from "node:path";
import { type Message, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig } from "vite";
import { http } from "../gen/google/api/annotations_pb.ts";

/** What options are kept: the console writes the REST call of a method for a shell. */
const keptOptions: ReadonlySet<number> = new Set([http.number]);

/** The files that define no message of the API, only options that are not kept. */
const leftOut =
  /\bfile_(?:buf_validate_validate|google_api_(?:field_behavior|resource)|iam_v1alpha_(?:authorization|constraints))\b,? ?/g;

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [withoutUnreadOptions(), react()],
  build: {
    outDir: join(import.meta.dirname, "../dist/console"),
    emptyOutDir: true,
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    target: "es2022",
  },
});

/**
 * Leaves out of the descriptors of the API the options that only the service reads, such as rules of validation and permissions. They are nearly a
 * quarter of the descriptors, and hardly compress.
 */
function withoutUnreadOptions(): Plugin {
  return {
    name: "without-unread-options",
    enforce: "pre",
    transform(code, id) {
      if (!/\/gen\/.*_pb\.ts$/.test(id)) return undefined;
      return code.replace(/fileDesc\("([^"]+)"(?:, \[([^\]]*)\])?\)/, (_, base64: string, imports = "") => {
        const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, "base64"));
        dropOptions(file);
        const kept = Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString("base64");
        return `fileDesc("${kept}", [${String(imports).replaceAll(leftOut, "")}])`;
      });
    },
  };
}

/** Extensions of options are fields that a descriptor does not know. */
function dropOptions(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  const { $typeName = "", $unknown = [] } = value as Partial<Message>;
  if ($typeName.endsWith("Options"))
    Object.assign(value, { $unknown: $unknown.filter(({ no }) => keptOptions.has(no)) });
  else Object.values(value).forEach(dropOptions);
}

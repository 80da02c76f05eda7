// Builds the console into dist/console, which the service serves at /console/. What is built has no inline script or style.
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig } from "vite";

/** The files that only say how requests are validated. */
const validationRules = [
  { module: "/buf/validate/validate_pb.js", file: "buf/validate/validate.proto" },
  { module: "/constraints_pb.ts", file: "iam/v1alpha/constraints.proto" },
].map(({ module, file }) => ({
  module,
  file,
  id: `\0${file}`,
  name: `file_${file.replace(/\.proto$/, "").replaceAll("/", "_")}`,
}));

export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  plugins: [withoutValidationRules(), react()],
  build: {
    outDir: join(import.meta.dirname, "../dist/console"),
    emptyOutDir: true,
    // A data: URL would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    target: "es2022",
  },
});

/**
 * Leaves out the descriptors of rules of validation, which are as large as a screen: the service validates, and the console shows its
 * sentences. The files that import them get empty ones of the same names, and keep their rules as fields that they do not know.
 */
function withoutValidationRules(): Plugin {
  return {
    name: "without-validation-rules",
    enforce: "pre",
    resolveId: (source) => validationRules.find(({ module }) => source.endsWith(module))?.id,
    load(source) {
      const left = validationRules.find(({ id }) => id === source);
      if (left === undefined) return undefined;
      const proto = create(FileDescriptorProtoSchema, { name: left.file, syntax: "proto3" });
      const base64 = Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString("base64");
      return `import { fileDesc } from "@bufbuild/protobuf/codegenv2";
        export const ${left.name} = /*@__PURE__*/ fileDesc("${base64}");`;
    },
  };
}

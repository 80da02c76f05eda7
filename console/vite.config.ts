// Builds the console into dist/console, which the service serves at /console/. What is built has no inline script or style.
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import react from "@vitejs/plugin-react";
import { type Plugin, defineConfig } from "vite";

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
 * Leaves out the descriptor of Protovalidate, which is as large as a screen: the service validates, and shows its own sentences. The files
 * that import it get an empty one of its name, and keep their rules as fields that they do not know.
 */
function withoutValidationRules(): Plugin {
  const stub = "\0validation-rules";
  const proto = create(FileDescriptorProtoSchema, { name: "buf/validate/validate.proto", syntax: "proto3" });
  const base64 = Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString("base64");
  return {
    name: "without-validation-rules",
    enforce: "pre",
    resolveId: (source) => (source.endsWith("/buf/validate/validate_pb.js") ? stub : undefined),
    load: (id) =>
      id === stub
        ? `import { fileDesc } from "@bufbuild/protobuf/codegenv2";
           export const file_buf_validate_validate = /*@__PURE__*/ fileDesc("${base64}");`
        : undefined,
  };
}

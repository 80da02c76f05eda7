// Writes docs/errors.md, the list of the reasons of errors, from the comments of iam.v1alpha.ErrorReason.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry } from "@bufbuild/protobuf";
import { createCommentReader } from "../src/rest/openapi/read-comments.ts";
import { buildImage } from "./proto-forms/image.ts";

const reasons = createFileRegistry(buildImage()).getEnum("iam.v1alpha.ErrorReason");
if (reasons === undefined) throw new Error("the protos have no iam.v1alpha.ErrorReason");
const commentOf = createCommentReader();
const rows = reasons.values
  .filter(({ number }) => number !== 0)
  .map((value) => `| \`${value.name}\` | ${commentOf(value)} |`);

const text = `# Reasons of errors

${commentOf(reasons)}

Over REST, the body of every error is \`{"error": {"code", "status", "message", "details"}}\` (AIP-193). Over Connect and gRPC,
the same details travel with the status. \`BadRequest\` names fields as the client has sent them: over REST, where the body is a
resource, \`name\`, and over RPC \`member.name\`; the \`reason\` of a violation is the rule, such as \`NAME_FORMAT\`. Reasons that
begin with "REST:" or "HTTP:" are sent over HTTP only. The enum is \`iam.v1alpha.ErrorReason\` in
[proto/iam/v1alpha/error_reason.proto](../proto/iam/v1alpha/error_reason.proto), from which \`npm run generate\` writes this page.

| Reason | Meaning |
|---|---|
${rows.join("\n")}
`;

writeFileSync(join(import.meta.dirname, "../docs/errors.md"), text);

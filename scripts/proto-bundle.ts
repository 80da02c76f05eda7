// Writes the bundle of the contract, as the service serves it, into a folder: `npm run bundle -- DIRECTORY` (dist by default).
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProtoBundle } from "../src/http/proto-bundle.ts";
import { contractFiles } from "../src/rpc/services.ts";

const directory = process.argv[2] ?? "dist";
const { tarball, descriptors } = createProtoBundle(contractFiles);
mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, "protos.tar.gz"), tarball);
writeFileSync(join(directory, "descriptors.binpb"), descriptors);

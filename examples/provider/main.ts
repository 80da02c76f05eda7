// A provider to try Tenantry with: volumes are sparse files, instances are processes, networks are ports. Settings:
//   TENANTRY_URL           the service; http://localhost:8080 if unset
//   TENANTRY_API_KEY       the key, or
//   TENANTRY_API_KEY_FILE  a file with the key; data/operator-key if unset
//   PROVIDER_DIRECTORY     where the provider keeps its resources; provider-data if unset. One provider at a time
//   PROVIDER_CLAIM_MS      how long a claim lasts unless it is renewed, 1000 to 3600000; 30000 if unset
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { ProviderService } from "../../gen/resources/v1alpha/provider_pb.ts";
import { registerCatalog } from "./catalog.ts";
import { runClaimLoop } from "./claim-loop.ts";
import { createInstances } from "./instances.ts";
import { createNetworks } from "./networks.ts";
import { explain } from "./service-errors.ts";
import { createVolumes } from "./volumes.ts";

const { env } = process;
const url = env["TENANTRY_URL"] ?? "http://localhost:8080";
const directory = resolve(env["PROVIDER_DIRECTORY"] ?? "provider-data");

const log = (line: string): void => console.log(line);

const kinds = [
  { name: "cpu_cores", unit: "core", step: 0.1 },
  { name: "ram", unit: "byte", step: 1 },
  { name: "instance_storage", unit: "byte", step: 1 },
];

function readKey(): string {
  const file = env["TENANTRY_API_KEY_FILE"] ?? "data/operator-key";
  try {
    return (env["TENANTRY_API_KEY"] ?? readFileSync(file, "utf8")).trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`no API key: ${reason}; give one in TENANTRY_API_KEY or a file in TENANTRY_API_KEY_FILE`, {
      cause: error,
    });
  }
}

function readClaimMs(): number {
  const claimMs = Number(env["PROVIDER_CLAIM_MS"] ?? 30_000);
  if (claimMs >= 1_000 && claimMs <= 3_600_000) return claimMs;
  throw new Error(`PROVIDER_CLAIM_MS must be from 1000 to 3600000, got ${env["PROVIDER_CLAIM_MS"]}`);
}

async function main(): Promise<void> {
  const key = readKey();
  const claimMs = readClaimMs();
  if (!/^https?:\/\/./.test(url))
    throw new Error(`TENANTRY_URL must be a URL such as http://localhost:8080, got ${url}`);
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${key}`);
        return next(request);
      },
    ],
  });
  const provider = createClient(ProviderService, transport);
  const drivers = [
    createVolumes(join(directory, "volumes")),
    createInstances(join(directory, "instances"), log),
    createNetworks(join(directory, "networks"), log),
  ];
  await registerCatalog(transport, kinds, drivers);

  const stopping = new AbortController();
  // A second signal ends the process at once.
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stopping.abort());
  for (const driver of drivers) await driver.restore();
  log(`provides storage, compute and network from ${directory}`);
  const services = new Set(drivers.map(({ service }) => service));
  const loops = Array.from(services, (service) =>
    runClaimLoop(provider, { service, drivers, claimMs, log }, stopping.signal).finally(() => stopping.abort()),
  );
  const ends = await Promise.allSettled(loops);
  await Promise.all(drivers.map((driver) => driver.close()));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

await main().catch((error: unknown) => {
  console.error(explain(error, url));
  process.exitCode = 1;
});

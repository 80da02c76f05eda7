// Ships the log of an org into files with examples/ship.py, which is killed and started again meanwhile.
import { appendFile, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Webhook_Format } from "../../../gen/iam/v1alpha/webhook_pb.ts";
import { type WebhookPlace, openWebhookPlace } from "./place.ts";
import { hasPython, startPython } from "./python.ts";

let place: WebhookPlace;
beforeAll(async () => {
  place = await openWebhookPlace();
});
afterAll(() => place.close());

test.skipIf(!hasPython)(
  "each change is on a line of the files, once and in order, also after the shipper was killed",
  async () => {
    const { owner } = place;
    const folder = await mkdtemp(join(tmpdir(), "ship-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const format = Webhook_Format.NDJSON_BATCH;
    const created = await place.createWebhook({ url: "http://127.0.0.1:1/" }, { format, holdRetention: true });
    const { path, secret = "" } = created;
    const start = async () => {
      const shipper = await startPython("ship.py", secret, ["--folder", folder, "--max-bytes", "1000"]);
      await owner.webhooks.updateWebhook({ path, webhook: { url: shipper.url } });
      return shipper;
    };
    const files = async () => (await readdir(folder)).toSorted();
    /** The last file has no number, and its name is the last one. */
    const shipped = async (): Promise<string[]> => {
      const texts = await Promise.all((await files()).map((name) => readFile(join(folder, name), "utf8")));
      const lines = texts.join("").split("\n").slice(0, -1);
      return lines.map((line) => (JSON.parse(line) as { readonly resource_path: string }).resource_path);
    };
    const shipper = await start();
    const first = await place.createGroupsTogether(3);
    await expect.poll(shipped).toEqual(first);
    await expect.poll(files).toEqual(["changes.000001.ndjson"]);
    await shipper.kill();
    // A line of which a part was written when it was killed.
    await appendFile(join(folder, "changes.ndjson"), '{"revision":');
    const later = await place.createGroups(2);
    await start();
    await expect.poll(shipped).toEqual([...first, ...later]);
    // What comes again is left out.
    const { changes } = await owner.changes.listChanges({
      parentPath: place.company.org.path,
      filter: `resource_path = "${first[0] ?? ""}"`,
    });
    await owner.webhooks.replayWebhook({ path, fromRevision: changes[0]?.revision ?? "" });
    const [last = ""] = await place.createGroups(1);
    await expect.poll(shipped).toEqual([...first, ...later, last]);
  },
);

import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Database } from "../../database/database.ts";
import { required } from "../../errors/required.ts";
import type { Snapshots } from "../snapshots/current-snapshots.ts";
import { toLogEntry } from "../snapshots/to-log-entry.ts";
import type { PreviewAccess, Written } from "./preview.ts";
import {
  type PreviewCall,
  type PreviewSnapshot,
  type SeenPreview,
  budgetMs,
  describePreviews,
} from "./preview-snapshot.ts";

interface PreviewOptions {
  readonly database: Database;
  readonly snapshots: Snapshots;
  readonly previewSnapshot: PreviewSnapshot;
}

export function createPreviewAccess({ database, snapshots, previewSnapshot }: PreviewOptions): PreviewAccess {
  const preview = async (call: PreviewCall, written: readonly Written[]): Promise<AccessPreview> => {
    const endMs = performance.now() + budgetMs;
    const previews: SeenPreview[] = [];
    for (const [orgId, lines] of Map.groupBy(written, ({ org }) => org.id)) {
      previews.push(await previewOrg(call, orgId, lines, endMs));
    }
    return describePreviews(database, previews);
  };

  const previewOrg = async (
    call: PreviewCall,
    orgId: string,
    lines: readonly Written[],
    endMs: number,
  ): Promise<SeenPreview> => {
    const { revision } = required(lines[0]).org;
    // The write holds the org's lock, so this is the head until it ends.
    const snapshot = await snapshots.at(orgId, { revision, readAt: performance.now() });
    const changes = lines.map(({ change: { type, id, before, after } }) =>
      toLogEntry({ resource_type: type, resource_id: id, before, after }),
    );
    return previewSnapshot(call, snapshot, { revision, changes, endMs });
  };

  const readNow = async (orgId: string): Promise<void> => {
    await snapshots.at(orgId, { revision: "", readAt: performance.now() });
  };

  return async (caller, signal, write) => {
    signal.throwIfAborted();
    const call = { caller, signal };
    let missing: readonly string[] = [];
    const told = await write(async (written) => {
      const orgIds = [...new Set(written.map(({ org }) => org.id))];
      missing = orgIds.filter((orgId) => snapshots.held(orgId) === undefined);
      return missing.length > 0 ? undefined : preview(call, written);
    });
    if (told !== undefined) return told;
    for (const orgId of missing) await readNow(orgId);
    return required(await write((written) => preview(call, written)));
  };
}

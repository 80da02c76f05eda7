import { create } from "@bufbuild/protobuf";
import {
  type AccessPreview,
  AccessChangeSchema,
  AccessPreviewSchema,
} from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { AccessDifference, Preview } from "../engine/decisions/preview-changes.ts";

/** The effect of a change on access in one org. */
export interface OrgPreview extends Preview {
  readonly differences: readonly NamedDifference[];
  /** Whether the caller may not see who may do what on the org as a whole. */
  readonly isTrimmed: boolean;
}

/** What a preview shows of the changes. */
export interface Shown {
  readonly differences: readonly NamedDifference[];
  readonly apiKeyPaths: readonly string[];
}

export interface NamedDifference extends AccessDifference {
  readonly orgId: string;
  readonly memberPath: string;
  readonly resourcePath: string;
}

export function firstDifferences(previews: readonly OrgPreview[], limit: number): readonly NamedDifference[] {
  return previews
    .flatMap((preview) => preview.differences)
    .toSorted((one, other) => compare(one.memberId, other.memberId) || compare(one.resourcePath, other.resourcePath))
    .slice(0, limit);
}

export function toAccessPreview(previews: readonly OrgPreview[], { differences, apiKeyPaths }: Shown): AccessPreview {
  return create(AccessPreviewSchema, {
    gainingMemberCount: sumOf(previews, ({ gainingMembers }) => gainingMembers),
    losingMemberCount: sumOf(previews, ({ losingMembers }) => losingMembers),
    changeCount: sumOf(previews, ({ count }) => count),
    changes: differences.map(({ memberPath, resourcePath, gained, lost, isConditional }) =>
      create(AccessChangeSchema, {
        memberPath,
        resourcePath,
        gainedPermissions: [...gained],
        lostPermissions: [...lost],
        conditional: isConditional,
      }),
    ),
    partial: previews.some(({ isWhole }) => !isWhole),
    trimmed: previews.some(({ isTrimmed }) => isTrimmed),
    apiKeyPaths: [...apiKeyPaths],
  });
}

function sumOf(previews: readonly OrgPreview[], read: (preview: OrgPreview) => number): number {
  return previews.reduce((sum, preview) => sum + read(preview), 0);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

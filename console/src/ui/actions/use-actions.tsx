import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { AccessPreview } from "../../../../gen/iam/v1alpha/access_preview_pb.ts";
import { useState } from "react";
import { texts } from "../../texts/texts.ts";
import { type Change, type Changeable, ChangeDialog } from "../change-dialog.tsx";
import { RemovalDialog } from "../removal-dialog.tsx";
import type { StateAction, Versioned } from "./state-action.ts";
import { type Actions, useStateActions } from "./use-state-actions.tsx";

/** What can be done with resources of a kind: they are changed, their states too, and they are deleted. */
export interface ActionsOfKind<Resource extends Changeable> {
  readonly schema: GenMessage<Resource>;
  /** What permissions begin with, such as `iam.projects`. */
  readonly kind: string;
  /** What is said before one is deleted. */
  readonly intro: string;
  readonly isDeleted: (resource: Resource) => boolean;
  readonly states: readonly StateAction<Resource>[];
  readonly change: (change: Change<Resource>) => Promise<unknown>;
  readonly remove: (deleted: Versioned) => Promise<unknown>;
  /** Asks what the deletion would do to access, which is then shown first. */
  readonly preview?: (deleted: Versioned) => Promise<AccessPreview | undefined>;
}

/** What leads on from a screen of one of them, with the path of what it was done to. */
interface Leads {
  readonly onDeleted?: (path: string) => Promise<unknown>;
  readonly onState?: (path: string) => Promise<unknown>;
}

/** Returns the permissions to change and delete resources of a kind, and those of other verbs. */
export const permissionsFor = (kind: string, ...verbs: readonly string[]): string[] =>
  ["update", "delete", ...verbs].map((verb) => `${kind}.${verb}`);

/** Offers what can be done with resources of a kind now, and asks before it is done. */
export function useActions<Resource extends Changeable>(
  { schema, kind, intro, isDeleted, states, change, remove, preview }: ActionsOfKind<Resource>,
  { onDeleted, onState }: Leads = {},
): Actions<Resource> {
  const ofStates = useStateActions(states, onState);
  // The resources as they were when somebody asked for that.
  const [changed, setChanged] = useState<Resource>();
  const [deleted, setDeleted] = useState<Resource>();
  const etag = deleted?.etag ?? "";
  const [mayChange = "", mayDelete = ""] = permissionsFor(kind);
  return {
    of: (resource) =>
      isDeleted(resource)
        ? ofStates.of(resource)
        : [
            ...ofStates.of(resource),
            { act: texts.change, permission: mayChange, kind: "plain", ask: () => setChanged(resource) },
            { act: texts.delete, permission: mayDelete, kind: "danger", ask: () => setDeleted(resource) },
          ],
    dialogs: (
      <>
        {ofStates.dialogs}
        <ChangeDialog schema={schema} of={changed} onClose={() => setChanged(undefined)} onChange={change} />
        <RemovalDialog
          words={texts.delete}
          intro={intro}
          removed={deleted}
          onClose={() => setDeleted(undefined)}
          {...(preview && { onPreview: (path) => preview({ path, etag }) })}
          onRemove={async (path) => {
            await remove({ path, etag });
            await onDeleted?.(path);
          }}
        />
      </>
    ),
  };
}

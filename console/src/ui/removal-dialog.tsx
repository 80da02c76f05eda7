import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import { texts } from "../texts/texts.ts";
import { FormDialog } from "./form-dialog.tsx";
import { Said } from "./said.tsx";

interface Removable {
  readonly path: string;
  readonly name: string;
  /** Empty for one that people call by its name. */
  readonly displayName: string;
}

interface RemovalDialogProps {
  /** What is done, such as "Delete". */
  readonly words: string;
  /** What is said when it is done, such as "Removed"; "Deleted" if it is left out. */
  readonly said?: string;
  readonly intro?: string;
  /** What is to be removed, as it was when somebody asked for that; undefined while nobody does. */
  readonly removed: Removable | undefined;
  readonly onClose: () => void;
  readonly onRemove: (path: string) => Promise<unknown>;
  /** Asks what the removal would do to access, which is then shown first. */
  readonly onPreview?: (path: string) => Promise<AccessPreview | undefined>;
}

/** Removes something after a question that names it. */
export function RemovalDialog({
  words,
  said = texts.done.deleted,
  intro,
  removed,
  onClose,
  onRemove,
  onPreview,
}: RemovalDialogProps) {
  const { path = "", name = "", displayName = "" } = removed ?? {};
  return (
    <FormDialog
      title={
        <>
          {words} <bdi>{displayName || name}</bdi>?
        </>
      }
      intro={intro}
      submit={words}
      kind="danger"
      open={removed !== undefined}
      onClose={onClose}
      onSubmit={() => onRemove(path)}
      done={<Said what={said} name={displayName || name} />}
      {...(onPreview && { onPreview: () => onPreview(path) })}
    />
  );
}

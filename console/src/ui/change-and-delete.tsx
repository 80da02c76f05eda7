import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { useNavigate } from "@tanstack/react-router";
import type { AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Permissions } from "../calls/use-permissions.ts";
import { texts } from "../texts/texts.ts";
import { type Change, type Changeable, ChangeDialog } from "./change-dialog.tsx";
import { GuardedButton } from "./guarded-button.tsx";
import { RemovalDialog } from "./removal-dialog.tsx";
import { useAsked } from "./use-asked.ts";

/** What is deleted, unless somebody has changed it meanwhile. */
interface Deleted {
  readonly path: string;
  readonly etag: string;
}

interface ChangeAndDeleteProps<Resource extends Changeable> {
  readonly schema: GenMessage<Resource>;
  readonly of: Resource;
  readonly permissions: Permissions;
  /** What its permissions begin with, such as `iam.projects`. */
  readonly kind: string;
  /** What is said before it is deleted. */
  readonly intro: string;
  readonly onChange: (change: Change<Resource>) => Promise<unknown>;
  readonly onDelete: (deleted: Deleted) => Promise<unknown>;
  /** Asks what the deletion would do to access, which is then shown first. */
  readonly onPreview?: (deleted: Deleted) => Promise<AccessPreview | undefined>;
}

/** The permissions that the buttons need. */
export const changeAndDelete = (kind: string): string[] => [`${kind}.update`, `${kind}.delete`];

/** The buttons that rename or describe what a screen shows, and delete it, which leads to the list that it was in. */
export function ChangeAndDelete<Resource extends Changeable>(props: ChangeAndDeleteProps<Resource>) {
  const { schema, of, permissions, kind, intro, onChange, onDelete, onPreview } = props;
  const navigate = useNavigate();
  const { ask, askedFor, close } = useAsked<"change" | "delete", Resource>(of);
  const deleted = askedFor("delete");
  const etag = deleted?.etag ?? "";
  const [mayChange = "", mayDelete = ""] = changeAndDelete(kind);
  return (
    <>
      <GuardedButton permissions={permissions} permission={mayChange} onClick={() => ask("change")}>
        {texts.change}
      </GuardedButton>
      <GuardedButton kind="danger" permissions={permissions} permission={mayDelete} onClick={() => ask("delete")}>
        {texts.delete}
      </GuardedButton>
      <ChangeDialog schema={schema} of={askedFor("change")} onClose={close} onChange={onChange} />
      <RemovalDialog
        words={texts.delete}
        intro={intro}
        removed={deleted}
        onClose={close}
        {...(onPreview && { onPreview: (path) => onPreview({ path, etag }) })}
        onRemove={async (path) => {
          await onDelete({ path, etag });
          await navigate({ to: path.slice(0, path.lastIndexOf("/")) });
        }}
      />
    </>
  );
}

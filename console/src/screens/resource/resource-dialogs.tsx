import { useMutation } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { type Resource, ResourceSchema, ResourcesService } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { RemovalDialog } from "../../ui/removal-dialog.tsx";
import { Said } from "../../ui/said.tsx";

interface ResourceDialogProps {
  /** As it was when somebody asked for that; undefined while nobody does. */
  readonly resource: Resource | undefined;
  readonly onClose: () => void;
}

/** Changes what people call a resource. */
export function ChangeResourceDialog({ resource, onClose }: ResourceDialogProps) {
  const update = useMutation(ResourcesService.method.updateResource);
  return (
    <ChangeDialog
      schema={ResourceSchema}
      of={resource}
      onClose={onClose}
      onChange={({ path, changed, updateMask }) => update.mutateAsync({ path, resource: changed, updateMask })}
    />
  );
}

/** Begins to delete a resource, and leads to the operation that does it. */
export function DeleteResourceDialog({
  resource,
  type,
  onClose,
}: ResourceDialogProps & { readonly type: ResourceType }) {
  const navigate = useNavigate();
  const remove = useMutation(ResourcesService.method.deleteResource);
  const canBeRestored = type.operations.some(({ verb }) => verb === "undelete");
  return (
    <RemovalDialog
      words={texts.delete}
      said={resourceTexts.deletionBegun}
      intro={`${resourceTexts.deleteIntro} ${canBeRestored ? resourceTexts.deleteUndone : resourceTexts.deleteForEver}`}
      removed={resource}
      onClose={onClose}
      onRemove={async (path) => {
        const operation = await remove.mutateAsync({ path, etag: resource?.etag ?? "" });
        await navigate({ to: operation.path });
      }}
    />
  );
}

/** Begins to restore a deleted resource, and leads to the operation that does it. */
export function UndeleteResourceDialog({ resource, onClose }: ResourceDialogProps) {
  const navigate = useNavigate();
  const undelete = useMutation(ResourcesService.method.undeleteResource);
  const { path = "", name = "", displayName = "", etag = "" } = resource ?? {};
  return (
    <FormDialog
      title={
        <>
          {resourceTexts.undelete} <bdi>{displayName || name}</bdi>?
        </>
      }
      intro={resourceTexts.undeleteIntro}
      submit={resourceTexts.undelete}
      done={<Said what={resourceTexts.restorationBegun} name={displayName || name} />}
      open={resource !== undefined}
      onClose={onClose}
      onSubmit={async () => {
        const operation = await undelete.mutateAsync({ path, etag });
        await navigate({ to: operation.path });
      }}
    />
  );
}

import { type Resource, Resource_State } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { permissionFor } from "../../calls/use-catalog.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { resourceTexts } from "../../texts/resource-texts.ts";
import { texts } from "../../texts/texts.ts";
import { GuardedButton } from "../../ui/guarded-button.tsx";

/** What a dialog asks about. */
export type ResourceAction = "change" | "delete" | "undelete";

interface ResourceActionsProps {
  readonly resource: Resource;
  readonly type: ResourceType;
  readonly permissions: Permissions;
  readonly onAsk: (action: ResourceAction) => void;
}

/** What can be done with a resource now. While an operation changes it, it is neither deleted nor restored. */
export function ResourceActions({ resource, type, permissions, onAsk }: ResourceActionsProps) {
  const isIdle = resource.operationPath === "";
  const isDeleted = resource.state === Resource_State.DELETED;
  const canBe = (verb: string): boolean => isIdle && type.operations.some((each) => each.verb === verb);
  return (
    <>
      {isDeleted ? null : (
        <GuardedButton
          permissions={permissions}
          permission={permissionFor(type, "update")}
          onClick={() => onAsk("change")}
        >
          {texts.change}
        </GuardedButton>
      )}
      {!isDeleted && canBe("delete") ? (
        <GuardedButton
          kind="danger"
          permissions={permissions}
          permission={permissionFor(type, "delete")}
          onClick={() => onAsk("delete")}
        >
          {texts.delete}
        </GuardedButton>
      ) : null}
      {isDeleted && canBe("undelete") ? (
        <GuardedButton
          permissions={permissions}
          permission={permissionFor(type, "undelete")}
          onClick={() => onAsk("undelete")}
        >
          {resourceTexts.undelete}
        </GuardedButton>
      ) : null}
    </>
  );
}

import { useQuery } from "@connectrpc/connect-query";
import { OperationsService } from "../../../../gen/resources/v1alpha/operation_pb.ts";
import { type Resource, Resource_State } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { OperationType, ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { permissionFor } from "../../calls/use-catalog.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import { operationTexts, resourceTexts } from "../../texts/resource-texts.ts";
import { sentence } from "../../texts/sentence.ts";
import { texts } from "../../texts/texts.ts";
import { typeInWords } from "../../texts/type-in-words.ts";
import { ButtonMenu } from "../../ui/button-menu.tsx";
import { GuardedButton } from "../../ui/guarded-button.tsx";

/** What a dialog asks about. */
export type ResourceAction = "change" | "delete" | "undelete" | `run ${string}`;

/** What says which operation changes a resource. */
export const readOperations = "resources.operations.get";

/** Operations that have methods or times of their own. */
const special = new Set(["create", "delete", "undelete", "purge", "suspend", "resume"]);

/** Returns the operations that a type defines besides those that every type can have, such as `resize`. */
export const ownOperations = ({ operations }: ResourceType): readonly OperationType[] =>
  operations.filter(({ verb }) => !special.has(verb));

/** More operations are in a menu. */
const mostButtons = 3;

interface ResourceActionsProps {
  readonly resource: Resource;
  readonly type: ResourceType;
  readonly permissions: Permissions;
  readonly onAsk: (action: ResourceAction) => void;
}

/** What can be done with a resource now. While an operation changes it, only what runs beside that can be begun. */
export function ResourceActions({ resource, type, permissions, onAsk }: ResourceActionsProps) {
  const isIdle = resource.operationPath === "";
  const isDeleted = resource.state === Resource_State.DELETED;
  const canBe = (verb: string): boolean => isIdle && type.operations.some((each) => each.verb === verb);
  const isBesideConcurrent = useIsBesideConcurrent({ resource, type, permissions });
  const runnable = ownOperations(type).filter(({ concurrent }) => isIdle || (concurrent && isBesideConcurrent));
  return (
    <>
      {isDeleted ? null : <RunButtons operations={runnable} type={type} permissions={permissions} onAsk={onAsk} />}
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
      {isDeleted && canBe("purge") ? (
        <GuardedButton
          kind="danger"
          permissions={permissions}
          permission={permissionFor(type, "purge")}
          onClick={() => onAsk("run purge")}
        >
          {resourceTexts.purge}
        </GuardedButton>
      ) : null}
    </>
  );
}

interface RunButtonsProps extends Omit<ResourceActionsProps, "resource"> {
  readonly operations: readonly OperationType[];
}

/** Begins operations: a button for each, or a menu where there are many. */
function RunButtons({ operations, type, permissions, onAsk }: RunButtonsProps) {
  const buttons = (close: () => void) =>
    operations.map(({ verb }) => (
      <GuardedButton
        key={verb}
        permissions={permissions}
        permission={permissionFor(type, verb)}
        onClick={() => {
          close();
          onAsk(`run ${verb}`);
        }}
      >
        {sentence(typeInWords(verb))}
      </GuardedButton>
    ));
  if (operations.length <= mostButtons) return buttons(() => {});
  return <ButtonMenu label={operationTexts.title}>{buttons}</ButtonMenu>;
}

/** Whether what changes the resource now is an operation beside which other concurrent ones can run. */
function useIsBesideConcurrent({ resource, type, permissions }: Omit<ResourceActionsProps, "onAsk">): boolean {
  const { operationPath: path } = resource;
  const concurrent = type.operations.filter((each) => each.concurrent).map(({ verb }) => verb);
  const enabled = path !== "" && concurrent.length > 0 && permissions.may(readOperations) === true;
  const first = useQuery(OperationsService.method.getOperation, { path }, { enabled, retry: false }).data;
  return first !== undefined && first.path === path && concurrent.includes(first.verb);
}

import { useState } from "react";
import { type Resource, Resource_State } from "../../../../gen/resources/v1alpha/resource_pb.ts";
import type { ResourceType } from "../../../../gen/resources/v1alpha/resource_type_pb.ts";
import { permissionFor } from "../../calls/use-catalog.ts";
import { lifecycleTexts } from "../../texts/lifecycle-texts.ts";
import { texts } from "../../texts/texts.ts";
import type { RowAction } from "../../ui/actions/row-action.ts";
import type { Actions } from "../../ui/actions/use-state-actions.tsx";
import { ChangeResourceDialog, DeleteResourceDialog, UndeleteResourceDialog } from "../resource/resource-dialogs.tsx";

type Act = "change" | "delete" | "undelete";

interface Asked {
  readonly act: Act;
  readonly resource: Resource;
  readonly type: ResourceType;
}

/**
 * Offers what can be done with resources of all types: they are renamed, deleted and restored. What their types define by themselves is on
 * their screens.
 */
export function useResourceActions(types: readonly ResourceType[]): Actions<Resource> {
  // The resource as it was when somebody asked for that.
  const [asked, setAsked] = useState<Asked>();
  const askedFor = (act: Act): Resource | undefined => (asked?.act === act ? asked.resource : undefined);
  const close = (): void => setAsked(undefined);
  return {
    of(resource) {
      const type = types.find(({ path }) => path === resource.typePath);
      if (type === undefined) return [];
      const action = (act: Act, verb: Act | "update", words: string, kind: RowAction["kind"] = "plain"): RowAction => ({
        act: words,
        permission: permissionFor(type, verb),
        kind,
        ask: () => setAsked({ act, resource, type }),
      });
      // What an operation changes now cannot be deleted or restored meanwhile.
      const canBe = (verb: Act): boolean =>
        resource.operationPath === "" && type.operations.some((each) => each.verb === verb);
      if (resource.state === Resource_State.DELETED)
        return canBe("undelete") ? [action("undelete", "undelete", lifecycleTexts.restore)] : [];
      const change = action("change", "update", texts.change);
      return canBe("delete") ? [change, action("delete", "delete", texts.delete, "danger")] : [change];
    },
    dialogs: (
      <>
        <ChangeResourceDialog resource={askedFor("change")} onClose={close} />
        {asked === undefined ? null : (
          <DeleteResourceDialog resource={askedFor("delete")} type={asked.type} onClose={close} />
        )}
        <UndeleteResourceDialog resource={askedFor("undelete")} onClose={close} />
      </>
    ),
  };
}

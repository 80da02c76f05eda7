import { FormDialog } from "../form-dialog.tsx";
import { Said } from "../said.tsx";
import type { StateAction, Versioned } from "./state-action.ts";

interface StateDialogProps<Resource> {
  readonly action: StateAction<Resource>;
  /** As it was when somebody asked for the action; undefined while nobody does. */
  readonly of: (Versioned & { readonly name: string; readonly displayName: string }) | undefined;
  readonly onClose: () => void;
  /** Called with the path that it has then. */
  readonly onDone?: ((path: string) => Promise<unknown>) | undefined;
}

/** Asks whether to change the state of something, and does it. */
export function StateDialog<Resource>({ action, of, onClose, onDone }: StateDialogProps<Resource>) {
  const { act, intro, done, kind, run } = action;
  const { path = "", etag = "", name = "", displayName = "" } = of ?? {};
  return (
    <FormDialog
      title={
        <>
          {act} <bdi>{displayName || name}</bdi>?
        </>
      }
      intro={intro}
      submit={act}
      kind={kind === "danger" ? "danger" : "primary"}
      done={<Said what={done} name={displayName || name} />}
      open={of !== undefined}
      onClose={onClose}
      onSubmit={async () => {
        const answer = await run({ path, etag });
        await onDone?.(answer.path);
      }}
    />
  );
}

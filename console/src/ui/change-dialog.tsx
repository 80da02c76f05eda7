import type { Message, MessageInitShape } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { ReactNode } from "react";
import { changedFields } from "../calls/changed-fields.ts";
import { labelTexts } from "../texts/label-texts.ts";
import { texts } from "../texts/texts.ts";
import { FormDialog } from "./form-dialog.tsx";
import { labelsOf, readLabels, writeLabels } from "./labels.ts";
import { Said } from "./said.tsx";
import { TextAreaField, TextField, valueOf } from "./text-field.tsx";

/** What people can rename and describe. Most have labels, too. */
export type Changeable = Message & {
  readonly path: string;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly etag: string;
};

/** What an update sends. */
export interface Change<Resource extends Changeable> {
  readonly path: string;
  readonly changed: MessageInitShape<GenMessage<Resource>>;
  readonly updateMask: { readonly paths: string[] };
}

interface ChangeDialogProps<Resource extends Changeable> {
  readonly schema: GenMessage<Resource>;
  /** As it was when somebody asked to change it; undefined while nobody does. */
  readonly of: Resource | undefined;
  readonly intro?: ReactNode;
  /** The names of the other fields that the form has, as in the API. */
  readonly fields?: readonly string[];
  /** Returns what somebody has put into them. */
  readonly read?: (form: FormData) => object;
  readonly onClose: () => void;
  /** Makes the call, which changes only what somebody has changed. */
  readonly onChange: (change: Change<Resource>) => Promise<unknown>;
  /** The other fields. */
  readonly children?: ReactNode;
}

/** Changes the display name, the description, labels and other fields of a resource, unless somebody else has changed it meanwhile. */
export function ChangeDialog<Resource extends Changeable>(props: ChangeDialogProps<Resource>) {
  const { schema, of, intro, fields = [], read, onClose, onChange, children } = props;
  const { path = "", name = "", displayName = "", description = "", etag = "" } = of ?? {};
  const labels = of && labelsOf(of);
  const shown = ["display_name", "description", ...(labels ? ["labels"] : []), ...fields];
  const submit = async (form: FormData): Promise<void> => {
    const described = { displayName: valueOf(form, "display_name"), description: valueOf(form, "description"), etag };
    const labelled = labels && { labels: readLabels(valueOf(form, "labels")) };
    const changed = { ...described, ...labelled, ...read?.(form) } as MessageInitShape<GenMessage<Resource>>;
    const paths = of === undefined ? [] : changedFields(schema, of, changed, shown);
    if (paths.length > 0) await onChange({ path, changed, updateMask: { paths } });
  };
  return (
    <FormDialog
      title={
        <>
          {texts.change} <bdi>{displayName || name}</bdi>
        </>
      }
      intro={intro}
      submit={texts.save}
      done={<Said what={texts.done.saved} name={displayName || name} />}
      fields={shown}
      open={of !== undefined}
      onClose={onClose}
      onSubmit={submit}
    >
      {children}
      <TextField
        name="display_name"
        label={texts.fields.displayName}
        hint={texts.fields.displayNameHint}
        defaultValue={displayName}
      />
      <TextAreaField name="description" label={texts.fields.description} defaultValue={description} />
      {labels === undefined ? null : (
        <TextAreaField
          name="labels"
          label={labelTexts.title}
          hint={labelTexts.hint}
          defaultValue={writeLabels(labels)}
          code
        />
      )}
    </FormDialog>
  );
}

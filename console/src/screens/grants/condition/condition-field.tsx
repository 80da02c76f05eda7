import { lazy, Suspense, useState } from "react";
import { texts } from "../../../texts/texts.ts";
import { Loading } from "../../../ui/notes.tsx";
import { TextAreaField } from "../../../ui/text-field.tsx";

/** Loaded when somebody grants a role, with a parser of CEL. */
const ConditionRows = lazy(async () => ({ default: (await import("./condition-rows.tsx")).ConditionRows }));

/** A condition, built from comparisons and as a text: what is changed in one changes the other. */
export function ConditionField({ on }: { readonly on: string }) {
  const [text, setText] = useState("");
  return (
    <>
      <Suspense fallback={<Loading />}>
        <ConditionRows text={text} on={on} onText={setText} />
      </Suspense>
      <TextAreaField
        name="condition"
        label={texts.columns.condition}
        hint={texts.grants.conditionHint}
        value={text}
        onValueChange={setText}
        rows={2}
        code
      />
    </>
  );
}

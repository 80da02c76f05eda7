import { secretTexts } from "../texts/secret-texts.ts";
import { SelectField, valueOf } from "./text-field.tsx";

/** What the service takes if nothing else is said, in seconds: a day. */
const usualOverlap = "86400";

/** For how long a secret is accepted after it was replaced. */
export function OverlapField() {
  return (
    <SelectField
      name="overlap"
      label={secretTexts.overlap}
      choices={secretTexts.overlaps}
      defaultValue={usualOverlap}
    />
  );
}

/** Returns what was chosen in `OverlapField`, as a duration. */
export const readOverlap = (form: FormData) => ({ seconds: BigInt(valueOf(form, "overlap")) });

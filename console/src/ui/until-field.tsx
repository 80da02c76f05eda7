import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useState } from "react";
import { untilTexts } from "../texts/until-texts.ts";
import { Button } from "./button.tsx";
import { TextField, valueOf } from "./text-field.tsx";
import { endings, type Ending, toLocalInput } from "./endings.ts";

const fieldName = "expire_time";

/** A field for when something ends, with the ends that are usual. */
export function UntilField({ hint }: { readonly hint: string }) {
  const [value, setValue] = useState("");
  return (
    <div>
      <TextField
        name={fieldName}
        label={untilTexts.until}
        hint={hint}
        type="datetime-local"
        value={value}
        onValueChange={setValue}
      />
      <div className="usual" role="group" aria-label={untilTexts.usual}>
        {(Object.keys(endings) as Ending[]).map((ending) => (
          <Button key={ending} kind="quiet" onClick={() => setValue(toLocalInput(endings[ending](new Date())))}>
            {untilTexts.endings[ending]}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Returns what somebody has put into an `UntilField`, for a request; nothing for no end. */
export function readUntil(form: FormData) {
  const end = valueOf(form, fieldName);
  return end === "" ? {} : { expireTime: timestampFromDate(new Date(end)) };
}

import {
  type EventStream,
  EventStream_SubjectFormat,
  EventStream_SubjectFormatSchema,
} from "../../../../gen/iam/v1alpha/event_stream_pb.ts";
import { streamTexts } from "../../texts/stream-texts.ts";
import { nameIn } from "../../texts/enum-words.ts";
import { choicesOf, chosenIn } from "../../ui/enum-choices.ts";
import { SelectField, TextField, valueOf } from "../../ui/text-field.tsx";

/** The names of the fields that `StreamFields` shows, as in the API. */
export const streamFields = ["audience", "push_url", "push_authorization", "event_types", "subject_format"] as const;

/** Returns what somebody has typed and chosen in `StreamFields`. */
export const readStreamFields = (form: FormData) => ({
  audience: valueOf(form, "audience"),
  pushUrl: valueOf(form, "push_url"),
  pushAuthorization: valueOf(form, "push_authorization"),
  eventTypes: form.getAll("event_types").filter((type) => typeof type === "string"),
  subjectFormat: chosenIn(form, "subject_format", EventStream_SubjectFormat),
});

/** Who is told what, and how. Without a URL, the receiver polls. */
export function StreamFields({ stream }: { readonly stream?: EventStream | undefined }) {
  const { audience = "", pushUrl = "", subjectFormat = EventStream_SubjectFormat.ISS_SUB } = stream ?? {};
  return (
    <>
      <TextField
        name="audience"
        label={streamTexts.audience}
        hint={streamTexts.audienceHint}
        defaultValue={audience}
        spellCheck={false}
      />
      <TextField
        name="push_url"
        label={streamTexts.pushUrl}
        hint={streamTexts.pushUrlHint}
        defaultValue={pushUrl}
        spellCheck={false}
      />
      <TextField
        name="push_authorization"
        label={streamTexts.authorization}
        hint={
          stream === undefined
            ? streamTexts.authorizationHint
            : `${streamTexts.authorizationHint} ${streamTexts.authorizationKept}`
        }
        type="password"
      />
      <EventTypes chosen={stream?.eventTypes ?? []} />
      <SelectField
        name="subject_format"
        label={streamTexts.subjects}
        choices={choicesOf(streamTexts.subjectFormats)}
        defaultValue={nameIn(EventStream_SubjectFormatSchema, subjectFormat)}
      />
    </>
  );
}

function EventTypes({ chosen }: { readonly chosen: readonly string[] }) {
  // A type that the console does not know stays chosen.
  const types = new Set([...Object.keys(streamTexts.eventTypeWords), ...chosen]);
  return (
    <fieldset className="choices column">
      <legend className="label">{streamTexts.eventTypes}</legend>
      {[...types].map((type) => (
        <label key={type} title={type}>
          <input type="checkbox" name="event_types" value={type} defaultChecked={chosen.includes(type)} />
          {streamTexts.eventTypeWords[type] ?? type}
        </label>
      ))}
      <span className="hint">{streamTexts.eventTypesHint}</span>
    </fieldset>
  );
}

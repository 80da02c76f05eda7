import type { JsonObject } from "@bufbuild/protobuf";
import type { Change } from "../../../../gen/iam/v1alpha/change_pb.ts";
import { texts } from "../../texts/texts.ts";

/** Fields that differ in each change, and say nothing. */
const dull = new Set(["etag", "update_time", "create_time", "id", "path"]);

export interface Difference {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const written = (value: unknown): string | undefined =>
  value === undefined || value === "" ? undefined : typeof value === "string" ? value : JSON.stringify(value);

/** Returns what is different: the changed fields, or all that something had when it came or went. */
function differencesOf({ before, after, changedFields }: Change): readonly Difference[] {
  const whole: JsonObject = after ?? before ?? {};
  const fields = changedFields.length > 0 ? changedFields : Object.keys(whole).filter((field) => !dull.has(field));
  const all = fields.map((field) => ({ field, before: written(before?.[field]), after: written(after?.[field]) }));
  return all.filter((difference) => difference.before !== difference.after);
}

/** Fields with what they were and are, in a list of facts. */
export function DifferentFields({ differences }: { readonly differences: readonly Difference[] }) {
  return differences.map(({ field, before, after }) => (
    <div key={field}>
      <dt>{field}</dt>
      <dd>
        {before === undefined ? null : (
          <del>
            <bdi>{before}</bdi>
          </del>
        )}{" "}
        {after === undefined ? null : (
          <ins>
            <bdi>{after}</bdi>
          </ins>
        )}
      </dd>
    </div>
  ));
}

/** What was different before and after a change. */
export function Differences({ change }: { readonly change: Change }) {
  const differences = differencesOf(change);
  const withheld = change.withheldFields.length > 0;
  if (differences.length === 0 && !withheld) return null;
  return (
    <details className="differences">
      <summary>{texts.changes.differences}</summary>
      <dl className="facts">
        <DifferentFields differences={differences} />
        <div>
          <dt>{texts.changes.method}</dt>
          <dd>
            <code>{change.method}</code>
          </dd>
        </div>
      </dl>
      {withheld ? <p className="quiet-text">{texts.changes.withheld}</p> : null}
    </details>
  );
}

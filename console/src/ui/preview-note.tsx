import { useEffect, useRef } from "react";
import type { AccessChange, AccessPreview } from "../../../gen/iam/v1alpha/access_preview_pb.ts";
import { useDisplayNames } from "../calls/use-display-names.ts";
import { texts } from "../texts/texts.ts";

interface PreviewNoteProps {
  readonly preview: AccessPreview | undefined;
  readonly title?: string;
  /** What else has to be known of it. */
  readonly hint?: string;
}

/** Who would gain and lose what by a change that is not made yet. */
export function PreviewNote({ preview, title = texts.preview.title, hint }: PreviewNoteProps) {
  const note = useRef<HTMLElement>(null);
  // It may be below what the dialog shows. What it returns, in some browsers a promise, is no clean-up.
  useEffect(() => {
    note.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const changes = preview?.changes ?? [];
  const nameOf = useDisplayNames(changes.flatMap(({ memberPath, resourcePath }) => [memberPath, resourcePath]));
  const { gainingMemberCount = 0, losingMemberCount = 0, changeCount = 0, apiKeyPaths = [] } = preview ?? {};
  return (
    <section ref={note} className="preview" role="status" aria-label={title}>
      <h3>
        <bdi>{title}</bdi>
      </h3>
      <p>
        {changeCount === 0 ? texts.preview.nothing : texts.preview.counts(gainingMemberCount, losingMemberCount)}
        {preview?.partial === true ? ` ${texts.preview.partial}` : ""}
        {preview?.trimmed === true ? ` ${texts.preview.trimmed}` : ""}
      </p>
      {hint === undefined || changeCount === 0 ? null : <p className="quiet-text">{hint}</p>}
      {apiKeyPaths.length === 0 ? null : <p>{texts.preview.keys(apiKeyPaths.length)}</p>}
      <ul>
        {changes.map((change) => (
          <li key={`${change.memberPath} ${change.resourcePath}`}>
            <ChangeOfOne change={change} member={nameOf(change.memberPath)} resource={nameOf(change.resourcePath)} />
          </li>
        ))}
      </ul>
      {changeCount > changes.length ? <p>{texts.preview.more(changeCount - changes.length)}</p> : null}
    </section>
  );
}

interface ChangeOfOneProps {
  readonly change: AccessChange;
  readonly member: string;
  readonly resource: string;
}

function ChangeOfOne({ change, member, resource }: ChangeOfOneProps) {
  const { gainedPermissions, lostPermissions, conditional } = change;
  return (
    <details>
      <summary>
        <bdi>{member}</bdi> <span className="quiet-text">{texts.why.onThe}</span> <bdi>{resource}</bdi>{" "}
        {gainedPermissions.length === 0 ? null : <span className="gain">+{gainedPermissions.length}</span>}{" "}
        {lostPermissions.length === 0 ? null : <span className="loss">−{lostPermissions.length}</span>}
        {conditional ? <span className="quiet-text"> {texts.preview.conditional}</span> : null}
      </summary>
      {gainedPermissions.length === 0 ? null : (
        <p>
          {texts.preview.gains} <code>{gainedPermissions.join(" ")}</code>
        </p>
      )}
      {lostPermissions.length === 0 ? null : (
        <p>
          {texts.preview.loses} <code>{lostPermissions.join(" ")}</code>
        </p>
      )}
    </details>
  );
}

import type { Lack } from "../calls/lack.ts";
import { useDisplayNames } from "../calls/use-display-names.ts";
import { lackTexts } from "../texts/lack-texts.ts";
import { texts } from "../texts/texts.ts";
import { PathLink, PathLinks } from "./path-link.tsx";

interface LackTextProps {
  readonly of: Lack;
  /** What the service says, for whoever looks for exactly that. */
  readonly message: string;
}

/** Who lacks what, on what, and who can help. */
export function LackText({ of: { permission, on, isSuspended, role, granters }, message }: LackTextProps) {
  const nameOf = useDisplayNames(on === undefined ? [] : [on]);
  return (
    <>
      <p>
        {lackTexts.need} <code translate="no">{permission}</code>
        {on === undefined ? null : (
          <>
            {" "}
            {lackTexts.on} {on === "" ? lackTexts.platform : <PathLink path={on} name={nameOf(on)} />}
          </>
        )}
        .{isSuspended ? ` ${lackTexts.suspended}` : ""}
      </p>
      {role === undefined ? null : (
        <p>
          {texts.refused.role} <PathLinks paths={[role]} />.
        </p>
      )}
      <p>
        {granters.length === 0 ? (
          texts.refused.unknown
        ) : (
          <>
            {texts.refused.helper} <PathLinks paths={granters} />.
          </>
        )}
      </p>
      <details className="quiet-text">
        <summary>{lackTexts.exactly}</summary>
        <p>
          <bdi>{message}</bdi>
        </p>
      </details>
    </>
  );
}

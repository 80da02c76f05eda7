import { texts } from "../../texts/texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { FoundPaths } from "./found-paths.tsx";
import type { Answers } from "./use-answers.ts";

interface WhatMayProps {
  readonly of: Answers["resources"];
  readonly subject: string;
  readonly permission: string;
}

/** The projects on which somebody holds a permission. */
export function WhatMay({ of, subject, permission }: WhatMayProps) {
  return (
    <Section title={texts.why.where}>
      <Answered of={of}>
        {({ resourcePaths, nextPageToken }) => (
          <FoundPaths
            title={texts.why.where}
            kind={texts.kinds.project}
            none={texts.why.nowhere}
            paths={resourcePaths}
            nextPage={nextPageToken}
            ask={(resource) => ({ subject, permission, resource })}
          />
        )}
      </Answered>
    </Section>
  );
}

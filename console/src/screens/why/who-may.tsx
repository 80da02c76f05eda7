import { texts } from "../../texts/texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { FoundPaths } from "./found-paths.tsx";
import type { Answers } from "./use-answers.ts";

interface WhoMayProps {
  readonly of: Answers["subjects"];
  readonly permission: string;
  readonly resource: string;
}

/** Everybody who holds a permission on a resource. */
export function WhoMay({ of, permission, resource }: WhoMayProps) {
  return (
    <Section title={texts.why.who}>
      <Answered of={of}>
        {({ subjectPaths, nextPageToken }) => (
          <FoundPaths
            title={texts.why.who}
            kind={texts.kinds.member}
            none={nextPageToken === "" ? texts.why.nobody : texts.why.nobodyHere}
            paths={subjectPaths}
            nextPage={nextPageToken}
            ask={(subject) => ({ subject, permission, resource })}
          />
        )}
      </Answered>
    </Section>
  );
}

import {
  type ScimSource,
  ScimSource_SubjectSchema as SubjectSchema,
} from "../../../../gen/iam/v1alpha/scim_source_pb.ts";
import { orgOf } from "../../calls/paths.ts";
import { wordIn } from "../../texts/enum-words.ts";
import { scimTexts } from "../../texts/scim-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Fact, Facts } from "../../ui/facts.tsx";
import { PathFacts } from "../../ui/path-facts.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { SourceUrl } from "./source-url.tsx";

/** What a SCIM source is, and what its directory calls. */
export function SourceFacts({ source }: { readonly source: ScimSource }) {
  const { path, memberPath, identityProviderPath, subject, createTime } = source;
  return (
    <Facts>
      <Fact title={scimTexts.url}>
        <SourceUrl org={orgOf(path)} />
      </Fact>
      <Fact title={scimTexts.actsAs}>{memberPath === "" ? scimTexts.nobody : <PathLinks paths={[memberPath]} />}</Fact>
      <Fact title={scimTexts.provider}>
        {identityProviderPath === "" ? scimTexts.noProvider : <PathLinks paths={[identityProviderPath]} />}
      </Fact>
      {identityProviderPath === "" ? null : (
        <Fact title={scimTexts.subject}>{wordIn(scimTexts.subjects, SubjectSchema, subject)}</Fact>
      )}
      <PathFacts of={source} />
      <Fact title={texts.columns.created}>
        <Time at={createTime} />
      </Fact>
    </Facts>
  );
}

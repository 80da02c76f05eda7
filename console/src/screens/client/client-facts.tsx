import type { Client } from "../../../../gen/iam/v1alpha/client_pb.ts";
import { secretTexts } from "../../texts/secret-texts.ts";
import { clientTexts } from "../../texts/sign-in-texts.ts";
import { texts } from "../../texts/texts.ts";
import { CodeLine } from "../../ui/code-line.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { LabelsFact } from "../../ui/labels-fact.tsx";
import { Time } from "../../ui/time.tsx";
import { ClientId, Discovery } from "../clients/client-id.tsx";

/** What a client is, and what its application needs. */
export function ClientFacts({ client }: { readonly client: Client }) {
  const { path, confidential, redirectUris, scopes, previousSecretExpireTime, createTime } = client;
  return (
    <Facts>
      <Fact title={clientTexts.id}>
        <ClientId client={client} />
      </Fact>
      <Fact title={clientTexts.discovery}>
        <Discovery />
      </Fact>
      <Fact title={clientTexts.type}>{clientTexts.types[confidential ? "true" : "false"]}</Fact>
      <Fact title={clientTexts.redirectUris}>
        {redirectUris.map((uri) => (
          <CodeLine key={uri}>{uri}</CodeLine>
        ))}
      </Fact>
      <Fact title={clientTexts.scopes}>
        {scopes.length === 0 ? clientTexts.allScopes : scopes.map((scope) => <CodeLine key={scope}>{scope}</CodeLine>)}
      </Fact>
      {previousSecretExpireTime === undefined ? null : (
        <Fact title={secretTexts.previousEnds}>
          <Time at={previousSecretExpireTime} />
        </Fact>
      )}
      <Fact title={texts.columns.path}>
        <code>{path}</code>
      </Fact>
      <LabelsFact of={client} />
      <Fact title={texts.columns.created}>
        <Time at={createTime} />
      </Fact>
    </Facts>
  );
}

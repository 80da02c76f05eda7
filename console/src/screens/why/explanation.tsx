import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useSearch } from "@tanstack/react-router";
import type { ExplainAccessResponse } from "../../../../gen/iam/v1alpha/access_pb.ts";
import { asOfTexts } from "../../texts/moment-texts.ts";
import { texts } from "../../texts/texts.ts";
import { Answered } from "../../ui/notes.tsx";
import { Section } from "../../ui/page.tsx";
import { PathLinks } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { timeIn } from "../../calls/moment.ts";
import type { Asked } from "./asked.ts";
import { Chain } from "./chain.tsx";
import type { Answers } from "./use-answers.ts";

interface ExplanationProps {
  readonly of: Answers["explained"];
  readonly asked: Asked;
}

/** Why somebody may do something, or what it lacks. */
export function Explanation({ of, asked }: ExplanationProps) {
  const { subject, permission, resource } = asked;
  return (
    <Answered of={of}>
      {(data) => (
        <>
          <div className={data.allowed ? "verdict yes" : "verdict no"} role="status">
            <p className="verdict-word">{data.allowed ? texts.why.yes : texts.why.no}</p>
            <p>
              <PathLinks paths={[subject]} /> {data.allowed ? texts.why.may : texts.why.mayNot}{" "}
              <code>{permission}</code> {texts.why.onThe} <PathLinks paths={[resource]} />
              <Moment />
            </p>
          </div>
          {data.deniedBecause === "" ? null : <p className="note problem">{data.deniedBecause}</p>}
          <Reasons data={data} asked={asked} />
        </>
      )}
    </Answered>
  );
}

/** As of when the answer is, unless it is now. */
function Moment() {
  const { asOf } = useSearch({ from: "/orgs/$org/access" });
  if (asOf === undefined) return null;
  const time = timeIn(asOf);
  return (
    <>
      {" "}
      {asOfTexts.asOf} {time === undefined ? <code>{asOf}</code> : <Time at={timestampFromDate(time)} />}
    </>
  );
}

function Reasons({ data, asked }: { readonly data: ExplainAccessResponse; readonly asked: Asked }) {
  return (
    <>
      {data.grants.length === 0 ? null : (
        <Section title={texts.why.because}>
          {data.grants.map((grant) => (
            <Chain key={grant.roleBindingPath} grant={grant} asked={asked} />
          ))}
        </Section>
      )}
      {data.conditionalGrants.length === 0 ? null : (
        <Section title={texts.why.conditional}>
          {data.conditionalGrants.map((grant) => (
            <Chain key={grant.roleBindingPath} grant={grant} asked={asked} broken>
              <Condition text={grant.condition} falseParts={grant.falseParts} />
            </Chain>
          ))}
        </Section>
      )}
      {data.inactiveGrants.length === 0 ? null : (
        <Section title={texts.why.inactive}>
          {data.inactiveGrants.map((grant) => (
            <Chain key={grant.roleBindingPath} grant={grant} asked={asked} broken>
              <p>
                {grant.startTime === undefined ? texts.why.ended : texts.why.begins}{" "}
                <Time at={grant.startTime ?? grant.expireTime} />
              </p>
            </Chain>
          ))}
        </Section>
      )}
      <Missing data={data} />
    </>
  );
}

/** The condition of a grant, and which of its parts are not true. */
function Condition({ text, falseParts }: { readonly text: string; readonly falseParts: readonly string[] }) {
  if (text === "") return <p>{texts.why.conditionHidden}</p>;
  return (
    <>
      <p>{texts.why.condition}</p>
      <pre className="code">{text}</pre>
      {falseParts.length === 0 ? null : (
        <>
          <p>{texts.why.falseParts}</p>
          <ul className="lines">
            {falseParts.map((part) => (
              <li key={part}>
                <code>{part}</code>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** What would give the permission, and who can do that. */
function Missing({ data: { rolePaths, granterPaths } }: { readonly data: ExplainAccessResponse }) {
  if (rolePaths.length === 0) return null;
  return (
    <Section title={texts.why.lacks}>
      <dl className="facts">
        <dt>{texts.why.smallestRole}</dt>
        <dd>
          <PathLinks paths={rolePaths.slice(0, 1)} />
        </dd>
        {rolePaths.length < 2 ? null : (
          <>
            <dt>{texts.why.otherRoles}</dt>
            <dd>
              <PathLinks paths={rolePaths.slice(1)} />
            </dd>
          </>
        )}
        <dt>{texts.why.granters}</dt>
        <dd>{granterPaths.length === 0 ? texts.why.noGranters : <PathLinks paths={granterPaths} />}</dd>
      </dl>
    </Section>
  );
}

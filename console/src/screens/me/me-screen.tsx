import { useQuery } from "@connectrpc/connect-query";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type CallerCredential, MeService } from "../../../../gen/iam/v1alpha/me_pb.ts";
import { useConsole } from "../../app/console-context.ts";
import { applyTheme, storedTheme, themes } from "../../app/theme.ts";
import { useSession } from "../../app/use-session.ts";
import type { SessionMember } from "../../session/session-answer.ts";
import { nameOf } from "../../calls/paths.ts";
import { texts } from "../../texts/texts.ts";
import { Button } from "../../ui/button.tsx";
import { Answered, ErrorNote } from "../../ui/notes.tsx";
import { Page, Section } from "../../ui/page.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";

/** Who the console acts as and by what, and what concerns the person rather than an org. */
export function MeScreen() {
  const { session } = useConsole();
  const me = useSession();
  const caller = useQuery(MeService.method.getMe, {});
  const signOut = useMutation({ mutationFn: () => session.signOut() });
  return (
    <Page
      kind={texts.me.kind}
      title={me.displayName || nameOf(me.member)}
      actions={
        <Button disabled={signOut.isPending} onClick={() => signOut.mutate()}>
          {texts.me.signOut}
        </Button>
      }
    >
      {signOut.error === null ? null : <ErrorNote error={signOut.error} />}
      <Answered of={caller}>
        {({ credential }) => (
          <dl className="facts">
            <dt>{texts.kinds.org}</dt>
            <dd>
              <PathLink path={me.org.path} name={me.org.displayName || nameOf(me.org.path)} />
            </dd>
            <dt>{texts.kinds.member}</dt>
            <dd>
              <code>{me.member}</code>
            </dd>
            {credential === undefined ? null : <Credential credential={credential} />}
          </dl>
        )}
      </Answered>
      <Section title={texts.me.acting}>
        <ul className="lines">
          {(["sessions", "keys", "identities"] as const).map((tab) => (
            <li key={tab}>
              <Link to={me.member} search={{ tab }}>
                {texts.member.tabs[tab]}
              </Link>
            </li>
          ))}
          <li>
            <a href="/account">{texts.me.endAll}</a>
          </li>
        </ul>
      </Section>
      <OtherMembers />
      <ThemeChoice />
    </Page>
  );
}

function Credential({ credential }: { readonly credential: CallerCredential }) {
  return (
    <>
      <dt>{texts.me.by}</dt>
      <dd>{credential.clientId === "browser" ? texts.me.browser : <code>{credential.clientId}</code>}</dd>
      <dt>{texts.me.renewed}</dt>
      <dd>
        <Time at={credential.expireTime} none={texts.noEnd} />
      </dd>
    </>
  );
}

/** The other members that this browser is signed in as. */
function OtherMembers() {
  const { session } = useConsole();
  const me = useSession();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const others = me.members.filter(({ member }) => member !== me.member);
  if (others.length === 0 && me.choose === "") return null;
  const become = async (member: SessionMember): Promise<void> => {
    const { org } = await session.actAs(member);
    queryClient.clear();
    await navigate({ to: "/orgs/$org", params: { org: nameOf(org.path) } });
  };
  return (
    <Section title={texts.me.others}>
      <ul className="cards">
        {others.map((other) => (
          <li key={other.member} className="card">
            <strong>
              <bdi>{other.displayName || nameOf(other.member)}</bdi>
            </strong>
            <span className="quiet-text">
              <bdi>{other.org.displayName}</bdi>
            </span>
            <Button onClick={() => void become(other)}>{texts.me.actAs}</Button>
          </li>
        ))}
      </ul>
      {me.choose === "" ? null : <a href={`${me.choose}?return_to=/console/`}>{texts.me.choose}</a>}
    </Section>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme);
  return (
    <Section title={texts.me.theme}>
      <fieldset className="choices">
        <legend className="unseen">{texts.me.theme}</legend>
        {themes.map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name="theme"
              checked={theme === choice}
              onChange={() => {
                setTheme(choice);
                applyTheme(choice);
              }}
            />
            {texts.me.themes[choice]}
          </label>
        ))}
      </fieldset>
    </Section>
  );
}

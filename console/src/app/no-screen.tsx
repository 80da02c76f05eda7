import { Link } from "@tanstack/react-router";
import { texts } from "../texts/texts.ts";
import { Page } from "../ui/page.tsx";

export function NoScreen() {
  return (
    <Page title={texts.noScreen.title}>
      <p>{texts.noScreen.text}</p>
      <Link to="/">{texts.orgs.title}</Link>
    </Page>
  );
}

import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { texts } from "../texts/texts.ts";
import { ShellPanel } from "../ui/shell-panel.tsx";
import { FindButton } from "./find-button.tsx";
import { NoticeRegion } from "./notice-region.tsx";
import { OrgSwitch } from "./org-switch.tsx";
import { useSession } from "./use-session.ts";

/** What is around every screen. */
export function Shell() {
  const main = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const first = useRef(true);
  useEffect(() => {
    // A screen reader begins to read the new screen, and Tab goes on from there.
    if (!first.current) main.current?.focus({ preventScroll: true });
    first.current = false;
  }, [path]);
  return (
    <>
      <a className="skip" href="#main" onClick={() => main.current?.focus()}>
        {texts.skip}
      </a>
      <header className="top">
        <Link to="/" className="brand">
          {texts.product}
        </Link>
        <OrgSwitch />
        <span className="grow" />
        <FindButton />
        <WhoAmI />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Outlet />
        <ShellPanel />
      </main>
      <NoticeRegion />
    </>
  );
}

function WhoAmI() {
  const me = useSession();
  return (
    <Link to="/me" className="button quiet account">
      <span className="unseen">{texts.me.label}</span>
      <bdi>{me.displayName}</bdi>
      <span className="quiet-text wide">
        <bdi>{me.org.displayName}</bdi>
      </span>
    </Link>
  );
}

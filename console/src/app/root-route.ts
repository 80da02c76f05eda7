import { createRootRouteWithContext } from "@tanstack/react-router";
import type { Session } from "../session/session.ts";
import { Shell } from "./shell.tsx";

export interface RouterContext {
  readonly session: Session;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  // Screens are drawn only for somebody who is signed in.
  beforeLoad: ({ context }) => context.session.token(),
  component: Shell,
});

import { type BrowserSessionDependencies, type BrowserSessions, createBrowserSessions } from "./browser-sessions.ts";
import { type SignInChoices, createSignInChoices } from "./sign-in-choices.ts";

/** What browsers sign in with: their sessions, and the choices that lead to these. */
export function createBrowserSignIn(dependencies: BrowserSessionDependencies): {
  readonly browserSessions: BrowserSessions;
  readonly signInChoices: SignInChoices;
} {
  return { browserSessions: createBrowserSessions(dependencies), signInChoices: createSignInChoices(dependencies) };
}

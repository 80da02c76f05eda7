// The console in a real browser, on a real server, usually with the organisation of examples/acme.yaml.
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { Config } from "../../src/config.ts";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createSignInLink } from "../../src/iam/sign-in/sign-in-links.ts";
import { importInto } from "../cli/support/import-into.ts";
import { type Api, createApi } from "../support/api.ts";
import { startTestServer } from "../support/test-server.ts";
import { openBrowser } from "./chromium.ts";

export interface ConsolePage {
  readonly page: Page;
  /** What the browser has reported: errors, and what the Content-Security-Policy refused. */
  readonly problems: string[];
  /** The URLs of other hosts that were asked for. */
  readonly outside: string[];
  /** Opens a screen by its path, such as `/orgs/acme/members`. */
  readonly open: (path: string) => Promise<void>;
}

export interface ConsolePlace {
  readonly url: string;
  readonly operatorKey: string;
  readonly api: Api;
  /** Opens a window of a browser of its own that is signed in as a member, such as `/orgs/acme/members/wile`. */
  readonly signIn: (memberPath: string, options?: WindowOptions) => Promise<ConsolePage>;
  /** Returns a code with which a member signs in once. */
  readonly codeFor: (memberPath: string) => Promise<string>;
  /** Opens a window of a browser in which nobody is signed in. */
  readonly openWindow: (options?: WindowOptions) => Promise<ConsolePage>;
  readonly importFile: (file: string) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

interface WindowOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
  /** Whether it stays open until the place is closed, for several tests. By default it is closed when the test has finished. */
  readonly staysOpen?: boolean;
}

/** @param isNew whether there is nothing yet, as after the first start. */
export async function openConsolePlace(settings: Partial<Config> = {}, isNew = false): Promise<ConsolePlace> {
  const server = await startTestServer(settings);
  const connection = { connectionString: server.databaseUrl };
  const database = openDatabase({
    connection,
    maxReadConnections: 1,
    maxWriteConnections: 1,
    onConnectionError: () => {},
  });
  const browser = await openBrowser();
  const api = createApi("gRPC", server.url, server.operatorKey);
  const importFile = (file: string): Promise<unknown> => importInto(server, file);
  if (!isNew) await importFile(join(import.meta.dirname, "../../examples/acme.yaml"));
  const openWindow = (options?: WindowOptions): Promise<ConsolePage> => openConsolePage(browser, server.url, options);
  const codeFor = (memberPath: string): Promise<string> => createCodeFor(api, database, memberPath);
  return {
    url: server.url,
    operatorKey: server.operatorKey,
    api,
    importFile,
    codeFor,
    openWindow,
    async signIn(memberPath, options) {
      const window = await openWindow(options);
      const code = await codeFor(memberPath);
      // To a page without scripts: the console is loaded when a test opens a screen.
      await window.page.goto(`${server.url}/sign-in?return_to=/account#${code}`);
      await window.page.getByRole("button", { name: "Sign in" }).click();
      await window.page.waitForURL(`${server.url}/account`);
      return window;
    },
    async close() {
      await browser.close();
      await database.close();
      await server.close();
    },
  };
}

async function createCodeFor(api: Api, database: Database, memberPath: string): Promise<string> {
  const member = await api.members.getMember({ path: memberPath });
  const org = await api.orgs.getOrg({ path: memberPath.split("/members/")[0] ?? "" });
  return createSignInLink(database, { orgId: org.id, memberId: member.id });
}

async function openConsolePage(
  browser: Browser,
  url: string,
  { colorScheme = "light", width = 1_280, staysOpen = false }: WindowOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
  // An open window follows its organisation: it would read again and draw what all tests after this one change.
  if (!staysOpen) onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const [problems, outside]: [string[], string[]] = [[], []];
  page.on("console", (message) => {
    // What the service refuses is shown on the screen, or left out there; the browser logs it in any case.
    const refused = message.text().includes("the server responded with a status of 4");
    if (message.type() === "error" && !refused) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) outside.push(request.url());
  });
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', (event) => console.error('refused', event.violatedDirective))",
  );
  const open = async (path: string): Promise<void> => {
    await page.goto(`${url}/console${path}`);
    // Hidden from screen readers where the screen has opened a dialog before this looks.
    await page.getByRole("heading", { level: 1, includeHidden: true }).waitFor();
  };
  return { page, problems, outside, open };
}

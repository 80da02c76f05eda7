// The console: a client of the service's API in a browser.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Code, ConnectError } from "@connectrpc/connect";
import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ConsoleContext } from "./app/console-context.ts";
import { createNotices } from "./app/notices.ts";
import { createConsoleRouter } from "./app/router.tsx";
import { applyTheme, storedTheme } from "./app/theme.ts";
import { createCallLog } from "./calls/call-log.ts";
import { createTransport } from "./calls/create-transport.ts";
import { createSession } from "./session/session.ts";

/** How often a call is tried again that a server could not take. */
const retries = 2;

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < retries && ConnectError.from(error).code === Code.Unavailable,
      staleTime: 1_000,
    },
  },
});
const session = createSession({
  fetch: (...request) => globalThis.fetch(...request),
  now: () => Date.now(),
  leaveTo(path) {
    queryClient.clear();
    location.assign(path);
  },
  here: () => location.pathname + location.search,
});
const calls = createCallLog();
const transport = createTransport(session, calls);
const notices = createNotices();
const router = createConsoleRouter({ session });
router.subscribe("onBeforeNavigate", ({ pathChanged }) => pathChanged && calls.clear());

// A file is missing if the console was built again after this page was loaded; the new page has other files.
addEventListener("vite:preloadError", () => {
  const [visit] = performance.getEntriesByType("navigation");
  if (visit instanceof PerformanceNavigationTiming && visit.type !== "reload") location.reload();
});

// The browser may have kept the console as it was before somebody signed out, and shows that when they go back.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

applyTheme(storedTheme());
const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element with the id root.");
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <ConsoleContext value={{ session, calls, notices }}>
        <TransportProvider transport={transport}>
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </TransportProvider>
      </ConsoleContext>
    </CSPProvider>
  </StrictMode>,
);

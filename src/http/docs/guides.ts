/** A page of `/docs/` besides the API reference. */
export interface Guide {
  /** The page is at `/docs/<slug>`. */
  readonly slug: string;
  readonly title: string;
  /** The Markdown file, relative to the folder `docs`. */
  readonly file: string;
  /** A script of the page, in `docs/browser`. */
  readonly script?: string;
}

/** In the order of the navigation. */
export const guides: readonly Guide[] = [
  { slug: "start", title: "Start", file: "../README.md" },
  { slug: "command-line", title: "Command line", file: "command-line.md" },
  { slug: "sign-in", title: "Sign-in", file: "sign-in.md" },
  { slug: "invitations", title: "Invitations", file: "invitations.md" },
  { slug: "account", title: "Account", file: "account.md" },
  { slug: "access-requests", title: "Access requests", file: "access-requests.md" },
  { slug: "support-access", title: "Support access", file: "support-access.md" },
  { slug: "scim", title: "SCIM", file: "scim.md" },
  { slug: "operations", title: "Operations", file: "operations.md", script: "operations.js" },
  { slug: "filters", title: "Filters", file: "filters.md" },
  { slug: "paging", title: "Paging", file: "paging.md" },
  { slug: "usage", title: "Usage", file: "usage.md" },
  { slug: "findings", title: "Findings", file: "findings.md" },
  { slug: "changes", title: "Changes", file: "changes.md" },
  { slug: "webhooks", title: "Webhooks", file: "webhooks.md" },
  { slug: "signals", title: "Signals", file: "signals.md" },
  { slug: "errors", title: "Errors", file: "errors.md" },
  { slug: "roles", title: "Roles", file: "roles.md" },
  { slug: "grpc-and-connect", title: "gRPC and Connect", file: "grpc-and-connect.md" },
  { slug: "clients", title: "Clients", file: "clients.md" },
  { slug: "providers", title: "Providers", file: "providers.md" },
  { slug: "running", title: "Running", file: "running.md" },
  { slug: "operating", title: "Operating", file: "operating.md" },
  { slug: "versions", title: "Versions", file: "versions.md" },
];

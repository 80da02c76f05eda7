import type { Generated } from "kysely";

/**
 * The single row of installation-wide values.
 *
 * @public
 */
export interface Installation {
  singleton: Generated<boolean>;
  system_org_id: string;
  operator_id: string;
  /** Authenticates page tokens on every server of the installation. */
  page_token_key: Buffer;
  /** Of the server that has started last; null before one of this version has. */
  issuer: string | null;
  /** The OAuth client of the command line; null before a server of this version has started. It stays when the client is deleted. */
  command_line_client_id: string | null;
}

/**
 * The servers that listen for hints. A row whose time is over says nothing.
 *
 * @public
 */
export interface LogListeners {
  id: string;
  end_time: Date;
}

/** @public */
export interface InstallationTables {
  log_listeners: LogListeners;
  installation: Installation;
}

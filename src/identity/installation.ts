/** The data of this installation, which is the same on all its servers. */
export interface Installation {
  readonly systemOrgId: string;
  /** The member that holds every permission. */
  readonly operatorId: string;
  readonly pageTokenKey: Buffer;
  /** The OAuth client of the command line, which may have been deleted. */
  readonly commandLineClientId: string;
}

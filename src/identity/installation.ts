/** What belongs to this installation as a whole, the same on all its servers. */
export interface Installation {
  readonly systemOrgId: string;
  /** The member that may do everything. */
  readonly operatorId: string;
  readonly pageTokenKey: Buffer;
}

/** Whether somebody may do something on something. */
export interface Asked {
  readonly subject: string;
  readonly permission: string;
  readonly resource: string;
}

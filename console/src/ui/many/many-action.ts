import type { ReactNode } from "react";
import type { AccessPreview } from "../../../../gen/iam/v1alpha/access_preview_pb.ts";
import type { Permissions } from "../../calls/use-permissions.ts";
import type { ButtonKind } from "../button.tsx";

/** What can be done with several rows of a table. */
export interface ManyAction<Row> {
  /** Such as "Suspend". */
  readonly act: string;
  /** What the question is, and what its button says, if not that it is done to so many of them. */
  readonly question?: (count: number) => string;
  readonly submit?: string;
  /** Such as "Suspended". */
  readonly done: string;
  readonly intro?: string;
  /** What is lost when somebody leaves while it goes on, beside what is not done. */
  readonly lost?: string;
  readonly kind?: ButtonKind;
  /** What the service requires. */
  readonly permission: string;
  /** Returns where the person needs it for some rows, if not where the table is. */
  readonly permissionsOf?: (rows: readonly Row[]) => Permissions | undefined;
  /** Whether it can be done to a row; to all of them, if it is left out. */
  readonly fits?: (row: Row) => boolean;
  readonly run: Together<Row> | Each<Row>;
  /** The names of the fields that it asks for, as in the API, and the fields. */
  readonly fields?: readonly string[];
  readonly form?: ReactNode;
}

/** In one call, which does all or nothing. */
interface Together<Row> {
  readonly together: (rows: readonly Row[], form: FormData) => Promise<unknown>;
  /** Asks what the call would do to access, which is then shown first. */
  readonly preview?: (rows: readonly Row[], form: FormData) => Promise<AccessPreview | undefined>;
}

/** In a call for each row. */
interface Each<Row> {
  readonly each: (row: Row, form: FormData) => Promise<unknown>;
}

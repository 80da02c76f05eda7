import { type Kysely, sql } from "kysely";

/**
 * Adds to identity providers which claim is the subject, and whom they let in at a first sign-in, and to memberships who has invited the member
 * into the group. A server of the version before reads none of it: it takes `sub` for the subject, and creates nobody.
 */
export async function addFirstSignIns(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `-- squawk-ignore adding-field-with-default
    alter table identity_providers
      add column subject_claim text not null default '',
      add column creates_members boolean not null default false,
      add column first_sign_in_condition text not null default '',
      add column first_sign_in_group_ids uuid[] not null default '{}',
      add column first_sign_in_author_org_id uuid,
      add column first_sign_in_author_id uuid`,
    `alter table group_members
      add column inviter_org_id uuid,
      add column inviter_id uuid`,
  ];
  for (const statement of statements) await sql.raw(statement).execute(db);
}

-- What the migrations add up to, for those who read. Made by test/database/schema.test.ts; do not edit.

create table api_keys (
  org_id uuid not null,
  member_id uuid not null,
  id uuid not null,
  prefix text not null,
  hash bytea not null,
  expire_time timestamp(3) with time zone,
  last_use_time timestamp(3) with time zone,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint api_keys_pkey PRIMARY KEY (org_id, member_id, id),
  constraint api_keys_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE
);
CREATE INDEX api_keys_id ON api_keys USING btree (id);
CREATE UNIQUE INDEX api_keys_name_key ON api_keys USING btree (org_id, member_id, name);
CREATE UNIQUE INDEX api_keys_prefix_key ON api_keys USING btree (prefix);

create table changes (
  org_id uuid not null,
  revision bigint not null,
  position integer not null,
  actor_id uuid,
  method text not null,
  resource_type text not null,
  resource_id uuid not null,
  resource_path text not null,
  before jsonb,
  after jsonb,
  create_time timestamp(3) with time zone not null default now(),
  constraint changes_pkey PRIMARY KEY (org_id, revision, "position"),
  constraint changes_check CHECK (((before IS NOT NULL) OR (after IS NOT NULL))),
  constraint changes_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);

create table customers (
  id uuid not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  constraint customers_pkey PRIMARY KEY (id),
  constraint customers_check CHECK (((delete_time IS NULL) = (purge_time IS NULL)))
);
CREATE UNIQUE INDEX customers_name_key ON customers USING btree (name) WHERE (delete_time IS NULL);

create table group_members (
  org_id uuid not null,
  group_id uuid not null,
  member_id uuid not null,
  expire_time timestamp(3) with time zone,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint group_members_pkey PRIMARY KEY (org_id, group_id, member_id),
  constraint group_members_org_id_group_id_fkey FOREIGN KEY (org_id, group_id) REFERENCES groups(org_id, id) ON DELETE CASCADE,
  constraint group_members_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id) ON DELETE CASCADE
);
CREATE INDEX group_members_member ON group_members USING btree (org_id, member_id);

create table groups (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint groups_pkey PRIMARY KEY (org_id, id),
  constraint groups_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX groups_id ON groups USING btree (id);
CREATE UNIQUE INDEX groups_name_key ON groups USING btree (org_id, name);

create table installation (
  singleton boolean not null default true,
  system_org_id uuid not null,
  operator_id uuid not null,
  page_token_key bytea not null,
  constraint installation_pkey PRIMARY KEY (singleton),
  constraint installation_singleton_check CHECK (singleton),
  constraint installation_system_org_id_fkey FOREIGN KEY (system_org_id) REFERENCES orgs(id),
  constraint installation_system_org_id_operator_id_fkey FOREIGN KEY (system_org_id, operator_id) REFERENCES members(org_id, id)
);

create table members (
  org_id uuid not null,
  id uuid not null,
  type text not null,
  state text not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  constraint members_pkey PRIMARY KEY (org_id, id),
  constraint members_check CHECK (((delete_time IS NULL) = (purge_time IS NULL))),
  constraint members_state_check CHECK ((state = ANY (ARRAY['INVITED'::text, 'ACTIVE'::text, 'SUSPENDED'::text]))),
  constraint members_type_check CHECK ((type = ANY (ARRAY['USER'::text, 'APPLICATION'::text]))),
  constraint members_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX members_id ON members USING btree (id);
CREATE UNIQUE INDEX members_name_key ON members USING btree (org_id, name) WHERE (delete_time IS NULL);

create table orgs (
  id uuid not null,
  customer_id uuid not null,
  state text not null,
  revision bigint not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  constraint orgs_pkey PRIMARY KEY (id),
  constraint orgs_check CHECK (((delete_time IS NULL) = (purge_time IS NULL))),
  constraint orgs_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text]))),
  constraint orgs_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id)
);
CREATE INDEX orgs_customer ON orgs USING btree (customer_id);
CREATE UNIQUE INDEX orgs_name_key ON orgs USING btree (name) WHERE (delete_time IS NULL);

create table projects (
  org_id uuid not null,
  id uuid not null,
  state text not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  constraint projects_pkey PRIMARY KEY (org_id, id),
  constraint projects_check CHECK (((delete_time IS NULL) = (purge_time IS NULL))),
  constraint projects_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text]))),
  constraint projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX projects_id ON projects USING btree (id);
CREATE UNIQUE INDEX projects_name_key ON projects USING btree (org_id, name) WHERE (delete_time IS NULL);

create table subgroups (
  org_id uuid not null,
  group_id uuid not null,
  subgroup_id uuid not null,
  description text not null,
  changed_revision bigint not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint subgroups_pkey PRIMARY KEY (org_id, group_id, subgroup_id),
  constraint subgroups_check CHECK ((group_id <> subgroup_id)),
  constraint subgroups_org_id_group_id_fkey FOREIGN KEY (org_id, group_id) REFERENCES groups(org_id, id) ON DELETE CASCADE,
  constraint subgroups_org_id_subgroup_id_fkey FOREIGN KEY (org_id, subgroup_id) REFERENCES groups(org_id, id) ON DELETE CASCADE
);
CREATE INDEX subgroups_subgroup ON subgroups USING btree (org_id, subgroup_id);

create table write_requests (
  org_id uuid not null,
  actor_id uuid not null,
  request_id uuid not null,
  fingerprint bytea not null,
  answer bytea not null,
  create_time timestamp(3) with time zone not null default now(),
  constraint write_requests_pkey PRIMARY KEY (org_id, actor_id, request_id),
  constraint write_requests_org_id_actor_id_fkey FOREIGN KEY (org_id, actor_id) REFERENCES members(org_id, id) ON DELETE CASCADE
);
CREATE INDEX write_requests_create_time ON write_requests USING btree (create_time);

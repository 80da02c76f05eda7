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
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  grants_until uuid,
  constraint api_keys_pkey PRIMARY KEY (org_id, member_id, id),
  constraint api_keys_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id)
);
CREATE INDEX api_keys_expire ON api_keys USING btree (expire_time) WHERE (expire_time IS NOT NULL);
CREATE INDEX api_keys_id ON api_keys USING hash (id);
CREATE UNIQUE INDEX api_keys_name_key ON api_keys USING btree (org_id, member_id, name);
CREATE UNIQUE INDEX api_keys_prefix_key ON api_keys USING btree (prefix);

create table changes (
  org_id uuid not null,
  revision uuid not null,
  position integer not null,
  time timestamp with time zone not null,
  format smallint not null,
  actor_org_id uuid,
  actor_id uuid,
  credential_id uuid,
  on_behalf_of text,
  method text not null,
  request_id text,
  remote_address inet,
  user_agent text,
  reason text,
  resource_type text not null,
  resource_id uuid not null,
  resource_path text not null,
  end_time timestamp with time zone,
  before jsonb,
  after jsonb,
  constraint changes_pkey PRIMARY KEY (org_id, revision, "position", "time"),
  constraint changes_check CHECK (((before IS NOT NULL) OR (after IS NOT NULL)))
) partition by RANGE ("time");

create table customers (
  id uuid not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  constraint customers_pkey PRIMARY KEY (id),
  constraint customers_check CHECK (((delete_time IS NULL) = (purge_time IS NULL)))
);
CREATE INDEX customers_by_create_time ON customers USING btree (create_time, id) WHERE (delete_time IS NULL);
CREATE INDEX customers_by_create_time_deleted ON customers USING btree (create_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX customers_by_display_name ON customers USING btree (display_name COLLATE "C", id) WHERE (delete_time IS NULL);
CREATE INDEX customers_by_display_name_deleted ON customers USING btree (display_name COLLATE "C", id) WHERE (delete_time IS NOT NULL);
CREATE INDEX customers_by_name ON customers USING btree (name COLLATE "C") WHERE (delete_time IS NULL);
CREATE INDEX customers_by_name_deleted ON customers USING btree (name COLLATE "C") WHERE (delete_time IS NOT NULL);
CREATE INDEX customers_by_update_time ON customers USING btree (update_time, id) WHERE (delete_time IS NULL);
CREATE INDEX customers_by_update_time_deleted ON customers USING btree (update_time, id) WHERE (delete_time IS NOT NULL);
CREATE UNIQUE INDEX customers_name_key ON customers USING btree (name);
CREATE INDEX customers_purge ON customers USING btree (purge_time) WHERE (purge_time IS NOT NULL);

create table group_members (
  org_id uuid not null,
  group_id uuid not null,
  member_id uuid not null,
  expire_time timestamp(3) with time zone,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint group_members_pkey PRIMARY KEY (org_id, group_id, member_id),
  constraint group_members_org_id_group_id_fkey FOREIGN KEY (org_id, group_id) REFERENCES groups(org_id, id),
  constraint group_members_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id)
);
CREATE INDEX group_members_by_create_time ON group_members USING btree (org_id, group_id, create_time, member_id);
CREATE INDEX group_members_by_expire_time ON group_members USING btree (org_id, group_id, COALESCE(expire_time, 'infinity'::timestamp with time zone), member_id);
CREATE INDEX group_members_by_update_time ON group_members USING btree (org_id, group_id, update_time, member_id);
CREATE INDEX group_members_expire ON group_members USING btree (expire_time) WHERE (expire_time IS NOT NULL);
CREATE INDEX group_members_member ON group_members USING btree (org_id, member_id);

create table groups (
  org_id uuid not null,
  id uuid not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint groups_pkey PRIMARY KEY (org_id, id),
  constraint groups_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX groups_by_create_time ON groups USING btree (org_id, create_time, id);
CREATE INDEX groups_by_display_name ON groups USING btree (org_id, display_name COLLATE "C", id);
CREATE INDEX groups_by_name ON groups USING btree (org_id, name COLLATE "C");
CREATE INDEX groups_by_update_time ON groups USING btree (org_id, update_time, id);
CREATE INDEX groups_id ON groups USING hash (id);
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
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  invitation_expire_time timestamp(3) with time zone,
  constraint members_pkey PRIMARY KEY (org_id, id),
  constraint members_check CHECK (((delete_time IS NULL) = (purge_time IS NULL))),
  constraint members_invitation_check CHECK (((state = 'INVITED'::text) = (invitation_expire_time IS NOT NULL))),
  constraint members_state_check CHECK ((state = ANY (ARRAY['INVITED'::text, 'ACTIVE'::text, 'SUSPENDED'::text]))),
  constraint members_type_check CHECK ((type = ANY (ARRAY['USER'::text, 'APPLICATION'::text]))),
  constraint members_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX members_by_create_time ON members USING btree (org_id, create_time, id) WHERE (delete_time IS NULL);
CREATE INDEX members_by_create_time_deleted ON members USING btree (org_id, create_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX members_by_display_name ON members USING btree (org_id, display_name COLLATE "C", id) WHERE (delete_time IS NULL);
CREATE INDEX members_by_display_name_deleted ON members USING btree (org_id, display_name COLLATE "C", id) WHERE (delete_time IS NOT NULL);
CREATE INDEX members_by_name ON members USING btree (org_id, name COLLATE "C") WHERE (delete_time IS NULL);
CREATE INDEX members_by_name_deleted ON members USING btree (org_id, name COLLATE "C") WHERE (delete_time IS NOT NULL);
CREATE INDEX members_by_update_time ON members USING btree (org_id, update_time, id) WHERE (delete_time IS NULL);
CREATE INDEX members_by_update_time_deleted ON members USING btree (org_id, update_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX members_id ON members USING hash (id);
CREATE INDEX members_invitation ON members USING btree (invitation_expire_time) WHERE ((invitation_expire_time IS NOT NULL) AND (delete_time IS NULL));
CREATE INDEX members_live ON members USING btree (org_id, id) WHERE (delete_time IS NULL);
CREATE UNIQUE INDEX members_name_key ON members USING btree (org_id, name) WHERE (delete_time IS NULL);
CREATE INDEX members_purge ON members USING btree (purge_time) WHERE (purge_time IS NOT NULL);

create table orgs (
  id uuid not null,
  customer_id uuid not null,
  state text not null,
  revision uuid not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  deleted_with_customer boolean not null default false,
  revision_time timestamp with time zone not null,
  constraint orgs_pkey PRIMARY KEY (id),
  constraint orgs_check CHECK (((delete_time IS NULL) = (purge_time IS NULL))),
  constraint orgs_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text]))),
  constraint orgs_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id)
);
CREATE INDEX orgs_by_create_time ON orgs USING btree (create_time, id) WHERE (delete_time IS NULL);
CREATE INDEX orgs_by_create_time_deleted ON orgs USING btree (create_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX orgs_by_display_name ON orgs USING btree (display_name COLLATE "C", id) WHERE (delete_time IS NULL);
CREATE INDEX orgs_by_display_name_deleted ON orgs USING btree (display_name COLLATE "C", id) WHERE (delete_time IS NOT NULL);
CREATE INDEX orgs_by_name ON orgs USING btree (name COLLATE "C") WHERE (delete_time IS NULL);
CREATE INDEX orgs_by_name_deleted ON orgs USING btree (name COLLATE "C") WHERE (delete_time IS NOT NULL);
CREATE INDEX orgs_by_update_time ON orgs USING btree (update_time, id) WHERE (delete_time IS NULL);
CREATE INDEX orgs_by_update_time_deleted ON orgs USING btree (update_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX orgs_customer ON orgs USING btree (customer_id);
CREATE UNIQUE INDEX orgs_name_key ON orgs USING btree (name);
CREATE INDEX orgs_purge ON orgs USING btree (purge_time) WHERE (purge_time IS NOT NULL);

create table projects (
  org_id uuid not null,
  id uuid not null,
  state text not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  delete_time timestamp(3) with time zone,
  purge_time timestamp(3) with time zone,
  constraint projects_pkey PRIMARY KEY (org_id, id),
  constraint projects_check CHECK (((delete_time IS NULL) = (purge_time IS NULL))),
  constraint projects_state_check CHECK ((state = ANY (ARRAY['ACTIVE'::text, 'SUSPENDED'::text]))),
  constraint projects_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX projects_by_create_time ON projects USING btree (org_id, create_time, id) WHERE (delete_time IS NULL);
CREATE INDEX projects_by_create_time_deleted ON projects USING btree (org_id, create_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX projects_by_display_name ON projects USING btree (org_id, display_name COLLATE "C", id) WHERE (delete_time IS NULL);
CREATE INDEX projects_by_display_name_deleted ON projects USING btree (org_id, display_name COLLATE "C", id) WHERE (delete_time IS NOT NULL);
CREATE INDEX projects_by_name ON projects USING btree (org_id, name COLLATE "C") WHERE (delete_time IS NULL);
CREATE INDEX projects_by_name_deleted ON projects USING btree (org_id, name COLLATE "C") WHERE (delete_time IS NOT NULL);
CREATE INDEX projects_by_update_time ON projects USING btree (org_id, update_time, id) WHERE (delete_time IS NULL);
CREATE INDEX projects_by_update_time_deleted ON projects USING btree (org_id, update_time, id) WHERE (delete_time IS NOT NULL);
CREATE INDEX projects_id ON projects USING hash (id);
CREATE INDEX projects_live ON projects USING btree (org_id, id) WHERE (delete_time IS NULL);
CREATE UNIQUE INDEX projects_name_key ON projects USING btree (org_id, name) WHERE (delete_time IS NULL);
CREATE INDEX projects_purge ON projects USING btree (purge_time) WHERE (purge_time IS NOT NULL);

create table resource_counts (
  org_id uuid not null,
  parent_id uuid not null,
  resource_type text not null,
  count bigint not null,
  constraint resource_counts_pkey PRIMARY KEY (org_id, parent_id, resource_type),
  constraint resource_counts_count_check CHECK ((count >= 0)),
  constraint resource_counts_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);

create table resource_labels (
  org_id uuid not null,
  resource_type text not null,
  key text not null,
  value text not null,
  resource_id uuid not null,
  parent_id uuid not null,
  constraint resource_labels_pkey PRIMARY KEY (org_id, resource_type, key, value, parent_id, resource_id)
);
CREATE INDEX resource_labels_key ON resource_labels USING btree (org_id, resource_type, key, parent_id, resource_id);

create table role_bindings (
  org_id uuid not null,
  id uuid not null,
  scope_type text not null,
  customer_id uuid,
  project_id uuid,
  scope_id uuid default 
CASE scope_type
    WHEN 'ORG'::text THEN org_id
    ELSE COALESCE(project_id, customer_id)
END,
  member_id uuid,
  group_id uuid,
  predefined_role text,
  role_id uuid,
  start_time timestamp(3) with time zone,
  expire_time timestamp(3) with time zone,
  condition text not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint role_bindings_pkey PRIMARY KEY (org_id, id),
  constraint role_bindings_check CHECK (((customer_id IS NOT NULL) = (scope_type = 'CUSTOMER'::text))),
  constraint role_bindings_check1 CHECK (((project_id IS NOT NULL) = (scope_type = 'PROJECT'::text))),
  constraint role_bindings_check2 CHECK ((num_nonnulls(member_id, group_id) = 1)),
  constraint role_bindings_check3 CHECK ((num_nonnulls(predefined_role, role_id) = 1)),
  constraint role_bindings_check4 CHECK (((role_id IS NULL) OR (scope_type = ANY (ARRAY['ORG'::text, 'PROJECT'::text])))),
  constraint role_bindings_check5 CHECK ((start_time < expire_time)),
  constraint role_bindings_scope_type_check CHECK ((scope_type = ANY (ARRAY['PLATFORM'::text, 'CUSTOMER'::text, 'ORG'::text, 'PROJECT'::text]))),
  constraint role_bindings_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id),
  constraint role_bindings_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id),
  constraint role_bindings_org_id_group_id_fkey FOREIGN KEY (org_id, group_id) REFERENCES groups(org_id, id),
  constraint role_bindings_org_id_member_id_fkey FOREIGN KEY (org_id, member_id) REFERENCES members(org_id, id),
  constraint role_bindings_org_id_project_id_fkey FOREIGN KEY (org_id, project_id) REFERENCES projects(org_id, id),
  constraint role_bindings_org_id_role_id_fkey FOREIGN KEY (org_id, role_id) REFERENCES roles(org_id, id)
);
CREATE INDEX role_bindings_by_create_time ON role_bindings USING btree (scope_id, create_time, id);
CREATE INDEX role_bindings_by_display_name ON role_bindings USING btree (scope_id, display_name COLLATE "C", id);
CREATE INDEX role_bindings_by_name ON role_bindings USING btree (scope_id, name COLLATE "C");
CREATE INDEX role_bindings_by_update_time ON role_bindings USING btree (scope_id, update_time, id);
CREATE INDEX role_bindings_conditional ON role_bindings USING btree (scope_type, scope_id) WHERE (condition <> ''::text);
CREATE INDEX role_bindings_customer ON role_bindings USING btree (customer_id, id) WHERE (customer_id IS NOT NULL);
CREATE INDEX role_bindings_expire ON role_bindings USING btree (expire_time) WHERE (expire_time IS NOT NULL);
CREATE INDEX role_bindings_group ON role_bindings USING btree (org_id, group_id) WHERE (group_id IS NOT NULL);
CREATE INDEX role_bindings_id ON role_bindings USING hash (id);
CREATE INDEX role_bindings_member ON role_bindings USING btree (org_id, member_id) WHERE (member_id IS NOT NULL);
CREATE UNIQUE INDEX role_bindings_name_key ON role_bindings USING btree (org_id, scope_id, name) WHERE (scope_type = ANY (ARRAY['ORG'::text, 'PROJECT'::text]));
CREATE INDEX role_bindings_owner ON role_bindings USING btree (org_id) WHERE (predefined_role = 'owner'::text);
CREATE INDEX role_bindings_project ON role_bindings USING btree (org_id, project_id, id) WHERE (project_id IS NOT NULL);
CREATE INDEX role_bindings_role ON role_bindings USING btree (org_id, role_id) WHERE (role_id IS NOT NULL);
CREATE INDEX role_bindings_scope ON role_bindings USING btree (scope_type, scope_id, id);
CREATE UNIQUE INDEX role_bindings_shared_name_key ON role_bindings USING btree (scope_id, name) NULLS NOT DISTINCT WHERE (scope_type = ANY (ARRAY['CUSTOMER'::text, 'PLATFORM'::text]));

create table roles (
  org_id uuid not null,
  id uuid not null,
  permissions text[] not null,
  name text not null,
  display_name text not null,
  description text not null,
  labels jsonb not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint roles_pkey PRIMARY KEY (org_id, id),
  constraint roles_org_id_fkey FOREIGN KEY (org_id) REFERENCES orgs(id)
);
CREATE INDEX roles_by_create_time ON roles USING btree (org_id, create_time, id);
CREATE INDEX roles_by_display_name ON roles USING btree (org_id, display_name COLLATE "C", id);
CREATE INDEX roles_by_name ON roles USING btree (org_id, name COLLATE "C");
CREATE INDEX roles_by_update_time ON roles USING btree (org_id, update_time, id);
CREATE INDEX roles_id ON roles USING hash (id);
CREATE UNIQUE INDEX roles_name_key ON roles USING btree (org_id, name);

create table subgroups (
  org_id uuid not null,
  group_id uuid not null,
  subgroup_id uuid not null,
  description text not null,
  changed_revision uuid not null,
  create_time timestamp(3) with time zone not null default now(),
  update_time timestamp(3) with time zone not null default now(),
  constraint subgroups_pkey PRIMARY KEY (org_id, group_id, subgroup_id),
  constraint subgroups_check CHECK ((group_id <> subgroup_id)),
  constraint subgroups_org_id_group_id_fkey FOREIGN KEY (org_id, group_id) REFERENCES groups(org_id, id),
  constraint subgroups_org_id_subgroup_id_fkey FOREIGN KEY (org_id, subgroup_id) REFERENCES groups(org_id, id)
);
CREATE INDEX subgroups_by_create_time ON subgroups USING btree (org_id, group_id, create_time, subgroup_id);
CREATE INDEX subgroups_by_update_time ON subgroups USING btree (org_id, group_id, update_time, subgroup_id);
CREATE INDEX subgroups_subgroup ON subgroups USING btree (org_id, subgroup_id);

create table write_requests (
  org_id uuid not null,
  actor_id uuid not null,
  request_id uuid not null,
  fingerprint bytea not null,
  answer bytea not null,
  create_time timestamp(3) with time zone not null default now(),
  constraint write_requests_pkey PRIMARY KEY (org_id, actor_id, request_id),
  constraint write_requests_org_id_actor_id_fkey FOREIGN KEY (org_id, actor_id) REFERENCES members(org_id, id)
);
CREATE INDEX write_requests_create_time ON write_requests USING btree (create_time);

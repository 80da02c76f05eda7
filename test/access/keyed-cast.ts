// An org with a member whose keys others make: what tests of limited keys begin with.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect } from "vitest";
import type { ApiKey } from "../../gen/iam/v1alpha/api_key_pb.ts";
import type { Project } from "../../gen/iam/v1alpha/project_pb.ts";
import { createAccessClient } from "../support/access-place.ts";
import { createApi, uniqueName } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import type { SharedServer } from "../support/shared-server.ts";
import { type CastMember, type OrgCast, createOrgCast } from "./org-cast.ts";

export const [owner, admin, viewer, keysAdmin] = [
  "/roles/owner",
  "/roles/admin",
  "/roles/viewer",
  "/roles/api-keys-admin",
] as const;

/** What alice is granted later, in one way or another. */
export const wanted = "iam.projects.create";

export const inHours = (hours: number) => timestampFromDate(new Date(Date.now() + hours * 3_600_000));

/** A member who uses a key, and the key. */
export interface Keyed extends CastMember {
  readonly key: ApiKey;
}

export interface KeyedCast {
  readonly cast: OrgCast;
  /** The path of the org. */
  readonly org: string;
  /** The api-keys-admin. */
  readonly mallory: CastMember;
  /** Has a key that the operator made. */
  readonly alice: CastMember;
  /** Makes a key of a member as somebody. */
  makeKey(maker: Pick<CastMember, "api">, path: string, fields?: object): Promise<Keyed>;
  createProject(caller: CastMember): Promise<Project>;
}

export async function createKeyedCast(server: SharedServer): Promise<KeyedCast> {
  const cast = await createOrgCast("gRPC", server);
  const org = cast.org.path;
  const { url } = server;
  return {
    cast,
    org,
    mallory: await cast.member("mallory", keysAdmin),
    alice: await cast.member("alice"),

    async makeKey({ api }, path, fields = {}) {
      const key = await api.apiKeys.createApiKey({ parentPath: path, apiKey: { name: uniqueName("key"), ...fields } });
      const access = createAccessClient("gRPC", url, key.secret);
      return { path, key, api: createApi("gRPC", url, key.secret), access };
    },

    createProject: ({ api }) => api.projects.createProject({ parentPath: org, project: { name: uniqueName("web") } }),
  };
}

export const confirm = ({ api }: Pick<CastMember, "api">, { path }: ApiKey, fields: object = {}) =>
  api.apiKeys.confirmApiKey({ path, ...fields });

export const expectLacks = async (call: Promise<unknown>): Promise<void> => {
  const failure = await failureOf(call);
  expect(failure).toMatchObject({ code: "PermissionDenied", reason: "PERMISSION_DENIED" });
  expect(failure.metadata["limited"]).toBe("true");
  expect(failure.message).toContain("its API key is limited");
};

export const expectExceeds = async (call: Promise<unknown>): Promise<void> => {
  expect(await failureOf(call)).toMatchObject({ code: "PermissionDenied", reason: "GRANT_EXCEEDS_OWN" });
};

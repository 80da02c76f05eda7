// A change of a resource must not affect another one that gets its name while the call runs.
import { beforeAll, expect, test } from "vitest";
import { type SharedServer, sharedServer } from "../support/shared-server.ts";
import { createOrgCast } from "./org-cast.ts";

let server: SharedServer;
beforeAll(async () => {
  server = await sharedServer();
});

const rounds = 30;

test("a call changes the project on which the caller was authorised, even if another one gets its name", async () => {
  const { api, org, ...cast } = await createOrgCast("gRPC", server);
  const own = await api.projects.createProject({ parentPath: org.path, project: { name: "web" } });
  const other = await api.projects.createProject({ parentPath: org.path, project: { name: "other" } });
  const alice = await cast.member("alice");
  const byId = ({ id }: { readonly id: string }) => `${org.path}/projects/@${id}`;
  await cast.grant(byId(own), alice.path, "/roles/editor");

  const rename = (project: { readonly id: string }, name: string) =>
    api.projects.updateProject({ path: byId(project), project: { name } });
  const swap = async (): Promise<void> => {
    await rename(own, "spare");
    await rename(other, "web");
    await rename(other, "other");
    await rename(own, "web");
  };
  // The updates and the renames wait for the same lock.
  const update = (number: number) =>
    alice.api.projects.updateProject({
      path: `${org.path}/projects/web`,
      project: { displayName: `by alice ${number}` },
    });
  let done = 0;
  for (let round = 0; round < rounds; round++) {
    const updates = Array.from({ length: 6 }, (_, number) =>
      update(number).then(
        ({ id }) => {
          done++;
          expect(id).toBe(own.id);
        },
        (error: unknown) => expect(String(error)).toMatch(/permission_denied/),
      ),
    );
    await Promise.all([swap(), ...updates]);
  }
  expect(done).toBeGreaterThan(rounds);
  expect((await api.projects.getProject({ path: byId(other) })).displayName).toBe("other");
});

test("a missing resource is named in the error as in the request", async () => {
  const { org, ...cast } = await createOrgCast("gRPC", server);
  const alice = await cast.member("alice", "/roles/viewer");
  const missing = `${org.path}/members/nobody`;
  await expect(alice.api.members.getMember({ path: missing })).rejects.toThrow(missing);
});

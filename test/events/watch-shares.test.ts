// Tests what customers share: the places for streams of a server, and its memory for the orgs that are watched.
import { expect, onTestFinished, test } from "vitest";
import { type Company, openCompany } from "../access/callers.ts";
import { createApi } from "../support/api.ts";
import { failureOf } from "../support/failure.ts";
import { startTestServer } from "../support/test-server.ts";
import { type Watch, isSynced, watchLog } from "../support/watch-log.ts";

test("no customer takes all places for streams of a server", async () => {
  const server = await startTestServer({ streamsPerCaller: 1 });
  onTestFinished(() => server.close());
  const open: Watch[] = [];
  onTestFinished(() => open.forEach((watch) => watch.close()));
  /** Opens a stream of a new owner of an org. */
  const join = async (company: Company, name: string): Promise<Watch> => {
    const { key } = await company.joinAs("owner", name);
    const watch = watchLog(createApi("gRPC", server.url, key), { parentPath: company.org.path });
    open.push(watch);
    return watch;
  };
  const fill = async (company: Company, count: number): Promise<void> => {
    for (let index = 0; index < count; index++) await (await join(company, `m${index}`)).until(isSynced);
  };
  const refusedOf = async (company: Company) => failureOf((await join(company, "refused")).ended);

  const [first, other] = [await openCompany("gRPC", server), await openCompany("gRPC", server)];
  const { customerPath } = first.org;
  const [second, third] = [
    await openCompany("gRPC", server, customerPath),
    await openCompany("gRPC", server, customerPath),
  ];
  await fill(first, 5);
  expect(await refusedOf(first)).toMatchObject({ reason: "RATE_LIMITED", metadata: { limit: "org-streams" } });
  await fill(second, 5);
  expect(await refusedOf(third)).toMatchObject({
    code: "ResourceExhausted",
    reason: "RATE_LIMITED",
    metadata: { limit: "customer-streams" },
  });
  await fill(other, 5);
  // Of the last places, each customer gets as many as one caller may have.
  const fourth = await openCompany("gRPC", server, other.org.customerPath);
  expect(await refusedOf(fourth)).toMatchObject({ metadata: { limit: "customer-streams" } });
  await fill(await openCompany("gRPC", server), 1);
});

test("the orgs that are watched take a part of the memory for access, and one of them in any case", async () => {
  const server = await startTestServer({ accessMemoryBytes: 1 });
  onTestFinished(() => server.close());
  const [one, other] = [await openCompany("gRPC", server), await openCompany("gRPC", server)];
  const keys = [(await one.joinAs("owner")).key, (await other.joinAs("owner")).key];
  const [api, otherApi] = keys.map((key) => createApi("gRPC", server.url, key)) as [
    ReturnType<typeof createApi>,
    ReturnType<typeof createApi>,
  ];
  const watch = watchLog(api, { parentPath: one.org.path });
  await watch.until(isSynced);
  const second = watchLog(api, { parentPath: one.org.path });
  await second.until(isSynced);
  const openOther = (): Watch => watchLog(otherApi, { parentPath: other.org.path });
  expect(await failureOf(openOther().ended)).toMatchObject({
    code: "ResourceExhausted",
    reason: "RATE_LIMITED",
    metadata: { limit: "watched-memory" },
  });
  for (const each of [watch, second]) each.close();
  // The server learns later that they have gone.
  await expect
    .poll(async () => {
      const next = openOther();
      const isOpen = await next.until(isSynced).then(
        () => true,
        () => false,
      );
      next.close();
      return isOpen;
    })
    .toBe(true);
});
